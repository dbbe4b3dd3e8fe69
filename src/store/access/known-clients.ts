import type { Kysely, Transaction } from 'kysely';
import type { Tables } from '../tables.ts';
import { hashSecret, newSecret } from './secret.ts';

/** How long a browser or network is known after somebody has signed in there. */
const knownDays = 90;

/** Where somebody signs in: the secret in the cookie of the browser, if it has one, and the network. */
export type Place = { device: string | undefined; network: string };

const hashesOf = ({ device, network }: Place) => ({
  browser: device === undefined ? '' : hashSecret(device),
  network: hashSecret(`network ${network}`),
});

/** Whether the person has signed in before from this browser or, if not, from this network. */
export async function findKnownClient(
  db: Kysely<Tables>,
  user_id: string,
  place: Place,
  now: string,
): Promise<'browser' | 'network' | undefined> {
  const { browser, network } = hashesOf(place);
  const rows = await db
    .selectFrom('known_clients')
    .select('hash')
    .where('hash', 'in', [browser, network])
    .where('user_id', '=', user_id)
    .where('expires_at', '>', now)
    .execute();
  if (rows.some(({ hash }) => hash === browser)) return 'browser';
  return rows.length > 0 ? 'network' : undefined;
}

/** Whether anybody has signed in from this browser. */
export async function isKnownBrowser(db: Kysely<Tables>, place: Place, now: string): Promise<boolean> {
  const { browser } = hashesOf(place);
  const row = await db
    .selectFrom('known_clients')
    .select('hash')
    .where('hash', '=', browser)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Remembers where a person has signed in. Returns the new secret of the browser, which replaces the one that it sent, also
 * for other people who use it: nobody can choose it. Write sessions before, as everything that writes both.
 */
export async function rememberClient(
  db: Transaction<Tables>,
  user_id: string,
  place: Place,
  now: string,
): Promise<{ secret: string; expires_at: string }> {
  const secret = newSecret('device');
  const expires_at = new Date(Date.parse(now) + knownDays * 86_400_000).toISOString();
  const hash = hashSecret(secret);
  const { browser, network } = hashesOf(place);
  await db.updateTable('known_clients').set({ hash }).where('hash', '=', browser).execute();
  await db
    .insertInto('known_clients')
    .values([hash, network].map((one) => ({ hash: one, user_id, expires_at })))
    .onConflict((conflict) => conflict.columns(['hash', 'user_id']).doUpdateSet({ expires_at }))
    .execute();
  return { secret, expires_at };
}

/** After this, no browser and no network of the person is known. */
export const forgetClients = (db: Transaction<Tables>, user_id: string) =>
  db.deleteFrom('known_clients').where('user_id', '=', user_id).execute();
