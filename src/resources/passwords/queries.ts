import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Kysely, Transaction } from 'kysely';
import { invalidBody, notFound, Problem } from '../../core/errors.ts';
import { lowerAscii } from '../../core/text.ts';
import { clientOf, type FindActor } from '../../http/auth/sign-in.ts';
import { addAccessEvent, removeWayIn } from '../../store/access/access.ts';
import { findPerson } from '../../store/access/actors.ts';
import { endSessions, recordFailure } from '../../store/access/sessions.ts';
import type { Tables } from '../../store/tables.ts';
import { bySystem, type Change } from '../../store/writes/change.ts';
import { lockTables } from '../../store/writes/locks.ts';
import type { Access } from '../access/schema.ts';
import { hashPassword, verifyPassword } from './hash.ts';
import { passwordErrors } from './rules.ts';

/** The same for every failure, so that nobody learns who has an account. */
const wrong =
  'That e-mail address and password do not match. Check both, or ask your administrator for a new link.';

/** Attempts without a delay. From then on the delay doubles with each failure. */
const freeAttempts = 5;
const maxDelaySeconds = 60;

/**
 * Finds the person with this address and password, or throws. Whether there is such an account makes no difference, in
 * the response or in the time it takes.
 */
export async function findByPassword(
  request: FastifyRequest,
  email: string,
  password: string,
): Promise<FindActor> {
  const { database, config } = request.server;
  const account = hash('sha256', lowerAscii(email), 'hex');
  await database.write((db) => countAttempt(db, account, request.moment.now));
  const stored = config.passwords ? await findHash(database.db, email) : undefined;
  const isRight = await verifyPassword(password, stored?.hash);
  const actor = await findPerson(database.db, stored?.user_id ?? '');
  const isAllowed = isRight && actor !== undefined;
  const failed = { ...clientOf(request), user_id: stored?.user_id ?? null, way: 'password' as const };
  await database.write(async (db) => {
    if (isAllowed) await db.deleteFrom('sign_in_failures').where('account', '=', account).execute();
    else recordFailure(db, failed, bySystem(request.moment));
  });
  // The password may be changed before the session is stored, which would end all sessions but this one.
  if (isAllowed)
    return async (db) =>
      (await findHash(db, email))?.hash === stored?.hash ? findPerson(db, actor.user_id) : undefined;
  throw request.server.failedAttempts(request, wrong);
}

/** Sets the password of a person who has access. Their other sessions end. Returns a function, because hashing takes long. */
export async function preparePassword(
  password: string,
  person: { user_id: string; name: string; email: string | null },
) {
  const errors = passwordErrors(password, person);
  if (errors.length > 0) throw invalidBody(errors);
  const hashed = await hashPassword(password);
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

/** Counts an attempt before it is made, so that many at once are not all the first. A successful one deletes the count. */
async function countAttempt(db: Transaction<Tables>, account: string, now: string): Promise<void> {
  await lockTables(db, 'sign_in_failures');
  const row = await db
    .selectFrom('sign_in_failures')
    .select(['failures', 'last_at'])
    .where('account', '=', account)
    .executeTakeFirst();
  if (row) assertNoDelay(row, now);
  const counted = { account, failures: (row?.failures ?? 0) + 1, last_at: now };
  await db
    .insertInto('sign_in_failures')
    .values(counted)
    .onConflict((conflict) => conflict.column('account').doUpdateSet(counted))
    .execute();
}

function assertNoDelay({ failures, last_at }: { failures: number; last_at: string }, now: string): void {
  if (failures < freeAttempts) return;
  const delayMs = Math.min(2 ** (failures - freeAttempts), maxDelaySeconds) * 1000;
  const waitMs = Date.parse(last_at) + delayMs - Date.parse(now);
  if (waitMs <= 0) return;
  const seconds = String(Math.ceil(waitMs / 1000));
  throw new Problem(
    'rate_limited',
    `Too many failed attempts to sign in to this account. Try again in ${seconds} s.`,
    { headers: { 'retry-after': seconds } },
  );
}
