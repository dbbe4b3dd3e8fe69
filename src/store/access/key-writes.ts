import type { Kysely, Transaction } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import { WriteConflict } from '../../database/application.ts';
import { rowAsJson } from '../../database/sql/rows.ts';
import { Key, keyResource } from '../../resources/keys/schema.ts';
import type { Tables } from '../tables.ts';
import type { Change, Differences } from '../writes/change.ts';
import { subjectOf } from '../writes/events.ts';
import { type EventOptions, recordChanges } from '../writes/history.ts';
import { laterThan } from '../writes/rows.ts';
import { keyColumns, keyOf } from './actors.ts';
import { endSessions } from './sessions.ts';

export const keySubject = subjectOf(keyResource, () => rowAsJson(Key, 'keys'));

/** Changes columns of a key, with its history and event. */
export async function changeKey(
  db: Transaction<Tables>,
  { id, version, updated_at }: Key,
  columns: object,
  differences: Differences,
  requested: Change,
  event: EventOptions = {},
): Promise<void> {
  const change = laterThan(requested, { updated_at });
  const { numUpdatedRows } = await db
    .updateTable('keys')
    .set({ ...columns, version: version + 1, updated_at: change.now })
    .where('id', '=', id)
    .where('version', '=', version)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw new WriteConflict();
  await recordChanges(db, keySubject, id, differences, change, event);
}

/** Revokes a key. Browsers that signed in with it are signed out. */
export async function revoke(db: Transaction<Tables>, key: Key, change: Change): Promise<void> {
  const revoked = { from: key.name, to: null };
  const differences = { revoked_at: { from: null, to: change.now } };
  const event = { type: 'key.revoked', differences } as const;
  await changeKey(db, key, { revoked_at: change.now }, { revoked }, change, event);
  await endSessions(db, { key_id: key.id }, 'revoked', change);
}

/** Counts the personal keys of a person that work. */
export async function countValidKeys(db: Kysely<Tables>, user_id: string, { now }: Moment): Promise<number> {
  const { count } = await db
    .selectFrom('keys')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('user_id', '=', user_id)
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .executeTakeFirstOrThrow();
  return count;
}

/** Revokes the personal keys of a person who loses access. */
export async function revokeKeysOf(db: Transaction<Tables>, user_id: string, change: Change): Promise<void> {
  const rows = await db
    .selectFrom('keys')
    .select(keyColumns)
    .where('user_id', '=', user_id)
    .where('revoked_at', 'is', null)
    .orderBy('id')
    .execute();
  for (const row of rows) await revoke(db, keyOf(row), change);
}
