import type { Kysely, Transaction } from 'kysely';
import type { Tables } from '../tables.ts';
import { hashSecret, looksLikeSecret, newSecret } from './secret.ts';

type Link = Pick<Tables['links'], 'purpose' | 'user_id' | 'key_id'>;

/** Stores a link that works once. Returns its token, of which only the hash is stored. It replaces earlier ones of the person. */
export async function createLink(
  db: Transaction<Tables>,
  link: Link,
  { now, hours }: { now: string; hours: number },
): Promise<{ token: string; expires_at: string }> {
  const token = newSecret('link');
  const expires_at = new Date(Date.parse(now) + hours * 3_600_000).toISOString();
  if (link.user_id !== null) await endLinks(db, link.user_id);
  await db
    .insertInto('links')
    .values({ hash: hashSecret(token), ...link, created_at: now, expires_at })
    .execute();
  return { token, expires_at };
}

/** Finds a link that was not used and has not expired. */
export async function findLink(
  db: Kysely<Tables>,
  purpose: Link['purpose'],
  token: string,
  now: string,
): Promise<(Link & { expires_at: string }) | undefined> {
  if (!looksLikeSecret(token, 'link')) return undefined;
  return db
    .selectFrom('links')
    .select(['purpose', 'user_id', 'key_id', 'expires_at'])
    .where('hash', '=', hashSecret(token))
    .where('purpose', '=', purpose)
    .where('expires_at', '>', now)
    .executeTakeFirst();
}

/** Uses up a link. Returns undefined if it was used meanwhile. */
export async function takeLink(
  db: Transaction<Tables>,
  purpose: Link['purpose'],
  token: string,
  now: string,
): Promise<Link | undefined> {
  const link = await db
    .deleteFrom('links')
    .where('hash', '=', hashSecret(token))
    .where('purpose', '=', purpose)
    .returning(['purpose', 'user_id', 'key_id', 'expires_at'])
    .executeTakeFirst();
  return link && link.expires_at > now ? link : undefined;
}

export const endLinks = (db: Transaction<Tables>, user_id: string) =>
  db.deleteFrom('links').where('user_id', '=', user_id).execute();
