import { daysLater } from '../clock.ts';
import { type Fault, fieldFault, Problem } from '../errors.ts';
import type { Risk } from './schema.ts';

type Status = Risk['status'];

/** Where a risk may go from each state. `materialized` is reached only by its own action. */
export const riskMoves: Record<Status, readonly Status[]> = {
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
export function refuseRiskMove(key: string, from: Status, to: Status): void {
  const allowed = riskMoves[from];
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
export function settledRisk(current: Risk, next: Risk): Risk {
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
export function riskStateFaults(
  current: Risk,
  next: Risk,
  reason: string | null | undefined,
  today: string,
): Fault[] {
  const faults: Fault[] = [];
  const require = (field: keyof Risk, detail: string) => {
    if (next[field] === null) faults.push(fieldFault(field, 'required', detail));
  };
  if (next.status === 'accepted') {
    require('acceptance_reason', 'To accept a risk, say why: `acceptance_reason`.');
    require('accepted_until', 'To accept a risk, say until when: `accepted_until`.');
    const isNew = current.status !== 'accepted' || current.accepted_until !== next.accepted_until;
    if (isNew && next.accepted_until !== null) faults.push(...acceptanceFaults(next.accepted_until, today));
  } else if (next.accepted_until ?? next.acceptance_reason ?? next.accepted_by_user_id) {
    const field = next.accepted_until
      ? 'accepted_until'
      : next.acceptance_reason
        ? 'acceptance_reason'
        : 'accepted_by_user_id';
    faults.push(fieldFault(field, 'not_accepted', `\`${field}\` goes with the status \`accepted\`.`));
  }
  if (next.status === 'closed') require('closure_reason', 'To close a risk, say why: `closure_reason`.');
  else if (next.closure_reason !== null) {
    faults.push(
      fieldFault('closure_reason', 'not_closed', '`closure_reason` goes with the status `closed`.'),
    );
  }
  if (current.status === 'closed' && next.status === 'open' && !reason) {
    faults.push(fieldFault('reason', 'required', 'To reopen a closed risk, say why: `reason`.'));
  }
  return faults;
}

function acceptanceFaults(until: string, today: string): Fault[] {
  const last = daysLater(today, acceptanceDays);
  if (until < today) return [fieldFault('accepted_until', 'in_the_past', '`accepted_until` has passed.')];
  if (until <= last) return [];
  const detail = `A risk can be accepted for ${acceptanceDays} days at most: until ${last}.`;
  return [fieldFault('accepted_until', 'too_far', detail)];
}
