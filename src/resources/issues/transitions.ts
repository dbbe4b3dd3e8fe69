import { type FieldError, fieldError } from '../../core/errors.ts';
import type { Issue } from './schema.ts';

type Status = Issue['status'];

/** The statuses that an issue can change to, by its current status. */
export const issueTransitions: Record<Status, readonly Status[]> = {
  open: ['in_progress', 'blocked', 'resolved'],
  in_progress: ['open', 'blocked', 'resolved'],
  blocked: ['open', 'in_progress', 'resolved'],
  resolved: ['closed', 'in_progress'],
  closed: ['open'],
};

/** Clears the fields that belong to the status that a patch leaves. */
export function clearStaleIssueFields(current: Issue, next: Issue): Issue {
  return {
    ...next,
    ...(!isDone(next.status) && isDone(current.status) && { resolution: null, resolution_note: null }),
    ...(next.status !== 'blocked' && current.status === 'blocked' && { blocked_reason: null }),
  };
}

/** Validates the fields that a status requires or excludes. */
export function issueStateErrors(
  current: Issue,
  next: Issue,
  reason: string | null | undefined,
): FieldError[] {
  const errors: FieldError[] = [];
  if (isDone(next.status) && next.resolution === null) {
    errors.push(fieldError('resolution', 'required', 'Set `resolution` to resolve an issue.'));
  }
  if (!isDone(next.status) && next.resolution !== null) {
    const detail = '`resolution` is allowed only with the status `resolved` or `closed`.';
    errors.push(fieldError('resolution', 'not_resolved', detail));
  }
  if (current.status === 'closed' && next.status === 'open' && !reason) {
    errors.push(fieldError('reason', 'required', 'Set `reason` to reopen a closed issue.'));
  }
  return errors;
}

const isDone = (status: Status) => status === 'resolved' || status === 'closed';
