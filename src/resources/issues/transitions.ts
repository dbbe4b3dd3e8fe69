import { type FieldError, fieldError, Problem } from '../../core/errors.ts';
import type { Issue } from './schema.ts';

type Status = Issue['status'];

/** Where an issue may go from each state. */
export const issueTransitions: Record<Status, readonly Status[]> = {
  open: ['in_progress', 'blocked', 'resolved'],
  in_progress: ['open', 'blocked', 'resolved'],
  blocked: ['open', 'in_progress', 'resolved'],
  resolved: ['closed', 'in_progress'],
  closed: ['open'],
};

/** Refuses a move that is not allowed, saying which are. */
export function assertIssueTransition(key: string, from: Status, to: Status): void {
  const allowed = issueTransitions[from];
  if (allowed.includes(to)) return;
  throw new Problem(
    'invalid_transition',
    `${key} cannot go from ${from} to ${to}, only to ${allowed.join(', ')}.`,
    {
      extra: { from, to, allowed },
    },
  );
}

/** A patched issue on its way to its state: what belongs to the state it leaves is taken away. */
export function clearStaleIssueFields(current: Issue, next: Issue): Issue {
  return {
    ...next,
    ...(!isDone(next.status) && isDone(current.status) && { resolution: null }),
    ...(next.status !== 'blocked' && current.status === 'blocked' && { blocked_reason: null }),
  };
}

/** What an issue needs to be in its state. */
export function issueStateErrors(
  current: Issue,
  next: Issue,
  reason: string | null | undefined,
): FieldError[] {
  const errors: FieldError[] = [];
  if (isDone(next.status) && next.resolution === null) {
    errors.push(fieldError('resolution', 'required', 'To resolve an issue, say how: `resolution`.'));
  }
  if (!isDone(next.status) && next.resolution !== null) {
    const detail = '`resolution` goes with the status `resolved`.';
    errors.push(fieldError('resolution', 'not_resolved', detail));
  }
  if (current.status === 'closed' && next.status === 'open' && !reason) {
    errors.push(fieldError('reason', 'required', 'To reopen a closed issue, say why: `reason`.'));
  }
  return errors;
}

const isDone = (status: Status) => status === 'resolved' || status === 'closed';
