import type { Moment } from '../core/clock.ts';
import { type FieldError, fieldError, Problem } from '../core/errors.ts';

/** Rejects a status change that the transition table does not allow; the problem lists the allowed statuses. */
export function assertTransition<Status extends string>(
  transitions: Record<Status, readonly Status[]>,
  { key, status: from }: { key: string; status: Status },
  to: Status,
): void {
  const allowed = transitions[from];
  if (allowed.includes(to)) return;
  const quoted = allowed.map((status) => `\`${status}\``).join(', ');
  const detail = `${key} cannot change from \`${from}\` to \`${to}\`. Allowed: ${quoted}.`;
  throw new Problem('invalid_transition', detail, { extra: { from, to, allowed } });
}

type Owned = {
  owner_user_id?: string | null;
  owner_group_id?: string | null;
  raised_on?: string | null;
  due_on?: string | null;
};

/** Validates the owner and the dates of a risk or an issue. */
export function ownerAndDateErrors(
  { owner_user_id, owner_group_id, raised_on, due_on }: Owned,
  { today }: Moment,
): FieldError[] {
  const errors: FieldError[] = [];
  if (owner_user_id && owner_group_id) {
    const detail = 'Set `owner_user_id` or `owner_group_id`, not both.';
    errors.push(fieldError('owner_group_id', 'two_owners', detail));
  }
  if (raised_on && raised_on > today) {
    const detail = '`raised_on` is in the future. Use today or an earlier day.';
    errors.push(fieldError('raised_on', 'in_the_future', detail));
  }
  if (due_on && due_on < (raised_on ?? today)) {
    const detail = raised_on
      ? '`due_on` is before `raised_on`.'
      : '`due_on` is before today, which is the default of `raised_on`.';
    errors.push(fieldError('due_on', 'date_order', detail));
  }
  return errors;
}

/** Validates that a project or a task does not end before it starts. */
export const periodErrors = ({
  start_on,
  due_on,
}: {
  start_on?: string | null;
  due_on?: string | null;
}): FieldError[] =>
  start_on && due_on && due_on < start_on
    ? [fieldError('due_on', 'date_order', '`due_on` is before `start_on`.')]
    : [];
