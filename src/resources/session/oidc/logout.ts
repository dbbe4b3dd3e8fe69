import { createRemoteJWKSet, jwtVerify } from 'jose';
import type { Transaction } from 'kysely';
import { Problem } from '../../../core/errors.ts';
import type { App } from '../../../http/fastify.ts';
import { hashSecret } from '../../../store/access/secret.ts';
import { endSessions } from '../../../store/access/sessions.ts';
import type { Tables } from '../../../store/tables.ts';
import { bySystem } from '../../../store/writes/change.ts';
import { openProvider } from './provider.ts';
import type { OidcSettings } from './settings.ts';

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';

/** How long a token is remembered after it was used. Tokens that are older than this are rejected. */
const maxTokenMinutes = 15;

/** Ends the sessions that a sign-out notice of the identity provider names (OpenID Connect Back-Channel Logout 1.0). */
export async function processLogout(app: App, settings: OidcSettings, token: string): Promise<void> {
  const config = await openProvider(app, settings);
  const { issuer, jwks_uri = '' } = config.serverMetadata();
  const { payload } = await jwtVerify(
    token,
    createRemoteJWKSet(new URL(jwks_uri), { timeoutDuration: 5000 }),
    {
      issuer,
      audience: settings.clientId,
      clockTolerance: 60,
      maxTokenAge: maxTokenMinutes * 60,
      requiredClaims: ['iat', 'jti', 'events'],
    },
  ).catch((error) => {
    throw invalidNotice(error);
  });
  const { sub, sid, jti, events, nonce } = payload;
  const isLogout = typeof events === 'object' && events !== null && logoutEvent in events;
  if (!isLogout || nonce !== undefined || (sub === undefined && sid === undefined)) throw invalidNotice();
  const moment = app.clock();
  const change = bySystem(moment, 'Signed out at the identity provider.');
  const expires_at = new Date(Date.parse(moment.now) + 2 * maxTokenMinutes * 60_000).toISOString();
  await app.database.write(async (db) => {
    await rememberToken(db, `${issuer} ${jti}`, expires_at);
    if (typeof sid === 'string') {
      await endSessions(db, { provider_session: sid }, 'provider', change);
      return;
    }
    const identity = await db
      .selectFrom('identities')
      .select('user_id')
      .where('issuer', '=', issuer)
      .where('subject', '=', String(sub))
      .executeTakeFirst();
    if (identity) await endSessions(db, { ...identity, way: 'oidc' }, 'provider', change);
  });
}

/** Throws if the token was used before. */
async function rememberToken(db: Transaction<Tables>, id: string, expires_at: string): Promise<void> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('logout_tokens')
    .values({ hash: hashSecret(id), expires_at })
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows === 0n) throw invalidNotice();
}

const invalidNotice = (cause?: unknown) =>
  new Problem('malformed_request', 'The `logout_token` is not valid here, or was used before.', { cause });
