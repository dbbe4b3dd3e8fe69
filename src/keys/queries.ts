import { timingSafeEqual } from 'node:crypto';
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { Moment } from '../clock.ts';
import { lockTable } from '../database/changes.ts';
import type { Tables } from '../database/tables.ts';
import { notFound } from '../errors.ts';
import { newId } from '../ids.ts';
import type { Key } from './schema.ts';
import { type Scope, scopes } from './scopes.ts';
import { hashSecret, newSecret } from './secret.ts';

export type KeyInput = { name: string; scopes: Scope[]; expires_at?: string | null };

export async function findKeyBySecret(db: Kysely<Tables>, secret: string): Promise<Key | undefined> {
  const hash = hashSecret(secret);
  const row = await db.selectFrom('keys').selectAll().where('hash', '=', hash).executeTakeFirst();
  return row && timingSafeEqual(Buffer.from(row.hash), Buffer.from(hash)) ? keyOf(row) : undefined;
}

export async function listKeys(db: Kysely<Tables>): Promise<Key[]> {
  const rows = await db.selectFrom('keys').selectAll().orderBy('id').execute();
  return rows.map(keyOf);
}

/** The secret is in this answer and nowhere else. */
export async function createKey(
  db: Transaction<Tables>,
  input: KeyInput,
  { now }: Moment,
): Promise<Key & { secret: string }> {
  const secret = newSecret();
  const row = {
    id: newId('key'),
    name: input.name,
    scopes: JSON.stringify(input.scopes),
    project_ids: null,
    expires_at: input.expires_at ?? null,
    rate_limit: null,
    prefix: secret.slice(0, 8),
    last_four: secret.slice(-4),
    last_used_at: null,
    revoked_at: null,
    version: 1,
    created_at: now,
    updated_at: now,
  };
  await db
    .insertInto('keys')
    .values({ ...row, hash: hashSecret(secret) })
    .execute();
  return { ...keyOf(row), secret };
}

/** The key of the first start, with every scope; undefined when there is any key already. */
export async function createFirstKey(db: Transaction<Tables>, moment: Moment) {
  await lockTable(db, 'keys');
  const existing = await db.selectFrom('keys').select('id').limit(1).executeTakeFirst();
  return existing ? undefined : createKey(db, { name: 'first key', scopes: [...scopes] }, moment);
}

/** Revoking twice changes nothing. */
export async function revokeKey(db: Transaction<Tables>, id: string, { now }: Moment): Promise<Key> {
  await db
    .updateTable('keys')
    .set({ revoked_at: now, updated_at: now, version: sql`version + 1` })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .execute();
  const row = await db
    .selectFrom('keys')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow(() => notFound('key', id));
  return keyOf(row);
}

function keyOf({
  scopes,
  project_ids,
  ...row
}: Omit<Selectable<Tables['keys']>, 'hash'> & { hash?: string }): Key {
  const { hash: _, ...shown } = row;
  return {
    ...shown,
    scopes: JSON.parse(scopes),
    project_ids: project_ids === null ? null : JSON.parse(project_ids),
  };
}
