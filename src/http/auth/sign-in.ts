import type { FastifyRequest } from 'fastify';
import type { Transaction } from 'kysely';
import { networkOf } from '../../core/network/addresses.ts';
import type { SignInWay } from '../../resources/sessions/schema.ts';
import type { Actor } from '../../store/access/actors.ts';
import { type Place, rememberClient } from '../../store/access/known-clients.ts';
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

/** Finds who signs in, under the lock on the access of everybody. */
export type FindActor = (db: Transaction<Tables>) => Promise<Actor | undefined>;

/**
 * Starts a session in the browser that sent the request, and returns the headers that set its cookies. The token is always
 * a new one, and an earlier session of the browser ends, so that nobody can prepare a session for somebody else.
 * `find` compares once more what the person signed in with: it may have been changed since it was checked, and whoever
 * changed it ended only the sessions of that moment.
 */
export async function signIn(
  request: FastifyRequest,
  db: Transaction<Tables>,
  find: FindActor,
  { way, previous = null, ...provider }: Options,
): Promise<string[]> {
  const { sessionCookie, config } = request.server;
  await lockTables(db, 'access');
  const actor = await find(db);
  if (actor?.ended !== null)
    throw request.server.failedAttempts(request, 'What you signed in with no longer works.');
  const { user_id, key_id } = actor;
  const change = changeBy(request, actor);
  const sent = sessionCookie.read(request.headers.cookie);
  for (const hash of [previous, sent === undefined ? null : hashSecret(sent)])
    if (hash !== null) await endSessions(db, { hash }, 'replaced', change);
  const expires_at = earliest(
    later(change.now, config.session_days * 24),
    actor.source === 'oidc' ? later(change.now, maxHoursOfClaim) : null,
    actor.expires_at,
    actor.secret_until,
  );
  const session = { user_id, key_id, way, expires_at, ...clientOf(request), ...provider };
  const { token } = await startSession(db, session, change);
  const cookies = [sessionCookie.set(token, expires_at)];
  if (user_id !== null && key_id === null) cookies.push(await rememberBrowser(request, db, user_id));
  return cookies;
}

/**
 * Makes the browser one that has signed in to the account, and returns the header that sets its device cookie (OWASP: "Slow
 * down online guessing attacks with device cookies").
 */
async function rememberBrowser(
  request: FastifyRequest,
  db: Transaction<Tables>,
  user_id: string,
): Promise<string> {
  const { server, moment } = request;
  const { secret, expires_at } = await rememberClient(db, user_id, placeOf(request), moment.now);
  return server.deviceCookie.set(secret, expires_at);
}

/** The browser and the network that sent the request. */
export const placeOf = (request: FastifyRequest): Place => ({
  device: request.server.deviceCookie.read(request.headers.cookie),
  network: networkOfClient(request),
});

/** The unit by which failed sign-ins are counted: an IPv4 address, or a site with IPv6. */
export const networkOfClient = ({ raw, server }: FastifyRequest) => networkOf(server.addressOf(raw), 48);

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
