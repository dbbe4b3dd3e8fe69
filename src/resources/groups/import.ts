import { sql, type Transaction } from 'kysely';
import { Problem } from '../../core/errors.ts';
import { limits } from '../../core/schemas.ts';
import { fold } from '../../core/text.ts';
import type { Importable } from '../../import/importable.ts';
import { inAllLanguages } from '../../import/languages/all.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change } from '../../store/writes/change.ts';
import type { Created } from '../../store/writes/create-many.ts';
import { chunk } from '../../store/writes/rows.ts';
import { addMembers } from './members.ts';
import { createGroups, groupList, updateGroup } from './queries.ts';
import { GroupRowInput, GroupRowPatch, type GroupWithMembers } from './schema.ts';

const recognized = inAllLanguages('group');

/** A group's members are in one row or spread over several rows. An import adds members and never removes any. */
export const groupImport = (): Importable<GroupWithMembers, typeof GroupRowInput, typeof GroupRowPatch> => ({
  what: 'group',
  input: GroupRowInput,
  patch: GroupRowPatch,
  existing: groupList({ include: 'members' }),
  keys: [
    { field: 'id', column: sql.ref('groups.id') },
    { field: 'external_id', column: sql.ref('groups.external_id') },
    { field: 'name', column: sql.ref('groups.name_folded'), compared: fold },
  ],
  additive: ['member_user_ids'],
  ...recognized,
  create: createGroupRows,
  update: updateGroupRow,
});

async function createGroupRows(
  db: Transaction<Tables>,
  rows: readonly GroupRowInput[],
  change: Change,
): Promise<(Created | Problem)[]> {
  const inputs = rows.map(({ member_user_ids: _, ...input }) => input);
  const results = await createGroups(db, inputs, change);
  for (const [i, result] of results.entries()) {
    if (!(result instanceof Problem))
      await addMembersInChunks(db, result.id, rows[i]?.member_user_ids ?? [], change);
  }
  return results;
}

async function updateGroupRow(
  db: Transaction<Tables>,
  current: GroupWithMembers,
  { member_user_ids = [], ...patch }: GroupRowPatch,
  change: Change,
): Promise<void> {
  await updateGroup(db, current, patch, change);
  const known = new Set(current.member_user_ids);
  const newMembers = member_user_ids.filter((user_id) => !known.has(user_id));
  await addMembersInChunks(db, current.id, newMembers, change);
}

async function addMembersInChunks(
  db: Transaction<Tables>,
  group_id: string,
  user_ids: readonly string[],
  change: Change,
): Promise<void> {
  for (const ids of chunk(user_ids, limits.filter_values)) await addMembers(db, group_id, ids, change);
}
