import type { Transaction } from 'kysely';
import { fieldError, invalidBody, Problem } from '../../core/errors.ts';
import { insufficientScope, missingScopes } from '../../core/scopes.ts';
import type { Tables } from '../tables.ts';
import type { Change } from '../writes/change.ts';
import { touchAccess, withoutProjectScope } from '../writes/tracker.ts';
import { endAccess, findAccess } from './access.ts';
import { assertOtherAdministrator, isAdministrator } from './administrators.ts';
import { endLinks } from './links.ts';
import { endSessions } from './sessions.ts';

type Person = {
  user_id: string;
  name: string;
  email?: string | null;
  kind?: string;
  status?: string;
  end_on?: string | null;
};

/**
 * What a change of a person means for their access. Whoever is deactivated, or is no human, loses it. The last administrator
 * cannot get an earlier last day, as the last key cannot. A new e-mail address
 * would let somebody else sign in as the person, and a later last day brings back somebody whose access has ended, so both
 * need as much access as a new invitation. Lock the table `access` before.
 */
export async function adjustAccess(
  limited: Transaction<Tables>,
  current: Person,
  next: Person,
  change: Change,
): Promise<void> {
  const db = withoutProjectScope(limited);
  const { user_id } = current;
  const access = await findAccess(db, user_id);
  if (!access) return;
  if (next.status !== 'active' || (next.kind !== 'human' && next.kind !== 'external'))
    return endAccess(db, current, change);
  const hasEnded = hasLeft(next, change);
  const returns = hasLeft(current, change) && !hasEnded;
  if (next.email !== current.email)
    assertMayAdmit(current, access, change, ['email', 'a new e-mail address']);
  if (returns) assertMayAdmit(current, access, change, ['end_on', 'a later last day']);
  if (next.email !== current.email || returns) await endLinks(db, user_id);
  // Whoever has a browser of that time must not be let in again.
  if (returns) await endSessions(db, { user_id }, 'access_ended', change);
  const endsSooner = next.end_on != null && (current.end_on == null || next.end_on < current.end_on);
  if (endsSooner && (await isAdministrator(db, user_id, change)))
    await assertOtherAdministrator(db, current, change);
  touchAccess(db);
}

const hasLeft = ({ end_on }: Person, { today }: Change): boolean => end_on != null && end_on < today;

function assertMayAdmit(
  { name }: Person,
  { scopes, project_ids }: { scopes: Change['scopes']; project_ids: readonly string[] | null },
  change: Change,
  [field, what]: [field: string, what: string],
): void {
  const missing = missingScopes(change.scopes, ['keys.manage', ...scopes]);
  if (missing.length > 0) {
    throw insufficientScope(
      `${name} has access, so ${what} requires keys.manage and all scopes of ${name}. You lack ${missing.join(', ')}.`,
      missing,
    );
  }
  if (change.expires_at != null) {
    const detail = `${name} has access, so ${what} would last longer than your key, which expires at ${change.expires_at}.`;
    throw invalidBody([fieldError(field, 'outlives', detail)]);
  }
  const own = change.project_ids;
  if (own === null || project_ids?.every((id) => own.includes(id))) return;
  const detail = `${name} has access to projects that you do not have. Ask an administrator for ${what}.`;
  throw invalidBody([fieldError(field, 'beyond_own', detail)]);
}

/** Throws if the person has access or personal keys: then they must be deactivated instead of deleted. */
export async function rejectWithAccess(
  limited: Transaction<Tables>,
  { user_id, name }: Person,
): Promise<void> {
  const db = withoutProjectScope(limited);
  const key = await db
    .selectFrom('keys')
    .select('id')
    .where('user_id', '=', user_id)
    .limit(1)
    .executeTakeFirst();
  const access = await findAccess(db, user_id);
  if (key || access) {
    const detail = `${name} ${access ? 'has' : 'had'} access, so the history may name them. Deactivate the person instead.`;
    throw new Problem('in_use', detail);
  }
  await db.deleteFrom('identities').where('user_id', '=', user_id).execute();
}
