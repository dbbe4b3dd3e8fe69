import type { Kysely, Transaction } from 'kysely';
import { fieldError, invalidBody, notFound } from '../../core/errors.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change } from '../../store/writes/change.ts';
import { lockTables } from '../../store/writes/locks.ts';
import { exists } from '../../store/writes/references.ts';
import { laterThan, updateRow } from '../../store/writes/rows.ts';
import { personResource } from '../personnel/schema.ts';
import { getGroup, recordMemberships } from './queries.ts';

/** Adding an existing member changes nothing. Returns whether the person is a new member. */
export async function addMember(
  db: Transaction<Tables>,
  group_id: string,
  user_id: string,
  change: Change,
): Promise<boolean> {
  if (!(await exists(db, personResource, user_id))) throw notFound('person', user_id);
  return (await addMembers(db, group_id, [user_id], change)).added > 0;
}

/** Ignores people who are members already. Returns the number of new members and of all members. */
export async function addMembers(
  db: Transaction<Tables>,
  group_id: string,
  user_ids: readonly string[],
  requested: Change,
): Promise<{ added: number; member_count: number }> {
  // The lock prevents a deadlock between two requests that add the same people.
  await lockTables(db, 'memberships');
  const group = await getGroup(db, group_id);
  const change = laterThan(requested, group);
  await rejectUnknownPeople(db, user_ids);
  const inserted = await db
    .insertInto('memberships')
    .values(user_ids.map((user_id) => ({ group_id, user_id, added_at: change.now })))
    .onConflict((conflict) => conflict.doNothing())
    .returning('user_id')
    .execute();
  const added = inserted.length;
  if (added > 0) {
    await updateRow(db, 'groups', group, {}, change.now);
    await recordMemberships(db, group, inserted, 'group.member_added', change);
  }
  return { added, member_count: group.member_count + added };
}

/** Removing a person who is not a member changes nothing. */
export async function removeMember(
  db: Transaction<Tables>,
  group_id: string,
  user_id: string,
  requested: Change,
): Promise<void> {
  if (!(await exists(db, personResource, user_id))) throw notFound('person', user_id);
  await lockTables(db, 'memberships');
  const group = await getGroup(db, group_id);
  const change = laterThan(requested, group);
  const removed = await db
    .deleteFrom('memberships')
    .where('group_id', '=', group_id)
    .where('user_id', '=', user_id)
    .returning('user_id')
    .execute();
  if (removed.length === 0) return;
  await updateRow(db, 'groups', group, {}, change.now);
  await recordMemberships(db, group, removed, 'group.member_removed', change);
}

async function rejectUnknownPeople(db: Kysely<Tables>, user_ids: readonly string[]): Promise<void> {
  const people = await db.selectFrom('people').select('user_id').where('user_id', 'in', user_ids).execute();
  const known = new Set(people.map(({ user_id }) => user_id));
  const errors = user_ids.flatMap((user_id, i) =>
    known.has(user_id)
      ? []
      : [fieldError(`user_ids/${i}`, 'unknown_reference', `There is no person ${user_id}.`)],
  );
  if (errors.length > 0) throw invalidBody(errors);
}
