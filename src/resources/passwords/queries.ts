import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Kysely, Transaction } from 'kysely';
import { fieldError, invalidBody, notFound, Problem } from '../../core/errors.ts';
import { lowerAscii } from '../../core/text.ts';
import { type FindActor, placeOf } from '../../http/auth/sign-in.ts';
import type { Turn } from '../../http/auth/sign-in-queue.ts';
import { addAccessEvent, removeWayIn } from '../../store/access/access.ts';
import { findPerson } from '../../store/access/actors.ts';
import { findKnownClient, forgetClients } from '../../store/access/known-clients.ts';
import { endSessions } from '../../store/access/sessions.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change } from '../../store/writes/change.ts';
import { lockTables } from '../../store/writes/locks.ts';
import type { Access } from '../access/schema.ts';
import { hashPassword, verifyPassword } from './hash.ts';
import { passwordErrors } from './rules.ts';

/** The same for every failure, so that nobody learns who has an account. */
const wrong =
  'That e-mail address and password do not match. Check both, or ask your administrator for a new link.';

/**
 * Attempts of one place at one account without a delay. From then on the delay doubles with each failure, from a second to
 * the maximum. While many places guess, those where nobody has signed in to the account before have longer ones.
 */
const delays = { freeAttempts: 5, maxSeconds: 60 };
const delaysWhileGuessed = { freeAttempts: 1, maxSeconds: 900 };
const manyFailures = 100;

/**
 * Finds the person with this address and password, or throws. Whether there is such an account makes no difference, in
 * the response or in the time it takes.
 */
export async function findByPassword(
  request: FastifyRequest,
  email: string,
  password: string,
): Promise<FindActor> {
  const { database, config, failedSignIns, failedAttempts } = request.server;
  const stored = config.passwords ? await findHash(database.db, email) : undefined;
  const user_id = stored?.user_id ?? null;
  const attempt = await attemptOf(request, lowerAscii(email), user_id ?? '');
  if (await checkPassword(request, attempt, password, stored?.hash)) {
    const actor = await findPerson(database.db, user_id);
    // The password may be changed before the session is stored, which would end all sessions but this one.
    if (actor)
      return async (db) =>
        (await findHash(db, email))?.hash === stored?.hash ? findPerson(db, user_id) : undefined;
  }
  await failedSignIns.record(request, { user_id, way: 'password' });
  throw failedAttempts(request, wrong);
}

/** An attempt is counted for its place and, where nobody has signed in before, for the account as well. */
type Attempt = { turn: Turn; counters: readonly [string, ...string[]] };

async function attemptOf(request: FastifyRequest, email: string, user_id: string): Promise<Attempt> {
  const { raw, moment, server } = request;
  const place = placeOf(request);
  const known = await findKnownClient(server.database.db, user_id, place, moment.now);
  const isGone = () => raw.socket.destroyed;
  const counterOf = (...parts: string[]) => hash('sha256', JSON.stringify([email, ...parts]), 'hex');
  if (known === 'browser') {
    const of = counterOf('browser', place.device ?? '');
    return { turn: { of, isKnown: true, isGone }, counters: [of] };
  }
  const { network } = place;
  const ofPlace = counterOf('network', network);
  return known === 'network'
    ? { turn: { of: `${network} ${user_id}`, network, isKnown: true, isGone }, counters: [ofPlace] }
    : { turn: { of: network, isKnown: false, isGone }, counters: [ofPlace, counterOf()] };
}

/** Whether the password is right. Throws if the next attempt must wait. */
async function checkPassword(
  request: FastifyRequest,
  { turn, counters }: Attempt,
  password: string,
  stored: string | undefined,
): Promise<boolean> {
  const { database, signInQueue, clock, load } = request.server;
  // An attempt that must wait needs no turn.
  assertNoDelay(await readFailures(database.db, counters), counters, clock().now);
  const turnTaken = signInQueue.run(turn, async () => {
    await database.write((db) => countAttempt(db, counters, clock().now));
    return verifyPassword(password, stored);
  });
  const isRight = await load.whileWaiting(request.raw, turnTaken);
  if (isRight) await database.write((db) => uncountAttempt(db, counters));
  return isRight;
}

/**
 * Throws unless the person knows the current password, or has just signed in in another way that they still have: a browser
 * that was left open, or the cookie of a session, must not be enough to take an account over.
 */
export async function confirmPassword(
  request: FastifyRequest,
  { user_id, email }: Access,
  current: string | undefined,
): Promise<void> {
  const { actor, server } = request;
  const { way } = actor.session ?? {};
  if (way === 'passkey') return;
  const stored = await server.database.db
    .selectFrom('passwords')
    .select('hash')
    .where('user_id', '=', user_id)
    .executeTakeFirst();
  if (!stored && way !== 'password') return;
  if (!stored)
    throw new Problem('sign_in_again', 'You signed in with a password that is gone. Sign in in another way.');
  if (current === undefined) {
    const detail = 'Enter your current password, or sign in with a passkey.';
    throw invalidBody([fieldError('current_password', 'required', detail)]);
  }
  const attempt = await attemptOf(request, lowerAscii(email ?? ''), user_id);
  if (await checkPassword(request, attempt, current, stored.hash)) return;
  await server.failedSignIns.record(request, { user_id, way: 'password' });
  throw invalidBody([fieldError('current_password', 'wrong', 'This is not your current password.')]);
}

/** Sets the password of a person who has access. Their other sessions end. Returns a function, because hashing takes long. */
export async function preparePassword(
  { signInQueue }: FastifyInstance,
  password: string,
  person: { user_id: string; name: string; email: string | null },
) {
  const errors = passwordErrors(password, person);
  if (errors.length > 0) throw invalidBody(errors);
  const turn = { of: person.user_id, isKnown: true };
  const hashed = await signInQueue.run(turn, () => hashPassword(password));
  return async (
    db: Transaction<Tables>,
    access: Access,
    change: Change,
    exceptId?: string,
  ): Promise<void> => {
    const { user_id } = person;
    const row = { user_id, hash: hashed, set_at: change.now };
    await db
      .insertInto('passwords')
      .values(row)
      .onConflict((conflict) => conflict.column('user_id').doUpdateSet(row))
      .execute();
    await endSessions(db, { user_id }, 'replaced', change, { exceptId });
    await forgetClients(db, user_id);
    addAccessEvent(db, access, 'access.password_set', change);
  };
}

/** Removes the password of a person who has another way in. */
export async function removePassword(
  db: Transaction<Tables>,
  access: Access,
  change: Change,
  exceptId?: string,
): Promise<void> {
  const { user_id, ways } = access;
  if (!ways.includes('password')) throw notFound('password of', user_id);
  if (ways.length === 1)
    throw new Problem('in_use', 'The password is your only way to sign in. Add a passkey first.');
  const remove = () => db.deleteFrom('passwords').where('user_id', '=', user_id).execute();
  await removeWayIn(db, access, 'password', remove, change, exceptId);
}

const findHash = (db: Kysely<Tables>, email: string) =>
  db
    .selectFrom('passwords')
    .innerJoin('people', 'people.user_id', 'passwords.user_id')
    .select(['passwords.user_id', 'passwords.hash'])
    .where((eb) => eb(eb.fn('lower', ['people.email']), '=', lowerAscii(email)))
    .executeTakeFirst();

type Failures = Pick<Tables['sign_in_failures'], 'account' | 'failures' | 'last_at'>;

const readFailures = (db: Kysely<Tables>, counters: readonly string[]): Promise<Failures[]> =>
  db
    .selectFrom('sign_in_failures')
    .select(['account', 'failures', 'last_at'])
    .where('account', 'in', counters)
    .execute();

/** Counts an attempt before it is made, so that many at once are not all the first. */
async function countAttempt(
  db: Transaction<Tables>,
  counters: Attempt['counters'],
  now: string,
): Promise<void> {
  await lockTables(db, 'sign_in_failures');
  const rows = await readFailures(db, counters);
  assertNoDelay(rows, counters, now);
  for (const account of counters) {
    const failures = (rows.find((row) => row.account === account)?.failures ?? 0) + 1;
    const counted = { account, failures, last_at: now };
    await db
      .insertInto('sign_in_failures')
      .values(counted)
      .onConflict((conflict) => conflict.column('account').doUpdateSet(counted))
      .execute();
  }
}

/** Forgets the failures of the place. Those of others stay, but this attempt was none. */
async function uncountAttempt(
  db: Transaction<Tables>,
  [ofPlace, ofAccount = '']: Attempt['counters'],
): Promise<void> {
  await lockTables(db, 'sign_in_failures');
  await db.deleteFrom('sign_in_failures').where('account', '=', ofPlace).execute();
  await db
    .updateTable('sign_in_failures')
    .set((eb) => ({ failures: eb('failures', '-', 1) }))
    .where('account', '=', ofAccount)
    .execute();
}

function assertNoDelay(
  rows: readonly Failures[],
  [ofPlace, ofAccount]: Attempt['counters'],
  now: string,
): void {
  const own = rows.find(({ account }) => account === ofPlace);
  if (!own) return;
  const inAll = rows.find(({ account }) => account === ofAccount)?.failures ?? 0;
  const { freeAttempts, maxSeconds } = inAll < manyFailures ? delays : delaysWhileGuessed;
  if (own.failures < freeAttempts) return;
  const delayMs = Math.min(2 ** (own.failures - freeAttempts), maxSeconds) * 1000;
  // An attempt that another clock puts far into the future delays nobody until then.
  const waitMs = delayMs - Math.abs(Date.parse(now) - Date.parse(own.last_at));
  if (waitMs <= 0) return;
  const seconds = String(Math.ceil(waitMs / 1000));
  throw new Problem(
    'rate_limited',
    `Too many failed attempts to sign in to this account. Try again in ${seconds} s.`,
    { headers: { 'retry-after': seconds } },
  );
}
