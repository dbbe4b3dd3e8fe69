import { type Kysely, sql, type Transaction } from 'kysely';
import { newId } from '../../core/ids.ts';
import { missingScopes } from '../../core/scopes.ts';
import { jsonArrayOf } from '../../database/sql/functions.ts';
import { newStamps, rowAsJson, storedChanges } from '../../database/sql/rows.ts';
import { Access, accessResource } from '../../resources/access/schema.ts';
import type { EventType } from '../../resources/events/schema.ts';
import type { EndReason } from '../../resources/sessions/schema.ts';
import type { Tables } from '../tables.ts';
import type { Change } from '../writes/change.ts';
import { addEvent, subjectOf } from '../writes/events.ts';
import { differencesBetween, recordChanges, recordCreated, recordDeleted } from '../writes/history.ts';
import { insertRows, laterThan, updateRow } from '../writes/rows.ts';
import { touchAccess, withoutProjectScope } from '../writes/tracker.ts';
import { assertOtherAdministrator, isAdministrator } from './administrators.ts';
import { revokeKeysOf } from './key-writes.ts';
import { endLinks } from './links.ts';
import { endSessions } from './sessions.ts';

export const accessRows = (db: Kysely<Tables>) =>
  db.selectFrom('access').innerJoin('people', 'people.user_id', 'access.user_id');

const wayRows = (['password', 'passkey', 'oidc'] as const).map((way) => {
  const table = { password: 'passwords', passkey: 'passkeys', oidc: 'identities' }[way];
  return sql`select ${sql.lit(way)} as way where exists (
    select 1 from ${sql.table(table)} as held where held.user_id = access.user_id)`;
});

export const accessJson = rowAsJson(Access, 'access', {
  name: sql.ref('people.name'),
  email: sql.ref('people.email'),
  ways: sql`(select ${jsonArrayOf(sql.ref('ways.way'), sql.ref('ways.way'))} from (${sql.join(wayRows, sql` union all `)}) as ways)`,
  invited_until: sql`(
    select max(links.expires_at) from links where links.user_id = access.user_id and links.purpose = 'invitation')`,
  last_seen_at: sql`(select max(sessions.last_seen_at) from sessions where sessions.user_id = access.user_id)`,
});

const accessSubject = subjectOf(accessResource, () => accessJson, accessRows);

export async function findAccess(db: Kysely<Tables>, user_id: string): Promise<Access | undefined> {
  const row = await accessRows(db)
    .select(accessJson.as('json'))
    .where('access.user_id', '=', user_id)
    .executeTakeFirst();
  return row && JSON.parse(row.json);
}

/** Everybody who has access, by name. */
export async function listAccess(db: Kysely<Tables>): Promise<Access[]> {
  const rows = await accessRows(db).select(accessJson.as('json')).orderBy('people.roster_key').execute();
  return rows.map(({ json }) => JSON.parse(json));
}

type Granted = Pick<Access, 'scopes' | 'project_ids' | 'source'>;

/**
 * Gives a person access, or replaces it. Sessions of the person have the new access from the next request on. Lock the
 * table `access` before.
 */
export async function setAccess(
  db: Transaction<Tables>,
  person: { user_id: string; name: string },
  granted: Granted,
  requested: Change,
): Promise<Access> {
  const { user_id, name } = person;
  const current = await findAccess(db, user_id);
  if (current) {
    const differences = differencesBetween(current, granted, ['scopes', 'project_ids', 'source']);
    if (Object.keys(differences).length === 0) return current;
    if (await isAdministrator(db, user_id, requested)) {
      const staysAdministrator = granted.scopes.includes('keys.manage') && granted.project_ids === null;
      if (!staysAdministrator) await assertOtherAdministrator(db, { user_id, name }, requested);
    }
    const change = laterThan(requested, current);
    // Whoever made a link may have less than this access, and could use it as the person.
    if (isMore(granted, current)) await endLinks(db, user_id);
    await updateRow(db, 'access', current, storedChanges(Access, differences), change.now);
    await recordChanges(db, accessSubject, current.id, differences, change);
  } else {
    const id = newId('access');
    const { scopes, project_ids, source } = granted;
    const row = {
      id,
      user_id,
      scopes: JSON.stringify(scopes),
      project_ids: project_ids && JSON.stringify(project_ids),
      source,
      ...newStamps(requested.now),
    };
    await insertRows(db, 'access', [row]);
    await recordCreated(db, accessSubject, [{ id, label: name }], requested);
  }
  return (await findAccess(db, user_id)) as Access;
}

const isMore = (granted: Granted, current: Granted) =>
  missingScopes(current.scopes, granted.scopes).length > 0 ||
  (current.project_ids !== null &&
    (granted.project_ids === null || granted.project_ids.some((id) => !current.project_ids?.includes(id))));

/**
 * Ends the access of a person: sessions and invitations end, the password, the passkeys and the link to an account at the
 * identity provider are deleted, personal keys are revoked. Somebody else must be able to manage keys. Lock the table
 * `access` before.
 */
export async function endAccess(
  limited: Transaction<Tables>,
  { user_id, name }: { user_id: string; name: string },
  change: Change,
  { keepsAccount = false } = {},
): Promise<void> {
  const db = withoutProjectScope(limited);
  const access = await findAccess(db, user_id);
  if (!access) return;
  if (await isAdministrator(db, user_id, change))
    await assertOtherAdministrator(db, { user_id, name }, change);
  await endWaysIn(db, user_id, 'access_ended', change, { keepsAccount });
  await revokeKeysOf(db, user_id, change);
  await db.deleteFrom('access').where('id', '=', access.id).execute();
  await recordDeleted(db, accessSubject, access.id, access, change);
}

/** Ends the sessions of a person, and removes every way in: links, the password, the passkeys and the account at the provider. */
export async function endWaysIn(
  db: Transaction<Tables>,
  user_id: string,
  reason: EndReason,
  change: Change,
  { keepsAccount = false } = {},
): Promise<void> {
  await endSessions(db, { user_id }, reason, change);
  for (const table of ['links', 'passwords', 'passkeys', 'known_clients', 'identities'] as const)
    if (!keepsAccount || table !== 'identities')
      await db.deleteFrom(table).where('user_id', '=', user_id).execute();
}

/**
 * Removes one way in with `remove`. The sessions that began with it end, except the
 * one in use. Somebody must be able to manage keys. Lock the table `access` before.
 */
export async function removeWayIn(
  db: Transaction<Tables>,
  access: Access,
  way: 'password' | 'passkey',
  remove: () => Promise<unknown>,
  change: Change,
  exceptId?: string,
): Promise<void> {
  const { user_id, name } = access;
  const wasAdministrator = await isAdministrator(db, user_id, change);
  await remove();
  if (wasAdministrator && !(await isAdministrator(db, user_id, change)))
    await assertOtherAdministrator(db, { user_id, name }, change);
  await endSessions(db, { user_id, way }, 'replaced', change, { exceptId });
  addAccessEvent(db, access, `access.${way}_removed`, change);
}

/** Writes an event about the access of a person that changes none of its fields, such as `access.invited`. */
export function addAccessEvent(
  db: Transaction<Tables>,
  { id: subject_id }: Access,
  type: EventType,
  change: Change,
): void {
  addEvent(db, { subject: accessSubject, subject_id, at: change.now, change, differences: {}, type });
  touchAccess(db);
}
