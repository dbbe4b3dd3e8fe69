import { randomBytes } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { Database } from '../../database/open.ts';
import type { Tables } from '../tables.ts';
import { hashSecret } from './secret.ts';

type Purpose = Tables['challenges']['purpose'];

/** Stores a random text that must come back within the minutes, once, together with data that the browser cannot change. */
export async function createChallenge(
  db: Transaction<Tables>,
  purpose: Purpose,
  data: object,
  { now, minutes }: { now: string; minutes: number },
): Promise<string> {
  const challenge = randomBytes(32).toString('base64url');
  const expires_at = new Date(Date.parse(now) + minutes * 60_000).toISOString();
  await db
    .insertInto('challenges')
    .values({ hash: hashSecret(challenge), purpose, data: JSON.stringify(data), expires_at })
    .execute();
  return challenge;
}

/** Returns the data of a challenge and deletes it; undefined if it is unknown, used or expired. Then it costs no write. */
export async function takeChallenge<Data>(
  { db, write }: Pick<Database, 'db' | 'write'>,
  purpose: Purpose,
  challenge: string,
  now: string,
): Promise<Data | undefined> {
  const hash = hashSecret(challenge);
  const found = await db.selectFrom('challenges').select('hash').where('hash', '=', hash).executeTakeFirst();
  if (!found) return undefined;
  const row = await write((db) =>
    db
      .deleteFrom('challenges')
      .where('hash', '=', hash)
      .where('purpose', '=', purpose)
      .returning(['data', 'expires_at'])
      .executeTakeFirst(),
  );
  return row && row.expires_at > now ? JSON.parse(row.data) : undefined;
}
