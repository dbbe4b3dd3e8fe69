import type { FastifyRequest } from 'fastify';
import type { Transaction } from 'kysely';
import type { SignInWay } from '../../resources/sessions/schema.ts';
import { type Actor, findKey, findPerson } from '../../store/access/actors.ts';
import { hashSecret } from '../../store/access/secret.ts';
import { type Client, endSessions, startSession } from '../../store/access/sessions.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change } from '../../store/writes/change.ts';
import { lockTables } from '../../store/writes/locks.ts';
import { describeBrowser } from './browsers.ts';

/** A session whose access follows from a claim of the identity provider ends after a day, so that the claim is read again. */
const maxHoursOfClaim = 24;

type Options = {
  way: SignInWay;
  /** The hash of the token of an earlier session, where the browser does not send its cookie. */
  previous?: string | null;
  provider_session?: string | null;
  id_token?: string | null;
};

/**
 * Starts a session in the browser that sent the request, and returns the header that sets its cookie. The token is always
 * a new one, and an earlier session of the browser ends, so that nobody can prepare a session for somebody else.
 */
export async function signIn(
  request: FastifyRequest,
  db: Transaction<Tables>,
  actor: Actor,
  { way, previous = null, ...provider }: Options,
): Promise<string> {
  const { sessionCookie, config } = request.server;
  const { user_id, key_id } = actor;
  await assertStillValid(request, db, actor);
  const change = changeBy(request, actor);
  const sent = sessionCookie.read(request.headers.cookie);
  for (const hash of [previous, sent === undefined ? null : hashSecret(sent)])
    if (hash !== null) await endSessions(db, { hash }, 'replaced', change);
  const expires_at = earliest(
    later(change.now, config.session_days * 24),
    actor.source === 'oidc' ? later(change.now, maxHoursOfClaim) : null,
    actor.expires_at,
  );
  const session = { user_id, key_id, way, expires_at, ...clientOf(request), ...provider };
  const { token } = await startSession(db, session, change);
  return sessionCookie.set(token, expires_at);
}

/**
 * Access may have ended since the password or key was checked. Without the lock, a session that is stored after that would
 * work again if the person got access again.
 */
async function assertStillValid(
  request: FastifyRequest,
  db: Transaction<Tables>,
  { user_id, key_id }: Actor,
): Promise<void> {
  await lockTables(db, 'access');
  const current = key_id === null ? await findPerson(db, user_id) : await findKey(db, key_id);
  if (current?.ended !== null) throw request.server.failedAttempts(request, 'Your access has ended.');
}

/** A change that somebody makes by signing in, or before. */
export const changeBy = ({ moment }: FastifyRequest, actor: Actor): Change => {
  const { user_id, key_id, name, scopes, project_ids } = actor;
  return { ...moment, user_id, key_id, name, scopes, project_ids };
};

/** The browser that sent the request. */
export const clientOf = ({ raw, headers, server }: FastifyRequest): Client => ({
  address: server.addressOf(raw),
  browser: describeBrowser(headers['user-agent']),
});

const later = (now: string, hours: number) => new Date(Date.parse(now) + hours * 3_600_000).toISOString();

const earliest = (...times: (string | null)[]) => times.filter((time) => time !== null).sort()[0] as string;
