import { daysLater } from '../../core/clock.ts';
import { type FieldError, fieldError, Problem } from '../../core/errors.ts';
import type { Risk } from './schema.ts';

type Status = Risk['status'];

/** Where a risk may go from each state. `materialized` is reached only by its own action. */
export const riskTransitions: Record<Status, readonly Status[]> = {
  open: ['mitigating', 'monitoring', 'accepted', 'materialized', 'closed'],
  mitigating: ['open', 'monitoring', 'accepted', 'materialized', 'closed'],
  monitoring: ['open', 'mitigating', 'accepted', 'materialized', 'closed'],
  accepted: ['open', 'mitigating', 'materialized', 'closed'],
  materialized: ['open', 'closed'],
  closed: ['open'],
};

/** How long an acceptance may last. */
export const acceptanceDays = 365;

/** Refuses a move that is not allowed, saying which are. */
export function assertRiskTransition(key: string, from: Status, to: Status): void {
  const allowed = riskTransitions[from];
  if (allowed.includes(to)) return;
  throw new Problem(
    'invalid_transition',
    `${key} cannot go from ${from} to ${to}, only to ${allowed.join(', ')}.`,
    {
      extra: { from, to, allowed },
    },
  );
}

/** A patched risk on its way to its state: what belongs to the state it leaves is taken away. */
export function clearStaleRiskFields(current: Risk, next: Risk): Risk {
  const settled = { ...next };
  const leave = (
    fields: readonly ('accepted_until' | 'acceptance_reason' | 'accepted_by_user_id' | 'closure_reason')[],
  ) => {
    // What is said anew is not taken away but refused, where it does not belong.
    for (const field of fields) if (next[field] === current[field]) settled[field] = null;
  };
  if (current.status === 'accepted' && next.status !== 'accepted') {
    leave(['accepted_until', 'acceptance_reason', 'accepted_by_user_id']);
  }
  if (current.status === 'closed' && next.status !== 'closed') leave(['closure_reason']);
  return settled;
}

/** What a risk needs to be in its state. */
export function riskStateErrors(
  current: Risk,
  next: Risk,
  reason: string | null | undefined,
  today: string,
): FieldError[] {
  const errors: FieldError[] = [];
  const require = (field: keyof Risk, detail: string) => {
    if (next[field] === null) errors.push(fieldError(field, 'required', detail));
  };
  if (next.status === 'accepted') {
    require('acceptance_reason', 'To accept a risk, say why: `acceptance_reason`.');
    require('accepted_until', 'To accept a risk, say until when: `accepted_until`.');
    const isNew = current.status !== 'accepted' || current.accepted_until !== next.accepted_until;
    if (isNew && next.accepted_until !== null) errors.push(...acceptanceErrors(next.accepted_until, today));
  } else if (next.accepted_until ?? next.acceptance_reason ?? next.accepted_by_user_id) {
    const field = next.accepted_until
      ? 'accepted_until'
      : next.acceptance_reason
        ? 'acceptance_reason'
        : 'accepted_by_user_id';
    errors.push(fieldError(field, 'not_accepted', `\`${field}\` goes with the status \`accepted\`.`));
  }
  if (next.status === 'closed') require('closure_reason', 'To close a risk, say why: `closure_reason`.');
  else if (next.closure_reason !== null) {
    errors.push(
      fieldError('closure_reason', 'not_closed', '`closure_reason` goes with the status `closed`.'),
    );
  }
  if (current.status === 'closed' && next.status === 'open' && !reason) {
    errors.push(fieldError('reason', 'required', 'To reopen a closed risk, say why: `reason`.'));
  }
  return errors;
}

function acceptanceErrors(until: string, today: string): FieldError[] {
  const last = daysLater(today, acceptanceDays);
  if (until < today) return [fieldError('accepted_until', 'in_the_past', '`accepted_until` has passed.')];
  if (until <= last) return [];
  const detail = `A risk can be accepted for ${acceptanceDays} days at most: until ${last}.`;
  return [fieldError('accepted_until', 'too_far', detail)];
}
