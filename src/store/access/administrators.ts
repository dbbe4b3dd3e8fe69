import { type Kysely, sql } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import { Problem } from '../../core/errors.ts';
import type { Tables } from '../tables.ts';

const managesKeys = (table: 'keys' | 'access') =>
  sql<boolean>`${sql.ref(`${table}.scopes`)} like '%"keys.manage"%' and ${sql.ref(`${table}.project_ids`)} is null`;

/** A key that ends sooner is no way to manage access, only to get one. */
const minKeyDays = 30;
const lastingUntil = ({ now }: Moment) => new Date(Date.parse(now) + minKeyDays * 86_400_000).toISOString();

/**
 * Keys that can manage keys and access for all projects, and that last. Personal keys end with the access of their person.
 */
const administratorKeys = (db: Kysely<Tables>, until: string) =>
  db
    .selectFrom('keys')
    .select('keys.name')
    .where(managesKeys('keys'))
    .where('keys.user_id', 'is', null)
    .where('keys.revoked_at', 'is', null)
    .where((eb) => eb.or([eb('keys.expires_at', 'is', null), eb('keys.expires_at', '>=', until)]));

/** The keys without which nobody could manage access, if all of them end soon. */
export async function findEndingAdministrators(db: Kysely<Tables>, moment: Moment): Promise<string[]> {
  const people = await administrators(db, moment).limit(1).execute();
  const lasting = await administratorKeys(db, lastingUntil(moment)).limit(1).execute();
  if (people.length + lasting.length > 0) return [];
  const keys = await administratorKeys(db, moment.now).orderBy('keys.id').execute();
  return keys.map(({ name }) => name);
}

/** People who can do so, and who can sign in without an identity provider. */
const administrators = (db: Kysely<Tables>, { today }: Moment) =>
  db
    .selectFrom('access')
    .innerJoin('people', 'people.user_id', 'access.user_id')
    .select('access.user_id')
    .where(managesKeys('access'))
    .where('people.status', '=', 'active')
    .where((eb) => eb.or([eb('people.end_on', 'is', null), eb('people.end_on', '>=', today)]))
    .where(
      sql<boolean>`(exists (select 1 from passwords where passwords.user_id = access.user_id)
        or exists (select 1 from passkeys where passkeys.user_id = access.user_id))`,
    );

export async function isAdministrator(db: Kysely<Tables>, user_id: string, moment: Moment): Promise<boolean> {
  const found = await administrators(db, moment).where('access.user_id', '=', user_id).executeTakeFirst();
  return found !== undefined;
}

/**
 * Throws if nobody else could manage keys and access: then only the command line could. Lock the table `access` before,
 * so that two administrators cannot remove each other.
 */
export async function assertOtherAdministrator(
  db: Kysely<Tables>,
  removed: { user_id?: string; key_id?: string; name: string },
  moment: Moment,
): Promise<void> {
  const { user_id = '', key_id = '', name } = removed;
  const key = await administratorKeys(db, lastingUntil(moment))
    .where('keys.id', '<>', key_id)
    .limit(1)
    .executeTakeFirst();
  if (key) return;
  const person = await administrators(db, moment)
    .where('access.user_id', '<>', user_id)
    .limit(1)
    .executeTakeFirst();
  if (person) return;
  throw new Problem(
    'in_use',
    `${name} is the last that can manage keys and access for all projects. Create a key with keys.manage, or give ` +
      'another person with a password or passkey this scope first.',
  );
}
