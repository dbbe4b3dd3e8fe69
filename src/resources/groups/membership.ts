import { sql } from 'kysely';
import { invalidParameter } from '../../core/errors.ts';
import { jsonArrayOf, jsonObject, parsedJson } from '../../database/sql/functions.ts';
import type { RowsQuery } from '../../lists/list.ts';

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

const namedGroups = jsonArrayOf(
  jsonObject({ id: sql.ref('groups.id'), name: sql.ref('groups.name') }),
  sql.ref('groups.name_key'),
);

const memberships = sql`memberships join ${sql.table('groups')} on groups.id = memberships.group_id`;

/** The groups that a person of the query is a direct member of, by name, as JSON. */
export const groupsOfPerson = sql`(
  select ${namedGroups} from ${memberships} where memberships.user_id = people.user_id)`;

/** The same, from `joinGroupsOfPeople`. */
export const joinedGroupsOfPerson = sql`coalesce(person_groups.list, ${parsedJson(sql.lit('[]'))})`;

export const joinGroupsOfPeople = (people: RowsQuery, user_ids: RowsQuery): RowsQuery =>
  people.leftJoin(
    sql<{ user_id: string }>`(
      select memberships.user_id, ${namedGroups} as list from ${memberships}
      where memberships.user_id in (${user_ids}) group by memberships.user_id)`.as('person_groups'),
    'person_groups.user_id',
    'people.user_id',
  );
