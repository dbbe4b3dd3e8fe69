import type { RiskPatch } from '../api/openapi.ts';
import type { FieldOf } from '../components/form-values.ts';
import { daysFromToday, today } from '../format.ts';

/** What each change of a risk's status asks for. */
export const transitionForms: Record<
  'accepted' | 'closed' | 'open',
  () => { title: string; fields: FieldOf<RiskPatch>[] }
> = {
  accepted: () => ({
    title: 'Accept',
    fields: [
      { name: 'acceptance_reason', label: 'Reason', kind: 'text', required: true },
      {
        name: 'accepted_until',
        label: 'Until',
        kind: 'day',
        required: true,
        min: today(),
        max: daysFromToday(365),
        hint: 'Up to 365 days. Reopens automatically.',
      },
      { name: 'accepted_by_user_id', label: 'Accepted by', kind: 'person' },
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
