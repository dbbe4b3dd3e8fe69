import { type Kysely, sql, type Transaction } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import { type FieldError, fieldError, invalidBody, notFound, Problem } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { insufficientScope, missingScopes, scopes } from '../../core/scopes.ts';
import { fold, joinWords } from '../../core/text.ts';
import { newStamps, rowAsJson, storedChanges, storedFields } from '../../database/sql/rows.ts';
import { allOf, contains } from '../../lists/filters.ts';
import type { List } from '../../lists/list.ts';
import type { Filters } from '../../lists/query.ts';
import { type Actor, keyColumns, keyOf } from '../../store/access/actors.ts';
import { assertOtherAdministrator } from '../../store/access/administrators.ts';
import { changeKey, keySubject, revoke } from '../../store/access/key-writes.ts';
import { hashSecret, newSecret } from '../../store/access/secret.ts';
import { endSessions } from '../../store/access/sessions.ts';
import type { Tables } from '../../store/tables.ts';
import { bySystem, type Change } from '../../store/writes/change.ts';
import { differencesBetween, recordCreated } from '../../store/writes/history.ts';
import { lockTables } from '../../store/writes/locks.ts';
import { findProjects } from '../projects/queries.ts';
import { Key, KeyInput, type KeyPatch, type keyFilters } from './schema.ts';

type NewKey = Key & { secret: string };

/** The author of a change. If nobody is named, it is the service itself or its command line. */
type By = Moment & Partial<Change>;

const changeBy = (by: By): Change => ({ ...bySystem(by), ...by });

/** Keys, oldest first: all, or the personal keys of a person. */
export const keyList = (filters: Filters<typeof keyFilters>, moment: Moment, user_id?: string): List => ({
  schema: Key,
  json: rowAsJson(Key, 'keys'),
  reads: ['keys'],
  isTimeDependent: true,
  order: { key: sql.ref('keys.id') },
  from: (db) => db.selectFrom('keys'),
  id: sql.ref('keys.id'),
  matches: sql`${user_id === undefined ? sql`1 = 1` : sql`keys.user_id = ${user_id}`} and ${allOf(filters, {
    q: (text) => contains('keys.name_folded', fold(text)),
    status: (statuses) => sql`(${sql.join(statuses.map(hasStatus(moment)), sql` or `)})`,
  })}`,
});

export async function listKeys(db: Kysely<Tables>): Promise<Key[]> {
  const rows = await db.selectFrom('keys').select(keyColumns).orderBy('id').execute();
  return rows.map(keyOf);
}

export async function getKey(db: Kysely<Tables>, id: string): Promise<Key> {
  const row = await db
    .selectFrom('keys')
    .select(keyColumns)
    .where('id', '=', id)
    .executeTakeFirstOrThrow(() => notFound('key', id));
  return keyOf(row);
}

/** Reads a key and locks all keys until the transaction ends. */
export async function getKeyForChange(db: Transaction<Tables>, id: string): Promise<Key> {
  await lockKeys(db);
  return getKey(db, id);
}

/** Locks the keys, and the access of people: one of both must be able to manage keys. */
export const lockKeys = (db: Transaction<Tables>) => lockTables(db, 'access', 'keys');

/** Returns the secret, which is not stored: the database has only its hash. `user_id` makes it a personal key. */
export async function createKey(
  db: Transaction<Tables>,
  input: KeyInput,
  by: By,
  user_id: string | null = null,
): Promise<NewKey> {
  const id = newId('key');
  const secret = newSecret();
  const row = {
    id,
    ...storedFields(KeyInput, await withProjectIds(db, input)),
    user_id,
    name_folded: fold(input.name),
    ...storedSecret(secret),
    previous_hash: null,
    previous_until: null,
    last_used_at: null,
    revoked_at: null,
    ...newStamps(by.now),
  };
  await db.insertInto('keys').values(row).execute();
  await recordCreated(db, keySubject, [{ id, label: input.name }], changeBy(by));
  return { ...(await getKey(db, id)), secret };
}

/** Creates a key with every scope on the first start. Returns undefined if a key exists. */
export async function createFirstKey(db: Transaction<Tables>, moment: Moment) {
  await lockKeys(db);
  const existing = await db.selectFrom('keys').select('id').limit(1).executeTakeFirst();
  return existing ? undefined : createKey(db, { name: 'first key', scopes: [...scopes] }, moment);
}

export async function updateKey(
  db: Transaction<Tables>,
  current: Key,
  patch: KeyPatch,
  change: Change,
): Promise<Key> {
  rejectRevoked(current, 'changed');
  const next: Key = { ...current, ...(await withProjectIds(db, withStoredExpiry(patch))) };
  const differences = differencesBetween(current, next, Object.keys(Key.properties));
  if (Object.keys(differences).length === 0) return current;
  if ('expires_at' in differences) rejectPastExpiry(next, change);
  await assertManagerRemains(db, current, next, change);
  const columns = { ...storedChanges(Key, differences), name_folded: fold(next.name) };
  await changeKey(db, current, columns, differences, change);
  return getKey(db, current.id);
}

/**
 * Gives the key a new secret. The current secret keeps working for `overlap_seconds`. What was started with it ends:
 * unused links, and sessions except the one that gets the new secret.
 */
export async function rotateKey(
  db: Transaction<Tables>,
  current: Key,
  overlap_seconds: number,
  by: By,
  exceptId?: string,
): Promise<NewKey> {
  rejectRevoked(current, 'rotated');
  const secret = newSecret();
  const stored = storedSecret(secret);
  const overlap = overlap_seconds > 0 && {
    previous_hash: sql<string>`hash`,
    previous_until: new Date(Date.parse(by.now) + overlap_seconds * 1000).toISOString(),
  };
  const columns = { ...stored, previous_hash: null, previous_until: null, ...overlap };
  const rotated = { from: `…${current.last_four}`, to: `…${stored.last_four}` };
  const changed = differencesBetween(current, stored, ['prefix', 'last_four']);
  const event = { type: 'key.rotated', differences: changed } as const;
  await changeKey(db, current, columns, { rotated }, changeBy(by), event);
  await endSessions(db, { key_id: current.id }, 'replaced', changeBy(by), { exceptId });
  await db.deleteFrom('links').where('key_id', '=', current.id).execute();
  return { ...(await getKey(db, current.id)), secret };
}

/** Revoking a revoked key changes nothing. */
export async function revokeKey(db: Transaction<Tables>, id: string, by: By): Promise<Key> {
  const current = await getKeyForChange(db, id);
  if (current.revoked_at !== null) return current;
  await revoke(db, current, changeBy(by));
  return getKey(db, id);
}

/** The fields that decide how much access a key has. */
type Access = Pick<Key, 'scopes' | 'project_ids' | 'expires_at' | 'rate_limit'>;

/** Throws if the requested access exceeds the actor's own. Absent fields are not checked. */
export function assertHoldsAtLeast(
  actor: Pick<Actor, keyof Access>,
  { scopes = [], ...requested }: Partial<Access>,
): void {
  const missing = [...new Set(missingScopes(actor.scopes, scopes))];
  if (missing.length > 0) {
    throw insufficientScope(
      `You cannot give more scopes than you have, or manage a key that has more. You lack ${missing.join(', ')}.`,
      missing,
    );
  }
  const { project_ids, expires_at, rate_limit } = requested;
  const errors: FieldError[] = [];
  // Only the missing limit: a limited actor cannot see, and so cannot name, other projects.
  if (project_ids === null && actor.project_ids !== null) {
    const detail = 'You are limited to projects. Set `project_ids` to some of them.';
    errors.push(fieldError('project_ids', 'beyond_own', detail));
  }
  // Otherwise a key could outlive its expiry through a key that it created.
  if (expires_at !== undefined && (expires_at ?? forever) > (actor.expires_at ?? forever)) {
    const detail = `Your key expires at ${actor.expires_at}. Set \`expires_at\` to that time or earlier.`;
    errors.push(fieldError('expires_at', 'outlives', detail));
  }
  // A limited actor cannot grant the default limit (null), because that can be higher than its own.
  if (rate_limit !== undefined && actor.rate_limit && !(rate_limit && rate_limit <= actor.rate_limit)) {
    const detail = `Your key has a \`rate_limit\` of ${actor.rate_limit}. Set \`rate_limit\` to a value from 1 to ${actor.rate_limit}.`;
    errors.push(fieldError('rate_limit', 'above_own', detail));
  }
  if (errors.length > 0) throw invalidBody(errors);
}

/** Throws if the key is the personal key of somebody else: whoever gave it more access or a secret could act as the person. */
export function assertOwnKey({ user_id }: Key, actor: Actor): void {
  if (user_id === null || (user_id === actor.user_id && actor.key_id === null)) return;
  const detail =
    'This is a personal key: only its person can give it more access, a later expiry or a new secret. Revoke it instead.';
  throw new Problem('person_required', detail);
}

/** Throws if the actor ends: the access of a person has no end, and nobody can give what lasts longer than their own. */
export function assertLasts({ expires_at }: Pick<Actor, 'expires_at'>): void {
  if (expires_at === null) return;
  const detail = `Your key expires at ${expires_at}, but the access of a person would last. Sign in as a person, or use a key that does not expire.`;
  throw invalidBody([fieldError('', 'outlives', detail)]);
}

/** Replaces project keys with ids, which is how they are stored. */
export async function withProjectIds<Input extends { project_ids?: string[] | null }>(
  db: Kysely<Tables>,
  input: Input,
): Promise<Input> {
  if (input.project_ids == null) return input;
  const { ids, unknown } = await findProjects(db, input.project_ids);
  if (unknown.length > 0) {
    throw invalidBody([
      fieldError('project_ids', 'unknown_reference', `There is no project ${joinWords(unknown)}.`),
    ]);
  }
  return { ...input, project_ids: ids };
}

/** Normalizes `expires_at` to UTC, so that times compare as strings. */
export const withStoredExpiry = <Input extends { expires_at?: string | null }>(input: Input): Input =>
  input.expires_at == null ? input : { ...input, expires_at: new Date(input.expires_at).toISOString() };

export function rejectPastExpiry({ expires_at }: { expires_at?: string | null }, { now }: Moment): void {
  if (expires_at == null || expires_at > now) return;
  throw invalidBody([fieldError('expires_at', 'not_in_future', '`expires_at` must be in the future.')]);
}

/** Somebody must be able to manage keys for all projects; otherwise only the command line could create keys. */
export async function assertManagerRemains(
  db: Transaction<Tables>,
  current: Key,
  next: Key,
  moment: Moment,
): Promise<void> {
  const endsSooner = lastsLonger(current, next);
  if (!managesKeys(current, moment) || (managesKeys(next, moment) && !endsSooner)) return;
  await assertOtherAdministrator(db, { key_id: current.id, name: `The key ${current.name}` }, moment);
}

const forever = '9999-99-99';

export const lastsLonger = (one: Pick<Key, 'expires_at'>, other: Pick<Key, 'expires_at'>): boolean =>
  (one.expires_at ?? forever) > (other.expires_at ?? forever);

const managesKeys = ({ scopes, project_ids, user_id, revoked_at, expires_at }: Key, { now }: Moment) =>
  scopes.includes('keys.manage') &&
  user_id === null &&
  project_ids === null &&
  revoked_at === null &&
  (expires_at ?? forever) > now;

const hasStatus =
  ({ now }: Moment) =>
  (status: 'valid' | 'expired' | 'revoked' | 'all') =>
    ({
      valid: sql<boolean>`(keys.revoked_at is null and coalesce(keys.expires_at, ${forever}) > ${now})`,
      expired: sql<boolean>`(keys.revoked_at is null and keys.expires_at <= ${now})`,
      revoked: sql<boolean>`keys.revoked_at is not null`,
      all: sql<boolean>`1 = 1`,
    })[status];

function rejectRevoked({ id, revoked_at }: Key, to: 'changed' | 'rotated'): void {
  if (revoked_at === null) return;
  throw new Problem('invalid_transition', `${id} is revoked and cannot be ${to}. Create a new key.`, {
    extra: { from: 'revoked', to, allowed: [] },
  });
}

const storedSecret = (secret: string) => ({
  hash: hashSecret(secret),
  prefix: secret.slice(0, 8),
  last_four: secret.slice(-4),
});
