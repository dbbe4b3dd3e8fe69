import { sql } from 'kysely';
import { inJsonArray } from '../../database/sql/functions.ts';
import type { SyncTarget } from '../../import/importable.ts';
import { removeMember } from './members.ts';

/** Members who are missing in a source that brought them leave their groups. Groups and other members stay. */
export const memberSync: SyncTarget = {
  noun: 'members',
  keysOfWritten: ({ values: { member_user_ids: ids }, unknownPeople = [] }, group_id) => ({
    keys: Array.isArray(ids) ? ids.map((user_id) => `${group_id} ${user_id}`) : [],
    // A text that was left out may be about any member.
    isComplete:
      Array.isArray(ids) &&
      unknownPeople.every(({ field, user_id }) => field !== 'member_user_ids' || user_id !== undefined),
  }),
  async list(db, source) {
    const rows = await db
      .selectFrom('synced_members')
      .innerJoin('memberships', (join) =>
        join
          .onRef('memberships.group_id', '=', 'synced_members.group_id')
          .onRef('memberships.user_id', '=', 'synced_members.user_id'),
      )
      .innerJoin('people', 'people.user_id', 'synced_members.user_id')
      .innerJoin('groups', 'groups.id', 'synced_members.group_id')
      .select([
        'synced_members.group_id',
        'synced_members.user_id',
        'people.name',
        'groups.name as group_name',
      ])
      .where('synced_members.source', '=', source)
      .orderBy('synced_members.group_id')
      .orderBy('synced_members.user_id')
      .execute();
    return rows.map(({ group_id, user_id, name, group_name }) => ({
      id: `${group_id} ${user_id}`,
      label: `${name} (${group_name})`,
      keys: [],
      of: group_id,
    }));
  },
  async record(db, source, ids) {
    const pairs = ids.map((id) => id.split(' ') as [string, string]);
    const stored = await db
      .selectFrom('synced_members')
      .select(['group_id', 'user_id'])
      .where('source', '=', source)
      .where(inJsonArray(sql.ref('group_id'), [...new Set(pairs.map(([group_id]) => group_id))]))
      .execute();
    const known = new Set(stored.map(({ group_id, user_id }) => `${group_id} ${user_id}`));
    const added = pairs.filter(([group_id, user_id]) => !known.has(`${group_id} ${user_id}`));
    if (added.length > 0)
      await db
        .insertInto('synced_members')
        .values(added.map(([group_id, user_id]) => ({ source, group_id, user_id })))
        .execute();
    return [];
  },
  async remove(db, source, { id }, _, change) {
    const [group_id = '', user_id = ''] = id.split(' ');
    await removeMember(db, group_id, user_id, change);
    await db
      .deleteFrom('synced_members')
      .where('source', '=', source)
      .where('group_id', '=', group_id)
      .where('user_id', '=', user_id)
      .execute();
    return true;
  },
};
