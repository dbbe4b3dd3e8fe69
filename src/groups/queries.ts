import { type Kysely, sql, type Transaction } from 'kysely';
import type { Moment } from '../clock.ts';
import { missingReferences, refuseDuplicate, toGroup, toPerson } from '../database/references.ts';
import { newStamps, rowAsJson, storedFields } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { fieldFault, invalidBody, notFound } from '../errors.ts';
import { newId } from '../ids.ts';
import { allOf, equals, hasText, since } from '../lists/filters.ts';
import type { List } from '../lists/list.ts';
import type { Filters } from '../lists/query.ts';
import { fold } from '../text.ts';
import { Group, GroupInput, groupDepth, type groupFilters } from './schema.ts';

/** Groups, by name. */
export function groupList(filters: Filters<typeof groupFilters>): List {
  const matches = allOf(filters, {
    q: hasText('groups.name_folded'),
    parent_id: equals('groups.parent_id'),
    lead_user_id: equals('groups.lead_user_id'),
    external_id: equals('groups.external_id'),
    updated_since: since('groups.updated_at'),
  });
  return {
    schema: Group,
    json: groupJson,
    reads: ['groups', 'memberships'],
    order: { key: sql.ref('groups.name_key') },
    from: (db) => db.selectFrom('groups'),
    id: sql.ref('groups.id'),
    matches,
  };
}

export async function getGroup(db: Kysely<Tables>, id: string): Promise<Group> {
  const { json } = await db
    .selectFrom('groups')
    .select(groupJson.as('json'))
    .where('id', '=', id)
    .executeTakeFirstOrThrow(() => notFound('group', id));
  return JSON.parse(json);
}

export async function createGroup(
  db: Transaction<Tables>,
  input: GroupInput,
  moment: Moment,
): Promise<Group> {
  const faults = await missingReferences(db, input, { parent_id: toGroup, lead_user_id: toPerson });
  if (input.parent_id && (await depthOf(db, input.parent_id)) >= groupDepth) {
    faults.push(fieldFault('parent_id', 'too_deep', `Groups nest ${groupDepth} levels at most.`));
  }
  if (faults.length > 0) throw invalidBody(faults);
  await refuseDuplicate(db, toGroup, 'name', input.name, sql`name_folded = ${fold(input.name)}`);
  await refuseDuplicate(db, toGroup, 'external_id', input.external_id);
  const id = newId('group');
  await db
    .insertInto('groups')
    .values(groupRow(id, input, moment))
    .execute();
  return getGroup(db, id);
}

/** A new group as it is stored. */
export const groupRow = (id: string, input: GroupInput, { now }: Moment) => ({
  id,
  ...storedFields(GroupInput, input),
  name_folded: fold(input.name),
  ...newStamps(now),
});

/** Adding a member twice changes nothing. */
export async function addMember(
  db: Transaction<Tables>,
  group_id: string,
  user_id: string,
  { now }: Moment,
): Promise<void> {
  await getGroup(db, group_id);
  await db
    .selectFrom('people')
    .select('user_id')
    .where('user_id', '=', user_id)
    .executeTakeFirstOrThrow(() => notFound('person', user_id));
  await db
    .insertInto('memberships')
    .values({ group_id, user_id, added_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

const groupJson = rowAsJson(Group, 'groups', {
  member_count: sql`(select count(*) from memberships where memberships.group_id = groups.id)`,
});

/** How many levels there are from the top down to this group. */
async function depthOf(db: Kysely<Tables>, id: string): Promise<number> {
  const { rows } = await sql<{ depth: number }>`
    with recursive above(id) as (
      select id from ${sql.table('groups')} where id = ${id}
      union
      select parent_id from ${sql.table('groups')} as child join above on child.id = above.id
      where parent_id is not null
    )
    select count(*) as depth from above`.execute(db);
  return rows[0]?.depth ?? 0;
}
