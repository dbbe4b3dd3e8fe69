import { sql } from 'kysely';
import { invalidParameter } from '../../core/errors.ts';

/** Whether the person in `column` belongs to the group, or, transitively, to a group below it. */
export const isMember = (column: string, group_id: string, transitive: boolean) =>
  sql<boolean>`${sql.ref(column)} in (
    select user_id from memberships where group_id in (${transitive ? groupsAndBelow([group_id]) : sql`${group_id}`}))`;

/** Whether one of the groups owns the row, or, transitively, a group below them or a member of any of these does. */
export const isOwnedBy = (table: string, group_ids: readonly string[], transitive: boolean) => {
  const groupColumn = sql.ref(`${table}.owner_group_id`);
  if (!transitive) return sql<boolean>`${groupColumn} in (${sql.join(group_ids)})`;
  return sql<boolean>`(${groupColumn} in (${groupsAndBelow(group_ids)})
    or ${sql.ref(`${table}.owner_user_id`)} in (
      select user_id from memberships where group_id in (${groupsAndBelow(group_ids)})))`;
};

/** Refuses `transitive` where there is no group that it could be about. */
export function rejectLoneTransitive(filters: { transitive?: boolean }, about: string): void {
  if (filters.transitive === undefined || about in filters) return;
  throw invalidParameter('transitive', `\`transitive\` says more of \`${about}\`: give that, too.`);
}

/** The ids of groups and of all groups below them. A `union` ends even if there were a cycle. */
const groupsAndBelow = (group_ids: readonly string[]) => sql`
  with recursive tree(id) as (
    select id from ${sql.table('groups')} where id in (${sql.join(group_ids)})
    union
    select child.id from ${sql.table('groups')} as child join tree on child.parent_id = tree.id
  )
  select id from tree`;
