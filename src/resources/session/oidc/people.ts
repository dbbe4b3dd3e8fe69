import type { Transaction } from 'kysely';
import type { Moment } from '../../../core/clock.ts';
import { lowerAscii, normalize } from '../../../core/text.ts';
import { endAccess, findAccess, setAccess } from '../../../store/access/access.ts';
import type { Tables } from '../../../store/tables.ts';
import { bySystem } from '../../../store/writes/change.ts';
import { lockTables } from '../../../store/writes/locks.ts';
import type { Access } from '../../access/schema.ts';
import { createPerson } from '../../personnel/queries.ts';
import type { problemsOfSignIn } from '../schema.ts';
import type { Claims } from './provider.ts';
import { decidesAccess, type OidcSettings, scopesOf } from './settings.ts';

export type SignInProblem = (typeof problemsOfSignIn)[number];

/** A sign-in that ended with a reason that the sign-in page explains. */
export class SignInRefused extends Error {
  override readonly name = 'SignInRefused';
  readonly problem: SignInProblem;

  constructor(problem: SignInProblem) {
    super(problem);
    this.problem = problem;
  }
}

const reason = 'Signed in through the identity provider.';

/**
 * Returns the access of the person whom the claims are about. They are found by the account at the provider; the first time
 * by a verified e-mail address, which links the account to them.
 */
export async function findByClaims(
  db: Transaction<Tables>,
  settings: OidcSettings,
  claims: Claims,
  moment: Moment,
): Promise<Access> {
  assertDomain(settings, claims);
  // Before the person is created or changed, as everything that does so.
  await lockTables(db, 'access', 'people');
  const person = (await findLinked(db, claims)) ?? (await link(db, settings, claims, moment));
  if (person.status !== 'active' || (person.end_on !== null && person.end_on < moment.today))
    throw new SignInRefused('no_access');
  const access = await updateAccess(db, settings, claims, person, moment);
  if (!access) throw new SignInRefused('no_access');
  return access;
}

const personColumns = ['people.user_id', 'people.name', 'people.status', 'people.end_on'] as const;

const findLinked = (db: Transaction<Tables>, { iss, sub }: Claims) =>
  db
    .selectFrom('identities')
    .innerJoin('people', 'people.user_id', 'identities.user_id')
    .select(personColumns)
    .where('identities.issuer', '=', iss)
    .where('identities.subject', '=', sub)
    .executeTakeFirst();

/** Links an account to the person with its address, who has no account yet, or to a new person. */
async function link(db: Transaction<Tables>, settings: OidcSettings, claims: Claims, moment: Moment) {
  const { iss, sub, email } = claims;
  if (typeof email !== 'string' || !isVerified(settings, claims)) throw new SignInRefused('not_verified');
  const existing = await db
    .selectFrom('people')
    .leftJoin('identities', 'identities.user_id', 'people.user_id')
    .select([...personColumns, 'people.kind', 'identities.subject'])
    .where((eb) => eb(eb.fn('lower', ['people.email']), '=', lowerAscii(email)))
    .executeTakeFirst();
  const isEligible =
    existing?.status === 'active' &&
    existing.subject === null &&
    ['human', 'external'].includes(existing.kind);
  if (existing ? !isEligible : !settings.addsPeople) throw new SignInRefused('unknown_person');
  const person = existing ?? (await addPerson(db, claims, email, moment));
  const { user_id } = person;
  await db
    .insertInto('identities')
    .values({ issuer: iss, subject: sub, user_id, created_at: moment.now })
    .execute();
  return person;
}

async function addPerson(db: Transaction<Tables>, { name }: Claims, email: string, moment: Moment) {
  const known =
    typeof name === 'string'
      ? normalize(name)
          .replace(/[\n\t]/g, ' ')
          .slice(0, 200)
      : '';
  return createPerson(db, { name: known || email, email }, bySystem(moment, reason));
}

/** Access that came from a claim is replaced, or ends when nothing matches. Access that an administrator gave stays. */
async function updateAccess(
  db: Transaction<Tables>,
  settings: OidcSettings,
  claims: Claims,
  person: { user_id: string; name: string },
  moment: Moment,
): Promise<Access | undefined> {
  const current = await findAccess(db, person.user_id);
  if (current?.source === 'manual' || !decidesAccess(settings)) return current;
  const scopes = scopesOf(settings, claims);
  const change = bySystem(moment, reason);
  if (scopes) return setAccess(db, person, { scopes, project_ids: null, source: 'oidc' }, change);
  await endAccess(db, person, change);
  return undefined;
}

function assertDomain({ domains }: OidcSettings, { email }: Claims): void {
  if (domains.length === 0) return;
  const domain =
    String(email ?? '')
      .split('@')
      .at(-1)
      ?.toLowerCase() ?? '';
  if (!domains.includes(domain)) throw new SignInRefused('domain');
}

const isVerified = ({ trustsEmail }: OidcSettings, { email_verified: verified }: Claims) =>
  verified === true || String(verified) === 'true' || (verified === undefined && trustsEmail);
