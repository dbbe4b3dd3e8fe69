import type { FastifyRequest } from 'fastify';
import type { Transaction } from 'kysely';
import { Value } from 'typebox/value';
import type { Moment } from '../../../core/clock.ts';
import { Problem } from '../../../core/errors.ts';
import { Email, Line } from '../../../core/schemas.ts';
import { lowerAscii, normalize } from '../../../core/text.ts';
import { endAccess, findAccess, setAccess } from '../../../store/access/access.ts';
import type { Tables } from '../../../store/tables.ts';
import { bySystem } from '../../../store/writes/change.ts';
import { lockTables } from '../../../store/writes/locks.ts';
import type { Access } from '../../access/schema.ts';
import { createPerson } from '../../personnel/queries.ts';
import type { SignInProblem } from '../schema.ts';
import type { Claims } from './provider.ts';
import { type OidcSettings, scopesOf } from './settings.ts';

/** A sign-in that ended with a reason that the sign-in page explains. */
export class SignInRefused extends Error {
  override readonly name = 'SignInRefused';
  readonly problem: SignInProblem;
  /** The person, if they are known. */
  readonly user_id: string | null;

  constructor(problem: SignInProblem, user_id: string | null = null) {
    super(problem);
    this.problem = problem;
    this.user_id = user_id;
  }
}

const reason = 'Signed in through the identity provider.';

type Request = Pick<FastifyRequest, 'moment' | 'log'>;

/**
 * Finds the person whom the claims are about, and updates their access. They are found by the account at the provider; the
 * first time by a verified e-mail address, which links the account to them. Without `access` the sign-in is refused, but
 * the transaction must commit: the access may have ended just now.
 */
export async function findByClaims(
  db: Transaction<Tables>,
  settings: OidcSettings,
  claims: Claims,
  request: Request,
): Promise<{ user_id: string; access: Access | undefined }> {
  const { moment } = request;
  assertDomain(settings, claims);
  // Before the person is created or changed, as everything that does so.
  await lockTables(db, 'access', 'people');
  const person = (await findLinked(db, claims)) ?? (await link(db, settings, claims, moment));
  const { user_id } = person;
  if (!canSignIn(person, moment)) return { user_id, access: undefined };
  return { user_id, access: await updateAccess(db, settings, claims, person, request) };
}

const personColumns = [
  'people.user_id',
  'people.name',
  'people.kind',
  'people.status',
  'people.end_on',
] as const;

type FoundPerson = { kind: string; status: string; end_on: string | null };

/** Agents never sign in, even if the account was linked before the person became one. */
const canSignIn = ({ kind, status, end_on }: FoundPerson, { today }: Moment) =>
  status === 'active' && (kind === 'human' || kind === 'external') && (end_on === null || end_on >= today);

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
  const { iss, sub } = claims;
  const email = typeof claims.email === 'string' ? normalize(claims.email) : '';
  if (!Value.Check(Email(), email) || !isVerified(settings, claims)) throw new SignInRefused('not_verified');
  const existing = await db
    .selectFrom('people')
    .leftJoin('identities', 'identities.user_id', 'people.user_id')
    .select([...personColumns, 'identities.subject'])
    .where((eb) => eb(eb.fn('lower', ['people.email']), '=', lowerAscii(email)))
    .executeTakeFirst();
  const isEligible = existing?.subject === null && canSignIn(existing, moment);
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
  const line = typeof name === 'string' ? normalize(name.replace(/[\n\t]/g, ' ')) : '';
  const shortened = [...line].slice(0, 200).join('').trim();
  const input = { name: Value.Check(Line(), shortened) ? shortened : email, email };
  return createPerson(db, input, bySystem(moment, reason));
}

/** Access that came from a claim is replaced, or ends when nothing matches. Access that an administrator gave stays. */
async function updateAccess(
  db: Transaction<Tables>,
  settings: OidcSettings,
  claims: Claims,
  person: { user_id: string; name: string },
  { moment, log }: Request,
): Promise<Access | undefined> {
  const current = await findAccess(db, person.user_id);
  if (current?.source === 'manual') return current;
  const scopes = scopesOf(settings, claims);
  const change = bySystem(moment, reason);
  try {
    if (scopes) return await setAccess(db, person, { scopes, project_ids: null, source: 'oidc' }, change);
    await endAccess(db, person, change, { keepsAccount: true });
    return undefined;
  } catch (error) {
    // Nothing was changed: somebody must be able to manage access.
    if (!(error instanceof Problem && error.code === 'in_use')) throw error;
    log.warn(`The claims of ${person.user_id} give less access, but it stays: ${error.message}`);
    return current;
  }
}

function assertDomain({ domains }: OidcSettings, { email }: Claims): void {
  if (domains.length === 0) return;
  const domain = typeof email === 'string' ? email.split('@').at(-1)?.toLowerCase() : undefined;
  if (domain === undefined || !domains.includes(domain)) throw new SignInRefused('domain');
}

const isVerified = ({ trustsEmail }: OidcSettings, { email_verified: verified }: Claims) =>
  verified === true || verified === 'true' || (verified === undefined && trustsEmail);
