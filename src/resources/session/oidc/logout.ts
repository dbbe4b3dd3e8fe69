import { createRemoteJWKSet, jwtVerify } from 'jose';
import type { Transaction } from 'kysely';
import { Problem, unavailable } from '../../../core/errors.ts';
import type { App } from '../../../http/fastify.ts';
import { hashSecret } from '../../../store/access/secret.ts';
import { endSessions } from '../../../store/access/sessions.ts';
import type { Tables } from '../../../store/tables.ts';
import { bySystem } from '../../../store/writes/change.ts';
import { lockTables } from '../../../store/writes/locks.ts';
import { describeFailure, isUnavailable } from './failures.ts';
import { openProvider } from './provider.ts';
import type { OidcSettings } from './settings.ts';

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';

/** How long a token is remembered after it was used. Tokens that are older than this are rejected. */
const maxTokenMinutes = 15;

type KeySet = ReturnType<typeof createRemoteJWKSet>;

/** Kept, so that forged notices do not cause a request each; read again when a notice is signed with an unknown key. */
const keySets = new WeakMap<App, KeySet>();

/** Ends the sessions that a sign-out notice of the identity provider names (OpenID Connect Back-Channel Logout 1.0). */
export async function processLogout(app: App, settings: OidcSettings, token: string): Promise<void> {
  const { issuer, payload } = await verifyNotice(app, settings, token).catch((error) => {
    app.log.warn(describeFailure(error));
    throw isUnavailable(error)
      ? unavailable('The identity provider cannot be reached to check the `logout_token`.', 5)
      : invalidNotice();
  });
  const { sub, sid, jti, events, nonce } = payload;
  const isLogout = typeof events === 'object' && events !== null && logoutEvent in events;
  const isText = [sub, sid].every((claim) => claim === undefined || typeof claim === 'string');
  if (
    !isLogout ||
    nonce !== undefined ||
    !isText ||
    (sub === undefined && sid === undefined) ||
    typeof jti !== 'string'
  )
    throw invalidNotice();
  const moment = app.clock();
  const change = bySystem(moment, 'Signed out at the identity provider.');
  const expires_at = new Date(Date.parse(moment.now) + 2 * maxTokenMinutes * 60_000).toISOString();
  await app.database.write(async (db) => {
    await lockTables(db, 'access');
    await rememberToken(db, `${issuer} ${jti}`, expires_at);
    if (typeof sid === 'string') await endSessions(db, { provider_session: sid }, 'provider', change);
    const sessions = await sessionsOf(db, issuer, sub);
    // A notice about one session also ends those of which it is not known to which session of the provider they belong.
    for (const { id, provider_session } of sessions)
      if (sid === undefined || provider_session === null) await endSessions(db, { id }, 'provider', change);
  });
}

async function verifyNotice(app: App, settings: OidcSettings, token: string) {
  const config = await openProvider(app, settings);
  const { issuer, jwks_uri = '' } = config.serverMetadata();
  const keys =
    keySets.get(app) ??
    createRemoteJWKSet(new URL(jwks_uri), { timeoutDuration: 5000, cooldownDuration: 5000 });
  keySets.set(app, keys);
  const { payload } = await jwtVerify(token, keys, {
    issuer,
    audience: settings.clientId,
    clockTolerance: 60,
    maxTokenAge: maxTokenMinutes * 60,
    requiredClaims: ['iat', 'exp', 'jti', 'events'],
  });
  return { issuer, payload };
}

/** The sessions that the account at the provider has started. */
const sessionsOf = (db: Transaction<Tables>, issuer: string, subject = '') =>
  db
    .selectFrom('sessions')
    .innerJoin('identities', 'identities.user_id', 'sessions.user_id')
    .select(['sessions.id', 'sessions.provider_session'])
    .where('identities.issuer', '=', issuer)
    .where('identities.subject', '=', subject)
    .where('sessions.way', '=', 'oidc')
    .execute();

/** Throws if the token was used before. */
async function rememberToken(db: Transaction<Tables>, id: string, expires_at: string): Promise<void> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('logout_tokens')
    .values({ hash: hashSecret(id), expires_at })
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows === 0n) throw invalidNotice();
}

const invalidNotice = () =>
  new Problem('malformed_request', 'The `logout_token` is not valid here, or was used before.');
