import type { Kysely } from 'kysely';
import { daysLater } from '../../core/clock.ts';
import { invalidParameter } from '../../core/errors.ts';
import { joinWords } from '../../core/text.ts';
import type { Tables } from '../../database/tables.ts';
import { findRows, type Target, toGroup, toPerson } from '../../database/writes/references.ts';
import { resolveProjects } from '../projects/queries.ts';

type ItemFilters = {
  project?: string[];
  owner_user_id?: string[];
  owner_group_id?: string[];
  assignee_user_id?: string[];
  unowned?: boolean;
  unassigned?: boolean;
  due_before?: string;
  due_after?: string;
  review_before?: string;
  review_after?: string;
};

/**
 * Replaces keys of projects by ids. Rejects filters that no row can match, and people and groups that do not exist, because
 * an empty list would mislead.
 */
export async function resolveFilters<F extends object>(db: Kysely<Tables>, filters: F): Promise<F> {
  const given: ItemFilters = filters;
  rejectContradictions(given);
  await rejectUnknown(db, toPerson, 'owner_user_id', given.owner_user_id);
  await rejectUnknown(db, toPerson, 'assignee_user_id', given.assignee_user_id);
  await rejectUnknown(db, toGroup, 'owner_group_id', given.owner_group_id);
  const { project } = given;
  return project ? { ...filters, project: await resolveProjects(db, project) } : filters;
}

function rejectContradictions({ unowned, unassigned, ...given }: ItemFilters): void {
  const reject = (name: string, other: string) => {
    throw invalidParameter(
      name,
      `\`${name}\` and \`${other}\` exclude each other, so nothing can match. Change or remove one of them.`,
    );
  };
  if (unowned && given.owner_user_id) reject('unowned', 'owner_user_id');
  if (unowned && given.owner_group_id) reject('unowned', 'owner_group_id');
  if (unassigned && given.assignee_user_id) reject('unassigned', 'assignee_user_id');
  for (const day of ['due', 'review'] as const) {
    const { [`${day}_before` as const]: before, [`${day}_after` as const]: after } = given;
    // Both days are exclusive.
    if (before && after && before <= daysLater(after, 1)) reject(`${day}_before`, `${day}_after`);
  }
}

async function rejectUnknown(
  db: Kysely<Tables>,
  target: Target,
  name: string,
  ids: readonly string[] = [],
): Promise<void> {
  const known = await findRows(db, target, { field: target.id }, ids);
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length > 0) throw invalidParameter(name, `There is no ${target.what} ${joinWords(unknown)}.`);
}
