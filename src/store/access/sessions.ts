import { type Kysely, sql, type Transaction } from 'kysely';
import { newId } from '../../core/ids.ts';
import { rowAsJson } from '../../database/sql/rows.ts';
import type { EventType } from '../../resources/events/schema.ts';
import type { SignInProblem } from '../../resources/session/schema.ts';
import {
  type EndReason,
  Session,
  type SessionEvent,
  type SignInWay,
  sessionResource,
} from '../../resources/sessions/schema.ts';
import type { Tables } from '../tables.ts';
import type { Change } from '../writes/change.ts';
import { addEvent, subjectOf } from '../writes/events.ts';
import { lockTables } from '../writes/locks.ts';
import { insertRows } from '../writes/rows.ts';
import { touchAccess } from '../writes/tracker.ts';
import { hashSecret, newSecret } from './secret.ts';

/** The browser that signs in. */
export type Client = { address: string; browser: string };

export type SignIn = Client & {
  /** A session is of a person, or of the key that was used to sign in. */
  user_id: string | null;
  key_id: string | null;
  way: SignInWay;
  /** When the session ends at the latest. */
  expires_at: string;
  provider_session?: string | null;
  id_token?: string | null;
};

/** Starts a session. Returns its token, which is not stored: the database has only its hash. */
export async function startSession(
  db: Transaction<Tables>,
  { provider_session = null, id_token = null, ...signIn }: SignIn,
  change: Change,
): Promise<{ id: string; token: string }> {
  const token = newSecret('session');
  const { now } = change;
  const session = { id: newId('session'), ...signIn, created_at: now, last_seen_at: now };
  await insertRows(db, 'sessions', [{ ...session, hash: hashSecret(token), provider_session, id_token }]);
  addSessionEvent(db, 'session.started', { ...session, reason: null }, change);
  return { id: session.id, token };
}

/** Records that somebody failed to sign in, `count` times. `user_id` is null if there is no such account. */
export function recordFailure(
  db: Transaction<Tables>,
  failed: Client & { user_id: string | null; way: SignInWay; problem?: SignInProblem; count: number },
  change: Change,
): void {
  const { now } = change;
  const times = { created_at: now, last_seen_at: now, expires_at: now };
  const session = { id: newId('session'), key_id: null, ...failed, ...times, reason: null };
  addSessionEvent(db, 'session.failed', session, change);
}

/**
 * Ends the sessions with all of these values, such as those of a person, from the next request on. Returns how many. Lock
 * the table `access` before: statements that change several sessions take the rows in any order.
 */
export async function endSessions(
  db: Transaction<Tables>,
  ended: { [Column in 'id' | 'hash' | 'user_id' | 'key_id' | 'way' | 'provider_session']?: string },
  reason: EndReason,
  change: Change,
  kept: { exceptId?: string | undefined } = {},
): Promise<number> {
  const conditions = Object.entries(ended) as ['id', string][];
  const sessions = await db
    .deleteFrom('sessions')
    .where((eb) => eb.and(conditions.map(([column, value]) => eb(column, '=', value))))
    .$if(kept.exceptId !== undefined, (query) => query.where('id', '<>', kept.exceptId ?? ''))
    .returning(eventColumns)
    .execute();
  for (const session of sessions) addSessionEvent(db, 'session.ended', { ...session, reason }, change);
  if (sessions.length > 0) touchAccess(db);
  return sessions.length;
}

const eventColumns = Object.keys(Session.properties).filter((name) => name !== 'is_current') as (keyof Omit<
  Session,
  'is_current'
>)[];

const sessionSubject = subjectOf(sessionResource, () =>
  rowAsJson(Session, 'sessions', { is_current: sql`null` }),
);

const addSessionEvent = (db: Transaction<Tables>, type: EventType, data: SessionEvent, change: Change) =>
  addEvent(db, {
    subject: sessionSubject,
    subject_id: data.id,
    at: change.now,
    change,
    differences: {},
    type,
    given: { data: { ...data, problem: data.problem ?? null, count: data.count ?? null } },
  });

type ExpiryTimes = { now: string; idleSince: string; failedBefore: string };

/** The rows that can no longer be used. */
const expiredRows = ({ now, idleSince, failedBefore }: ExpiryTimes) =>
  [
    ['sessions', 'expires_at', now],
    ['sessions', 'last_seen_at', idleSince],
    ['links', 'expires_at', now],
    ['challenges', 'expires_at', now],
    ['logout_tokens', 'expires_at', now],
    ['known_clients', 'expires_at', now],
    ['sign_in_failures', 'last_at', failedBefore],
  ] as const;

export async function deleteExpired(db: Transaction<Tables>, times: ExpiryTimes): Promise<number> {
  // Another instance may delete the same rows, and whoever signs in may replace some of them.
  await lockTables(db, 'access', 'sign_in_failures');
  let deleted = 0;
  for (const [table, column, before] of expiredRows(times)) {
    const { numDeletedRows } = await db
      .deleteFrom(table as 'sessions')
      .where(column as 'expires_at', '<', before)
      .executeTakeFirstOrThrow();
    deleted += Number(numDeletedRows);
  }
  return deleted;
}

/** Whether there is anything to delete, which needs no write transaction. */
export async function hasExpired(db: Kysely<Tables>, times: ExpiryTimes): Promise<boolean> {
  for (const [table, column, before] of expiredRows(times)) {
    const row = await db
      .selectFrom(table as 'sessions')
      .select(column as 'expires_at')
      .where(column as 'expires_at', '<', before)
      .limit(1)
      .executeTakeFirst();
    if (row) return true;
  }
  return false;
}
