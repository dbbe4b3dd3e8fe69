import { type Kysely, sql, type Transaction } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import { type FieldError, fieldError, invalidBody, notFound, type Problem } from '../../core/errors.ts';
import { fold } from '../../core/text.ts';
import { consoleUrl, inJsonArray, jsonArrayOf } from '../../database/sql/functions.ts';
import { newStamps, rowAsJson, storedChanges, storedFields } from '../../database/sql/rows.ts';
import { param, statement } from '../../database/sql/statement.ts';
import { allOf, equals, hasText, since } from '../../lists/filters.ts';
import { type List, memoizedList } from '../../lists/list.ts';
import { namesByRelevance } from '../../lists/orders.ts';
import type { Filters } from '../../lists/query.ts';
import type { Tables } from '../../store/tables.ts';
import { ancestors, cycleErrors } from '../../store/trees.ts';
import type { Change } from '../../store/writes/change.ts';
import { type Created, createMany, unwrapSingle } from '../../store/writes/create-many.ts';
import { addEvent, setEventData, subjectOf } from '../../store/writes/events.ts';
import {
  differencesBetween,
  recordChanges,
  recordDeleted,
  recordHistory,
} from '../../store/writes/history.ts';
import { lockTables } from '../../store/writes/locks.ts';
import {
  type Reference,
  referenceErrors,
  rejectDuplicates,
  type Unique,
} from '../../store/writes/references.ts';
import { chunk, deleteRow, laterThan, updateRow, updateRows } from '../../store/writes/rows.ts';
import { rejectReferenced } from '../in-use.ts';
import {
  Group,
  GroupInput,
  type GroupPatch,
  GroupWithMembers,
  type groupFilters,
  type groupIncludes,
  groupResource,
  maxGroupDepth,
} from './schema.ts';

const nameKey = sql.ref<string>('groups.name_key');

export const groupSorts = ['name', 'relevance'] as const;

/** Groups by name or by how well it matches `q`; `include: 'members'` adds the ids of their members. */
export const groupList = (
  { include, ...filters }: Filters<typeof groupFilters & typeof groupIncludes>,
  sort = 'name',
): List =>
  memoizedList(['groups', filters, include, sort], () => ({
    schema: include ? GroupWithMembers : Group,
    json: include ? groupWithMembersJson : groupJson,
    reads: ['groups', 'memberships', ...(filters.lead_user_id ? ['people' as const] : [])],
    isIndexed: sort !== 'relevance',
    order:
      sort === 'relevance'
        ? namesByRelevance(filters.q, sql.ref('groups.name_folded'), nameKey)
        : { key: nameKey },
    from: (db) => db.selectFrom('groups'),
    id: sql.ref('groups.id'),
    matches: allOf(filters, {
      q: hasText('groups.name_folded'),
      parent_id: equals('groups.parent_id'),
      lead_user_id: equals('groups.lead_user_id'),
      external_id: equals('groups.external_id'),
      updated_since: since('groups.updated_at'),
    }),
  }));

export async function getGroup(db: Kysely<Tables>, id: string): Promise<Group> {
  const [row] = (await groupById(db, { id })).rows;
  if (!row) throw notFound('group', id);
  return JSON.parse(row.json);
}

const groupById = statement<{ json: string }>((db) =>
  db.selectFrom('groups').select(groupJson.as('json')).where('id', '=', param<string>('id')),
);

export async function createGroup(
  db: Transaction<Tables>,
  input: GroupInput,
  change: Change,
): Promise<Group> {
  const { id } = unwrapSingle(await createGroups(db, [input], change));
  return setEventData(db, id, await getGroup(db, id));
}

/** Creates the valid groups and returns a problem for each invalid one. */
export async function createGroups(
  db: Transaction<Tables>,
  inputs: readonly GroupInput[],
  change: Change,
): Promise<(Created | Problem)[]> {
  if (inputs.some(({ parent_id }) => parent_id)) await lockTables(db, 'groups');
  const creation = {
    subject: groupSubject,
    target: groupResource,
    errors: await validate(db, inputs),
    uniques: uniqueFields,
    label: ({ name }: GroupInput) => name,
    row: ({ id }: Created, input: GroupInput) => groupRow(id, input, change),
  } as const;
  return createMany(db, inputs, creation, change);
}

export async function updateGroup(
  db: Transaction<Tables>,
  current: Group,
  { reason, ...patch }: GroupPatch,
  requested: Change,
): Promise<Group> {
  const { id } = current;
  const change = laterThan(requested, current);
  const next: Group = { ...current, ...patch };
  const differences = differencesBetween(current, next, Object.keys(patch));
  if (Object.keys(differences).length === 0) return current;
  if ('parent_id' in differences) await lockTables(db, 'groups');
  const [errors = []] = await validate(db, [next], current);
  if (errors.length > 0) throw invalidBody(errors);
  await rejectDuplicates(db, groupResource, uniqueFields, id, next, differences);
  const columns = {
    ...storedChanges(Group, differences),
    ...('name' in differences && { name_folded: fold(next.name) }),
  };
  await updateRow(db, 'groups', current, columns, change.now);
  await recordChanges(db, groupSubject, id, differences, { ...change, reason });
  return setEventData(db, id, await getGroup(db, id));
}

/** More would hold up the event loop. */
const membersAtOnce = 500;

/** Removes all members. A group that owns risks or issues, or has subgroups, cannot be deleted. */
export async function deleteGroup(db: Transaction<Tables>, current: Group, requested: Change): Promise<void> {
  const change = laterThan(requested, current);
  const { id, name } = current;
  await lockTables(db, 'memberships');
  const references: Reference[] = [
    ['groups', sql`parent_id = ${id}`],
    ['risks', sql`owner_group_id = ${id}`],
    ['issues', sql`owner_group_id = ${id}`],
  ];
  await rejectReferenced(db, `The group ${name}`, references, change);
  const members = await db
    .deleteFrom('memberships')
    .where('group_id', '=', id)
    .returning('user_id')
    .execute();
  for (const part of chunk(members, membersAtOnce))
    await recordMemberships(db, current, part, 'group.member_removed', change);
  await deleteRow(db, 'groups', current);
  await recordDeleted(db, groupSubject, id, current, change);
}

export const groupRow = (id: string, input: GroupInput, { now }: Moment) => ({
  id,
  ...storedFields(GroupInput, input),
  name_folded: fold(input.name),
  ...newStamps(now),
});

/**
 * Records that people joined or left a group: an event of the group for each. A person lists their groups, so the person
 * gets a new version and history as well.
 */
export async function recordMemberships(
  db: Transaction<Tables>,
  { id: group_id, name: group_name }: Pick<Group, 'id' | 'name'>,
  members: readonly { user_id: string }[],
  type: 'group.member_added' | 'group.member_removed',
  change: Change,
): Promise<void> {
  const difference = (id: string) =>
    type === 'group.member_added' ? { from: null, to: id } : { from: id, to: null };
  const ids = members.map(({ user_id }) => user_id);
  const people = await updateRows(db, 'people', ids, {}, change.now);
  await recordHistory(
    db,
    [
      ...ids.map((id) => ({ subject_id: group_id, at: change.now, differences: { member: difference(id) } })),
      ...people.map(({ id, at }) => ({ subject_id: id, at, differences: { group: difference(group_id) } })),
    ],
    change,
  );
  const names = await db
    .selectFrom('people')
    .select(['user_id', 'name'])
    .where(inJsonArray(sql.ref('user_id'), ids))
    .orderBy('user_id')
    .execute();
  for (const { user_id, name } of names) {
    const given = { data: { group_id, group_name, user_id, user_name: name } };
    addEvent(db, {
      subject: groupSubject,
      subject_id: group_id,
      at: change.now,
      change,
      differences: {},
      type,
      given,
    });
  }
}

const member_count = sql`(select count(*) from memberships where memberships.group_id = groups.id)`;

const web_url = consoleUrl('/groups/', sql.ref('groups.id'));

const groupJson = rowAsJson(Group, 'groups', { member_count, web_url });

export const groupSubject = subjectOf(groupResource, () => groupJson);

const groupWithMembersJson = rowAsJson(GroupWithMembers, 'groups', {
  member_count,
  web_url,
  member_user_ids: sql`(
    select ${jsonArrayOf(sql.ref('memberships.user_id'), sql.ref('memberships.user_id'))}
    from memberships where memberships.group_id = groups.id)`,
});

const uniqueFields: Unique[] = [
  { field: 'name', column: sql.ref('name_folded'), compared: fold },
  { field: 'external_id' },
];

async function validate(
  db: Kysely<Tables>,
  inputs: readonly GroupInput[],
  current?: Group,
): Promise<FieldError[][]> {
  const errors = await referenceErrors(db, inputs, groupResource.references);
  for (const [i, { name, parent_id }] of inputs.entries()) {
    if (current) {
      const self = { id: current.id, label: name };
      errors[i]?.push(...(await cycleErrors(db, groupResource, 'parent_id', self, parent_id)));
    }
    if (!parent_id || errors[i]?.length) continue;
    const above = await ancestors(db, groupResource, 'parent_id', parent_id);
    const levels = above.length + (current ? await countLevels(db, current.id) : 1);
    if (levels > maxGroupDepth) {
      const detail = `Groups can nest at most ${maxGroupDepth} levels deep; this would make ${levels}. Choose a parent higher up.`;
      errors[i]?.push(fieldError('parent_id', 'too_deep', detail));
    }
  }
  return errors;
}

/** The number of levels from this group, included, down to its deepest subgroup. */
async function countLevels(db: Kysely<Tables>, id: string): Promise<number> {
  const { rows } = await sql<{ levels: number }>`
    select max(level) as levels from (
      with recursive below(id, level) as (
        select id, 1 from ${sql.table('groups')} where id = ${id}
        union all
        select child.id, level + 1 from ${sql.table('groups')} as child join below on child.parent_id = below.id
        where level <= ${sql.lit(maxGroupDepth)}
      )
      select level from below) as levels`.execute(db);
  return rows[0]?.levels ?? 1;
}
