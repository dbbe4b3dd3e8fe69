import { sql } from 'kysely';

/** Whether the person in `column` belongs to the group, or, transitively, to a group below it. */
export const isMember = (column: string, group_id: string, transitive: boolean) =>
  sql<boolean>`${sql.ref(column)} in (
    select user_id from memberships where group_id in (${transitive ? groupAndBelow(group_id) : sql`${group_id}`}))`;

/** The ids of a group and of all groups below it. A `union` ends even if there were a circle. */
const groupAndBelow = (group_id: string) => sql`
  with recursive tree(id) as (
    select id from ${sql.table('groups')} where id = ${group_id}
    union
    select child.id from ${sql.table('groups')} as child join tree on child.parent_id = tree.id
  )
  select id from tree`;
