import { type Kysely, sql } from 'kysely';
import { daysLater, type Moment } from '../../core/clock.ts';
import { Problem } from '../../core/errors.ts';
import type { Tables } from '../tables.ts';

const managesKeys = (table: 'keys' | 'access') =>
  sql<boolean>`${sql.ref(`${table}.scopes`)} like '%"keys.manage"%' and ${sql.ref(`${table}.project_ids`)} is null`;

/** A key or person that ends sooner is no way to manage access, only to get one. */
const minDays = 30;
const inMinDays = ({ now, today, ...rest }: Moment): Moment => ({
  ...rest,
  now: new Date(Date.parse(now) + minDays * 86_400_000).toISOString(),
  today: daysLater(today, minDays),
});

/**
 * Keys that can manage keys and access for all projects until then. Personal keys end with the access of their person.
 */
const administratorKeys = (db: Kysely<Tables>, { now: until }: Moment) =>
  db
    .selectFrom('keys')
    .select('keys.name')
    .where(managesKeys('keys'))
    .where('keys.user_id', 'is', null)
    .where('keys.revoked_at', 'is', null)
    .where((eb) => eb.or([eb('keys.expires_at', 'is', null), eb('keys.expires_at', '>=', until)]));

/** The people and keys without which nobody could manage access, if all of them end soon. */
export async function findEndingAdministrators(db: Kysely<Tables>, moment: Moment): Promise<string[]> {
  const until = inMinDays(moment);
  const lasting = await administrators(db, until).unionAll(administratorKeys(db, until)).limit(1).execute();
  if (lasting.length > 0) return [];
  const people = await administrators(db, moment).orderBy('people.user_id').execute();
  const keys = await administratorKeys(db, moment).orderBy('keys.id').execute();
  return [...people, ...keys].map(({ name }) => name);
}

/** People who can do so until that day, and who can sign in without an identity provider. */
const administrators = (db: Kysely<Tables>, { today }: Moment) =>
  db
    .selectFrom('access')
    .innerJoin('people', 'people.user_id', 'access.user_id')
    .select('people.name')
    .where(managesKeys('access'))
    .where('people.status', '=', 'active')
    .where((eb) => eb.or([eb('people.end_on', 'is', null), eb('people.end_on', '>=', today)]))
    .where(
      sql<boolean>`(exists (select 1 from passkeys where passkeys.user_id = access.user_id)
        or (exists (select 1 from passwords where passwords.user_id = access.user_id)
          and not exists (select 1 from settings where settings.name = 'passwords' and settings.value = 'off')))`,
    );

export async function isAdministrator(db: Kysely<Tables>, user_id: string, moment: Moment): Promise<boolean> {
  const found = await administrators(db, moment).where('access.user_id', '=', user_id).executeTakeFirst();
  return found !== undefined;
}

/**
 * Throws if nobody else could manage keys and access for long: then only the command line could. Lock the table `access`
 * before, so that two administrators cannot remove each other.
 */
export async function assertOtherAdministrator(
  db: Kysely<Tables>,
  removed: { user_id?: string; key_id?: string; name: string },
  moment: Moment,
): Promise<void> {
  const { user_id = '', key_id = '', name } = removed;
  const until = inMinDays(moment);
  const key = await administratorKeys(db, until).where('keys.id', '<>', key_id).limit(1).executeTakeFirst();
  if (key) return;
  const person = await administrators(db, until)
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
