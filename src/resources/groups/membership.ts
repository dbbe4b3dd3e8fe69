import { sql } from 'kysely';
import { invalidParameter } from '../../core/errors.ts';
import { jsonArrayOf, jsonObject } from '../../database/sql/functions.ts';

/** Matches rows whose person in `column` is a member of the group, or with `transitive` of one of its subgroups. */
export const isMember = (column: string, group_id: string, transitive: boolean) =>
  sql<boolean>`${sql.ref(column)} in (
    select user_id from memberships where group_id in (${transitive ? groupsAndSubgroups([group_id]) : sql`${group_id}`}))`;

/** Matches rows owned by one of the groups; with `transitive` also by their subgroups and by members of any of these. */
export const isOwnedBy = (table: string, group_ids: readonly string[], transitive: boolean) => {
  const groupColumn = sql.ref(`${table}.owner_group_id`);
  if (!transitive) return sql<boolean>`${groupColumn} in (${sql.join(group_ids)})`;
  return sql<boolean>`(${groupColumn} in (${groupsAndSubgroups(group_ids)})
    or ${sql.ref(`${table}.owner_user_id`)} in (
      select user_id from memberships where group_id in (${groupsAndSubgroups(group_ids)})))`;
};

/** Rejects `transitive` without the group filter that it modifies. */
export function rejectLoneTransitive(filters: { transitive?: boolean }, groupFilter: string): void {
  if (filters.transitive === undefined || groupFilter in filters) return;
  throw invalidParameter(
    'transitive',
    `\`transitive\` needs \`${groupFilter}\`. Add \`${groupFilter}\` or remove \`transitive\`.`,
  );
}

/** The ids of the groups and all their subgroups. `union` removes duplicates, so the query ends even on a cycle. */
const groupsAndSubgroups = (group_ids: readonly string[]) => sql`
  with recursive tree(id) as (
    select id from ${sql.table('groups')} where id in (${sql.join(group_ids)})
    union
    select child.id from ${sql.table('groups')} as child join tree on child.parent_id = tree.id
  )
  select id from tree`;

/** The groups that a person of the query is a direct member of, by name, as JSON. */
export const groupsOfPerson = sql`(
  select ${jsonArrayOf(jsonObject({ id: sql.ref('groups.id'), name: sql.ref('groups.name') }), sql.ref('groups.name_key'))}
  from memberships join ${sql.table('groups')} on groups.id = memberships.group_id
  where memberships.user_id = people.user_id)`;
