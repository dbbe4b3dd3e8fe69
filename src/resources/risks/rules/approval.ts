import { type FieldError, fieldError } from '../../../core/errors.ts';
import type { Change } from '../../../store/writes/change.ts';
import type { LockedProject } from '../../projects/lock.ts';
import type { Risk } from '../schema.ts';
import { scoreOf } from './scoring.ts';

const field = 'accepted_by_user_id';

/** Whether a change accepts a risk, or accepts it again until another day. */
const isAccepting = (current: Risk, next: Risk) =>
  next.status === 'accepted' &&
  (current.status !== 'accepted' || current.accepted_until !== next.accepted_until);

/**
 * Who accepts a risk is the person who has signed in. A key of a program names who accepted it. An import reports what was
 * decided elsewhere, so nobody is assumed.
 */
export function withApprover(current: Risk, next: Risk, { user_id, isImport }: Change): Risk {
  if (user_id === null || isImport || !isAccepting(current, next)) return next;
  // A value that the patch sets stays, so that `approvalErrors` rejects it.
  return next[field] === current[field] ? { ...next, [field]: user_id } : next;
}

/** Above the appetite of a project that says so, somebody else than the owner must accept a risk. */
export function approvalErrors(
  current: Risk,
  next: Risk,
  { key, appetite, acceptance }: LockedProject,
  { user_id, isImport }: Change,
): FieldError[] {
  if (next.status !== 'accepted') return [];
  const approver = next[field];
  if (user_id !== null && !isImport && approver !== current[field] && approver !== user_id) {
    const detail = 'You accept a risk in your own name. Leave this out, or let the other person sign in.';
    return [fieldError(field, 'not_you', detail)];
  }
  const score = scoreOf(next.probability, next.impact);
  const isAbove = next.kind === 'threat' && score !== null && score > appetite;
  if (acceptance === 'any' || !isAbove || !isAccepting(current, next)) return [];
  const above = `The score ${score} is above the appetite ${appetite} of ${key}, where the owner cannot accept a risk`;
  if (approver === null)
    return isImport ? [] : [fieldError(field, 'required', `${above}. Say who accepts it: set \`${field}\`.`)];
  if (approver !== next.owner_user_id) return [];
  return [fieldError(field, 'is_owner', `${above}. Ask somebody else to accept it.`)];
}
