import type { RiskPatch } from '../api/openapi.ts';
import type { FieldOf } from '../components/form-values.ts';
import { daysFromToday, today } from '../format.ts';

type Approver = {
  /** A person accepts a risk in their own name; a key of a program says who accepted it. */
  isPerson?: boolean;
};

/** What each change of a risk's status asks for. */
export const transitionForms: Record<
  'accepted' | 'closed' | 'open',
  (approver?: Approver) => { title: string; fields: FieldOf<RiskPatch>[] }
> = {
  accepted: ({ isPerson = false } = {}) => ({
    title: 'Accept',
    fields: [
      { name: 'acceptance_reason', label: 'Reason', kind: 'text', required: true },
      {
        name: 'accepted_until',
        label: 'Until',
        kind: 'day',
        required: true,
        missing: 'Choose an end date.',
        min: today(),
        max: daysFromToday(365),
        hint: 'Up to 365 days. Reopens automatically.',
      },
      ...(isPerson ? [] : [{ name: 'accepted_by_user_id', label: 'Accepted by', kind: 'person' } as const]),
    ],
  }),
  closed: () => ({
    title: 'Close',
    fields: [
      { name: 'closure_reason', label: 'Reason', kind: 'text', required: true },
      { name: 'lessons', label: 'Lessons learned', kind: 'text' },
    ],
  }),
  open: () => ({
    title: 'Reopen',
    fields: [{ name: 'reason', label: 'Reason', kind: 'text', required: true }],
  }),
};
