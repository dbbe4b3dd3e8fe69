import type { Transaction } from 'kysely';
import { fieldError, invalidBody, Problem } from '../../core/errors.ts';
import { insufficientScope, missingScopes } from '../../core/scopes.ts';
import type { Tables } from '../tables.ts';
import type { Change } from '../writes/change.ts';
import { touchAccess, withoutProjectScope } from '../writes/tracker.ts';
import { endAccess, findAccess } from './access.ts';
import { assertOtherAdministrator, isAdministrator } from './administrators.ts';
import { endLinks } from './links.ts';

type Person = {
  user_id: string;
  name: string;
  email?: string | null;
  kind?: string;
  status?: string;
  end_on?: string | null;
};

/**
 * What a change of a person means for their access. Whoever is deactivated, or is no human, loses it. A new e-mail address
 * would let somebody else sign in as the person, so it needs as much access as a new invitation. Lock the table `access`
 * before.
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
  if (next.email !== current.email) {
    assertMayChangeAddress(current, access, change);
    await endLinks(db, user_id);
  }
  const hasEnded = next.end_on != null && next.end_on < change.today;
  if (hasEnded && (await isAdministrator(db, user_id, change)))
    await assertOtherAdministrator(db, current, change);
  touchAccess(db);
}

function assertMayChangeAddress(
  { name }: Person,
  { scopes, project_ids }: { scopes: Change['scopes']; project_ids: readonly string[] | null },
  change: Change,
): void {
  const missing = missingScopes(change.scopes, ['keys.manage', ...scopes]);
  if (missing.length > 0) {
    throw insufficientScope(
      `${name} can sign in, so a new e-mail address requires keys.manage and all scopes of ${name}. You lack ${missing.join(', ')}.`,
      missing,
    );
  }
  const own = change.project_ids;
  if (own === null || project_ids?.every((id) => own.includes(id))) return;
  const detail = `${name} has access to projects that you do not have. Ask an administrator to change the address.`;
  throw invalidBody([fieldError('email', 'beyond_own', detail)]);
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
