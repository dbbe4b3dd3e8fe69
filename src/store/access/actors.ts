import type { Kysely, Selectable } from 'kysely';
import { type AccessLimits, commonAccess } from '../../core/scopes.ts';
import { Key } from '../../resources/keys/schema.ts';
import type { Tables } from '../tables.ts';
import { hashSecret, looksLikeSecret } from './secret.ts';

/** Who makes a request: a person who has signed in, or a key. */
export type Actor = AccessLimits & {
  /** The person or the key: by it requests are counted and limited. */
  id: string;
  /** The person who has signed in, or whose personal key is used. */
  user_id: string | null;
  /** The key in use; a browser can sign in with one too. */
  key_id: string | null;
  /** The name of the person or key. */
  name: string;
  /** Requests per minute; null means the default of the service. */
  rate_limit: number | null;
  /** When the key expires, or the former secret in use stops working: nothing that it gives lasts longer. */
  expires_at: string | null;
  /** When the secret in use stops working, because the key got a new one. */
  secret_until: string | null;
  /** When the key was last used, as far as it is stored. */
  last_used_at: string | null;
  /** The last day of the person. */
  end_on: string | null;
  /** Where the access of a person comes from; null for a key of a program. */
  source: 'manual' | 'oidc' | null;
  /** Why requests are rejected, whatever the time: the key was revoked, or the person has lost access. */
  ended: string | null;
  /** The session of a browser. */
  session: ActorSession | null;
  /** Differs after each change of the key, the person's access or the session. */
  stamp: string;
};

type ActorSession = Pick<
  Selectable<Tables['sessions']>,
  'id' | 'way' | 'created_at' | 'last_seen_at' | 'expires_at'
>;

/** Finds who has a session, or a key: its secret or, while the overlap after a rotation lasts, the previous one. */
export async function findActor(db: Kysely<Tables>, secret: string, now: string): Promise<Actor | undefined> {
  const hash = hashSecret(secret);
  if (looksLikeSecret(secret, 'session')) return findActorBySession(db, hash);
  return (await findActorByKey(db, hash)) ?? findActorByPreviousKey(db, hash, now);
}

async function findActorByKey(db: Kysely<Tables>, hash: string): Promise<Actor | undefined> {
  const row = await selectKeys(db).where('keys.hash', '=', hash).executeTakeFirst();
  return row && actorOfKey(row);
}

async function findActorByPreviousKey(
  db: Kysely<Tables>,
  hash: string,
  now: string,
): Promise<Actor | undefined> {
  const row = await selectKeys(db)
    .where('keys.previous_hash', '=', hash)
    .where('keys.previous_until', '>', now)
    .executeTakeFirst();
  return row && { ...actorOfKey(row, row.previous_until), secret_until: row.previous_until };
}

/** Finds the actor of a session by the hash of its token. */
export async function findActorBySession(db: Kysely<Tables>, hash: string): Promise<Actor | undefined> {
  const session = await db
    .selectFrom('sessions')
    .select(['id', 'user_id', 'key_id', 'way', 'created_at', 'last_seen_at', 'expires_at'])
    .where('hash', '=', hash)
    .executeTakeFirst();
  if (!session) return undefined;
  const { user_id, key_id, ...rest } = session;
  const actor =
    key_id === null ? await findPerson(db, user_id) : await findKey(db, key_id, session.expires_at);
  return actor && { ...actor, session: rest, stamp: `${actor.stamp} ${rest.id}` };
}

/** The actor of a person who signs in; undefined if the person has no access. */
export async function findPerson(db: Kysely<Tables>, user_id: string | null): Promise<Actor | undefined> {
  const row = await db
    .selectFrom('access')
    .innerJoin('people', 'people.user_id', 'access.user_id')
    .select(holderColumns)
    .where('access.user_id', '=', user_id)
    .executeTakeFirst();
  if (row?.holder_status !== 'active') return undefined;
  return {
    ...accessOf(row),
    id: row.holder_id,
    user_id: row.holder_id,
    key_id: null,
    name: row.holder_name,
    rate_limit: null,
    expires_at: null,
    secret_until: null,
    last_used_at: null,
    end_on: row.holder_end_on,
    source: row.access_source,
    ended: null,
    session: null,
    stamp: stampOf(row),
  };
}

/** A session that ends during the overlap of a rotation may be one of the former secret, so it gives nothing that lasts. */
export async function findKey(
  db: Kysely<Tables>,
  id: string,
  sessionUntil?: string,
): Promise<Actor | undefined> {
  const row = await selectKeys(db).where('keys.id', '=', id).executeTakeFirst();
  const isFormer = sessionUntil !== undefined && sessionUntil <= (row?.previous_until ?? '');
  return row && actorOfKey(row, isFormer ? sessionUntil : null);
}

/** The columns of the API resource; hashes are never read. */
export const keyColumns = Object.keys(Key.properties) as (keyof Key)[];

export const keyOf = (row: Pick<Selectable<Tables['keys']>, keyof Key>): Key => ({
  ...row,
  scopes: JSON.parse(row.scopes),
  project_ids: parsedIds(row.project_ids),
});

/** The person of a personal key, and their access, is selected together with the key. */
const selectKeys = (db: Kysely<Tables>) =>
  db
    .selectFrom('keys')
    .leftJoin('people', 'people.user_id', 'keys.user_id')
    .leftJoin('access', 'access.user_id', 'keys.user_id')
    .select(keyColumns.map((column) => `keys.${column}` as const))
    .select('keys.previous_until')
    .select(holderColumns);

const holderColumns = [
  'people.user_id as holder_id',
  'people.name as holder_name',
  'people.status as holder_status',
  'people.end_on as holder_end_on',
  'access.scopes as access_scopes',
  'access.project_ids as access_project_ids',
  'access.id as access_id',
  'access.source as access_source',
  'access.version as access_version',
] as const;

type Holder = {
  holder_id: string | null;
  holder_name: string | null;
  holder_status: string | null;
  holder_end_on: string | null;
  access_id: string | null;
  access_scopes: string | null;
  access_project_ids: string | null;
  access_source: 'manual' | 'oidc' | null;
  access_version: number | null;
};

type KeyRow = Pick<Selectable<Tables['keys']>, keyof Key | 'previous_until'> & Holder;

function actorOfKey(row: KeyRow, until: string | null = null): Actor {
  const key = keyOf(row);
  const { id, user_id, name, rate_limit, last_used_at, revoked_at } = key;
  const [expires_at = null] = [key.expires_at, until].filter((time) => time !== null).sort();
  const isWithoutAccess = user_id !== null && (row.access_scopes === null || row.holder_status !== 'active');
  return {
    ...(user_id === null
      ? { scopes: key.scopes, project_ids: key.project_ids }
      : commonAccess(key, accessOf(row))),
    id,
    user_id,
    key_id: id,
    name,
    rate_limit,
    expires_at,
    secret_until: null,
    last_used_at,
    end_on: row.holder_end_on,
    source: row.access_source,
    ended:
      revoked_at !== null
        ? 'That key has been revoked. Ask for a new one.'
        : isWithoutAccess
          ? 'The person whose key this is no longer has access.'
          : null,
    session: null,
    stamp: `${key.version} ${stampOf(row)}`,
  };
}

const accessOf = ({ access_scopes, access_project_ids }: Holder): AccessLimits => ({
  scopes: JSON.parse(access_scopes ?? '[]'),
  project_ids: parsedIds(access_project_ids),
});

const stampOf = ({ access_id, access_version }: Holder) => `${access_id} ${access_version}`;

const parsedIds = (text: string | null): string[] | null => (text === null ? null : JSON.parse(text));
