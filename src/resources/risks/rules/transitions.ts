import { daysLater } from '../../../core/clock.ts';
import { type FieldError, fieldError } from '../../../core/errors.ts';
import type { Risk } from '../schema.ts';

type Status = Risk['status'];

/** The statuses that a risk can change to, by its current status. Only the materialize action sets `materialized`. */
export const riskTransitions: Record<Status, readonly Status[]> = {
  open: ['mitigating', 'monitoring', 'accepted', 'materialized', 'closed'],
  mitigating: ['open', 'monitoring', 'accepted', 'materialized', 'closed'],
  monitoring: ['open', 'mitigating', 'accepted', 'materialized', 'closed'],
  accepted: ['open', 'mitigating', 'materialized', 'closed'],
  materialized: ['open', 'closed'],
  closed: ['open'],
};

/** Clears the fields that belong to the status that a patch leaves. */
export function clearStaleRiskFields(current: Risk, next: Risk): Risk {
  if (current.status === next.status) return next;
  const cleared = { ...next };
  for (const field of fieldsOfStatus[current.status] ?? []) {
    // A value that the patch sets stays, so that `riskStateErrors` rejects it.
    if (next[field] === current[field]) cleared[field] = null;
  }
  return cleared;
}

const acceptanceFields = ['accepted_until', 'acceptance_reason', 'accepted_by_user_id'] as const;

const fieldsOfStatus: { [S in Status]?: readonly ((typeof acceptanceFields)[number] | 'closure_reason')[] } =
  {
    accepted: acceptanceFields,
    closed: ['closure_reason'],
  };

/** Validates the fields that a status requires or excludes. `maxDays`: the longest acceptance. */
export function riskStateErrors(
  current: Risk,
  next: Risk,
  reason: string | null | undefined,
  today: string,
  maxDays: number | null,
): FieldError[] {
  const errors: FieldError[] = [];
  const require = (field: keyof Risk, detail: string) => {
    if (next[field] === null) errors.push(fieldError(field, 'required', detail));
  };
  if (next.status === 'accepted') {
    require('acceptance_reason', 'Set `acceptance_reason` to accept a risk.');
    require('accepted_until', 'Set `accepted_until` to accept a risk.');
    const isNew = current.status !== 'accepted' || current.accepted_until !== next.accepted_until;
    if (isNew && next.accepted_until !== null)
      errors.push(...acceptanceErrors(next.accepted_until, today, maxDays));
  } else {
    const field = acceptanceFields.find((field) => next[field] !== null);
    const detail = `\`${field}\` is allowed only with the status \`accepted\`.`;
    if (field) errors.push(fieldError(field, 'not_accepted', detail));
  }
  if (next.status === 'closed') require('closure_reason', 'Set `closure_reason` to close a risk.');
  else if (next.closure_reason !== null) {
    const detail = '`closure_reason` is allowed only with the status `closed`.';
    errors.push(fieldError('closure_reason', 'not_closed', detail));
  }
  if (current.status === 'closed' && next.status === 'open' && !reason) {
    errors.push(fieldError('reason', 'required', 'Set `reason` to reopen a closed risk.'));
  }
  return errors;
}

function acceptanceErrors(until: string, today: string, maxDays: number | null): FieldError[] {
  if (until < today) {
    const detail = '`accepted_until` is in the past. Use today or a later day.';
    return [fieldError('accepted_until', 'in_the_past', detail)];
  }
  const lastDay = maxDays === null ? until : daysLater(today, maxDays);
  if (until <= lastDay) return [];
  const detail = `A risk can be accepted for at most ${maxDays} days. Use ${lastDay} or an earlier day.`;
  return [fieldError('accepted_until', 'too_far', detail)];
}
