import type { Configuration, IDToken, ServerMetadata } from 'openid-client';
import type { App } from '../../../http/fastify.ts';
import { describeFailure } from './failures.ts';
import { type OidcSettings, oidcSettings } from './settings.ts';

/** A provider that does not answer must not keep people waiting who could sign in in another way. */
const timeoutSeconds = 5;

/** The clocks of the two machines may differ by as much. */
export const clockToleranceSeconds = 60;

export const callbackPath = '/v1/session/oidc/callback';

/** Loaded by the first request that needs it. */
export const openidClient = () => import('openid-client');

const metadata = new WeakMap<App, Promise<ServerMetadata>>();

/**
 * The client of the identity provider. The metadata of the provider is read once, by the first sign-in that reaches it; the
 * keys that sign its tokens are read by every sign-in, so that new ones work at once.
 */
export async function openProvider(app: App, settings: OidcSettings): Promise<Configuration> {
  const client = await openidClient();
  const { issuer, clientId, clientSecret } = settings;
  const authentication = clientSecret === undefined ? client.None() : client.ClientSecretPost(clientSecret);
  const options = { [client.clockTolerance]: clockToleranceSeconds };
  const isPlain = issuer.startsWith('http:');
  const discover = async () => {
    const execute = isPlain ? [client.allowInsecureRequests] : [];
    const found = await client.discovery(new URL(issuer), clientId, options, authentication, {
      execute,
      timeout: timeoutSeconds,
    });
    return found.serverMetadata();
  };
  const known = metadata.get(app) ?? discover();
  metadata.set(app, known);
  known.catch(() => metadata.delete(app));
  const server = await known;
  const method = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const usesBasic = clientSecret !== undefined && !method.includes('client_secret_post');
  const config = new client.Configuration(
    server,
    clientId,
    options,
    usesBasic ? client.ClientSecretBasic(clientSecret) : authentication,
  );
  config.timeout = timeoutSeconds;
  if (isPlain) client.allowInsecureRequests(config);
  // The signature of the ID token is checked, although it comes from the provider over https.
  client.enableNonRepudiationChecks(config);
  return config;
}

/** The page of the provider that ends its session, and then returns to the sign-in page; null if it has none. */
export async function signOutUrl(app: App, id_token: string): Promise<string | null> {
  const settings = oidcSettings(app.config);
  if (!settings) return null;
  try {
    const config = await openProvider(app, settings);
    if (config.serverMetadata().end_session_endpoint === undefined) return null;
    const { buildEndSessionUrl } = await openidClient();
    return buildEndSessionUrl(config, {
      id_token_hint: id_token,
      post_logout_redirect_uri: `${app.baseUrl}/sign-in?signed_out`,
    }).href;
  } catch (error) {
    app.log.warn(describeFailure(error));
    return null;
  }
}

export type Claims = IDToken & Record<string, unknown>;

/** The claims about a person. Some providers send the address and the groups only as user information. */
export async function readClaims(
  config: Configuration,
  settings: OidcSettings,
  tokens: { claims(): IDToken | undefined; access_token: string },
): Promise<Claims> {
  const claims = tokens.claims() as Claims;
  const { access, claim, addsPeople, trustsEmail } = settings;
  const needed = ['email'];
  if (!trustsEmail) needed.push('email_verified');
  if (access.length > 0) needed.push(claim);
  if (addsPeople) needed.push('name');
  const isComplete = needed.every((name) => Object.hasOwn(claims, name));
  if (isComplete || config.serverMetadata().userinfo_endpoint === undefined)
    return complete(settings, claims);
  const { fetchUserInfo } = await openidClient();
  const info = await fetchUserInfo(config, tokens.access_token, claims.sub);
  return complete(settings, { ...info, ...claims });
}

/**
 * Throws if the provider says only where the values of the claim are, as Entra ID does for people in many groups. Without
 * them the access would end.
 */
function complete({ access, claim }: OidcSettings, claims: Claims): Claims {
  const references = claims._claim_names;
  const isReference = typeof references === 'object' && references !== null && claim in references;
  if (access.length === 0 || !isReference) return claims;
  throw new Error(
    `The identity provider sent a reference instead of ${claim}. Let it send only groups assigned to the application, or roles.`,
  );
}
