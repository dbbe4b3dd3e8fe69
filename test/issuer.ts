import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { type Configuration, type KoaContextWithOIDC, Provider } from 'oidc-provider';

const clientId = 'muster';
export const clientSecret = 'canary-of-the-client-secret';
const callbackPath = '/v1/session/oidc/callback';

type Account = { sub: string; email?: string; email_verified?: boolean; name?: string; groups?: string[] };
type Payload = Record<string, unknown>;
type Cleanup = { after(cleanUp: () => void): void };

/** The settings of a service that uses the issuer. */
export const settingsFor = ({ url }: { url: string }, more: Record<string, string> = {}) => ({
  MUSTER_OIDC_ISSUER: url,
  MUSTER_OIDC_CLIENT_ID: clientId,
  MUSTER_OIDC_CLIENT_SECRET: clientSecret,
  MUSTER_OIDC_SCOPES: 'openid email profile groups',
  ...more,
});

/** Cookies by host, and no redirects of its own: each response can be looked at. */
export class Browser {
  readonly #cookies = new Map<string, Map<string, string>>();

  /** The `Cookie` header for a URL. */
  cookies(url: string): string {
    const stored = this.#cookies.get(new URL(url).hostname) ?? new Map();
    return [...stored].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  async open(url: string, form?: Record<string, string>): Promise<Response> {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: this.cookies(url) },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    const { hostname } = new URL(url);
    const stored = this.#cookies.get(hostname) ?? new Map<string, string>();
    this.#cookies.set(hostname, stored);
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (/; Max-Age=0|; expires=Thu, 01 Jan 1970/i.test(cookie)) stored.delete(name);
      else stored.set(name, value);
    }
    return response;
  }

  /** Follows redirects until the next URL matches. Returns that URL, which is not opened. */
  async follow(start: string, until: (url: URL) => boolean): Promise<string> {
    let url = start;
    for (let hop = 0; hop < 12; hop++) {
      const response = await this.open(url);
      const location = response.headers.get('location');
      if (location === null) throw new Error(`${url} returned ${response.status}: ${await response.text()}`);
      url = new URL(location, url).href;
      if (until(new URL(url))) return url;
    }
    throw new Error(`Too many redirects, the last one to ${url}`);
  }

  /** Goes to the provider and signs in there. Returns the URL to come back to. */
  startSignIn = (origin: string, returnTo?: string, query: Record<string, string> = {}) =>
    this.follow(
      `${origin}/v1/session/oidc/start?${new URLSearchParams({ ...query, ...(returnTo !== undefined && { return_to: returnTo }) })}`,
      ({ pathname, href }) => pathname.endsWith(callbackPath) || href.startsWith(origin),
    );

  /** Comes back from the provider. Returns the path of the next page. */
  async finishSignIn(origin: string, callback: string): Promise<string> {
    const { pathname, search } = new URL(callback);
    if (!pathname.endsWith(callbackPath)) return pathname + search;
    const response = await this.open(`${origin}${callbackPath}${search}`);
    assert.equal(response.status, 303, await response.text());
    assert.equal(response.headers.get('cache-control'), 'no-store');
    const next = new URL(response.headers.get('location') ?? '');
    return next.pathname + next.search;
  }

  /** Signs in from start to end. Returns the path of the page after it, with its query. */
  signIn = async (origin: string, returnTo?: string, query?: Record<string, string>) =>
    this.finishSignIn(origin, await this.startSignIn(origin, returnTo, query));

  /** The headers of a request of a page of the service. */
  headers = (origin: string) => ({ cookie: this.cookies(origin), 'sec-fetch-site': 'same-origin' });
}

async function listen(t: Cleanup, handler: RequestListener): Promise<{ url: string; stop(): void }> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  t.after(stop);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}

type IssuerOptions = {
  /** Whether the ID token contains the claims; otherwise only the user information does. */
  inToken?: boolean;
  /** Whether ID tokens and logout tokens contain `sid`. */
  withSessionId?: boolean;
};

/** Runs `oidc-provider`. Whoever comes to it is signed in as `account` at once. */
export async function startIssuer(t: Cleanup, { inToken = true, withSessionId = true }: IssuerOptions = {}) {
  const state: { account: Account; signIns: number; provider?: Provider; baseUrl?: string } = {
    account: { sub: 'nobody' },
    signIns: 0,
  };
  const accounts = new Map<string, Account>();
  const { url, stop } = await listen(t, async (request, response) => {
    const { provider } = state;
    if (!provider) return response.writeHead(503).end();
    if (!request.url?.startsWith('/interaction/')) return provider.callback()(request, response);
    const login = { accountId: state.account.sub };
    state.signIns++;
    return provider.interactionFinished(request, response, { login }, { mergeWithLastSubmission: false });
  });

  async function createProvider(baseUrl: string, key: object): Promise<void> {
    state.baseUrl = baseUrl;
    state.provider = new Provider(url, {
      clients: [
        {
          client_id: clientId,
          client_secret: clientSecret,
          redirect_uris: [`${baseUrl}${callbackPath}`],
          post_logout_redirect_uris: [`${baseUrl}/sign-in?signed_out`],
          backchannel_logout_uri: `${baseUrl}/v1/session/oidc/backchannel-logout`,
          backchannel_logout_session_required: withSessionId,
          token_endpoint_auth_method: 'client_secret_post',
        },
      ],
      jwks: { keys: [key] },
      cookies: { keys: [randomBytes(32).toString('hex')] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
      conformIdTokenClaims: !inToken,
      features: {
        devInteractions: { enabled: false },
        backchannelLogout: { enabled: true },
        rpInitiatedLogout: {
          enabled: true,
          logoutSource: (ctx, form) => {
            ctx.body = form;
          },
        },
      },
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      findAccount: (_, sub) => ({
        accountId: sub,
        claims: () => ({ ...(accounts.get(sub) ?? { sub }) }),
      }),
      loadExistingGrant: grantEverything,
      // By default it refuses to send sign-out notices to a loopback address.
      fetch: (target, options) => fetch(target, { ...options, dispatcher: undefined } as RequestInit),
      ttl: { Session: 3600, Grant: 3600, Interaction: 600, AccessToken: 600, IdToken: 600 },
    } satisfies Configuration);
  }

  return {
    url,
    stop,
    /** Registers the service, which gets its port after the issuer. */
    register: async (baseUrl: string) => createProvider(baseUrl, await firstKey()),
    /** How often somebody had to sign in, instead of continuing a session of the issuer. */
    signIns: () => state.signIns,
    /** The account that signs in next. */
    use(account: Account) {
      state.account = account;
      accounts.set(account.sub, account);
    },
    /** Signs new tokens with a new key, and publishes only that one. */
    rotateKeys: async () => createProvider(state.baseUrl ?? '', await newKey()),
    /** Signs out at the provider, by its page. Returns where that leads. */
    async signOut(browser: Browser, page: string): Promise<string | null> {
      const form = await (await browser.open(page)).text();
      const [, action = '', xsrf = ''] = /action="([^"]+)".*name="xsrf" value="([^"]+)"/.exec(form) ?? [];
      const response = await browser.open(action, { xsrf, logout: 'yes' });
      return response.headers.get('location');
    },
  };
}

async function newKey() {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: randomBytes(4).toString('hex'), use: 'sig', alg: 'RS256' };
}

let first: ReturnType<typeof newKey> | undefined;

/** All issuers of a process start with the same key, because a new one takes long. */
function firstKey() {
  first ??= newKey();
  return first;
}

/** Nobody is asked for consent. */
async function grantEverything({ oidc }: KoaContextWithOIDC) {
  const existing = oidc.session?.grantIdFor(clientId);
  if (existing) return oidc.provider.Grant.find(existing);
  const grant = new oidc.provider.Grant({ accountId: oidc.session?.accountId ?? '', clientId });
  grant.addOIDCScope('openid email profile groups');
  await grant.save();
  return grant;
}

const logoutEvents = { 'http://schemas.openid.net/event/backchannel-logout': {} };

/** An issuer that signs everybody in at once, and does everything wrong that a test asks for. */
export async function startForger(t: Cleanup) {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const other = await generateKeyPair('ES256');
  const attempts = new Map<string, { nonce: string; challenge: string }>();
  const waiting = new Set<ServerResponse>();
  const secrets: string[] = [];
  const forger = {
    claims: { sub: 'ada', email: 'ada@example.com', email_verified: true } as Payload,
    /** Replaces claims of the ID token; undefined removes one. */
    payload: {} as Payload,
    /** Seconds that the clock of the issuer is ahead. */
    skew: 0,
    algorithm: 'ES256' as 'ES256' | 'none',
    signsWithOtherKey: false,
    /** Parameters of the authorization response. */
    response: {} as Record<string, string>,
    /** Members of the token response. */
    tokens: {} as Record<string, unknown>,
    tokenStatus: 200,
    /** Paths whose requests are never answered. */
    hanging: [] as string[],
    metadata: {} as Record<string, unknown>,
  };

  const { url, stop } = await listen(t, async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', url);
    if (forger.hanging.includes(pathname)) return waiting.add(response);
    const send = (body: unknown, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (pathname === '/.well-known/openid-configuration') return send({ ...metadata(), ...forger.metadata });
    if (pathname === '/jwks') return send({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] });
    if (pathname === '/authorize') {
      const code = remember(randomBytes(24).toString('base64url'));
      const given = (name: string) => searchParams.get(name) ?? '';
      attempts.set(code, { nonce: given('nonce'), challenge: given('code_challenge') });
      const back = new URL(given('redirect_uri'));
      const answer = { code, state: remember(given('state')), iss: url, ...forger.response };
      for (const [name, value] of Object.entries(answer)) back.searchParams.set(name, value);
      return response.writeHead(302, { location: back.href }).end();
    }
    if (pathname !== '/token') return response.writeHead(404).end();
    const form = new URLSearchParams(await textOf(request));
    const attempt = attempts.get(form.get('code') ?? '');
    const verifier = remember(form.get('code_verifier') ?? '');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const isValid = attempt?.challenge === challenge && form.get('client_secret') === clientSecret;
    if (!attempt || !isValid) return send({ error: 'invalid_grant' }, 400);
    const id_token = remember(await idToken(attempt.nonce));
    const access_token = remember(randomBytes(24).toString('base64url'));
    return send({ access_token, token_type: 'bearer', id_token, ...forger.tokens }, forger.tokenStatus);
  });
  t.after(() => {
    for (const response of waiting) response.destroy();
  });

  const remember = (secret: string) => secrets[secrets.push(secret) - 1] ?? '';
  const metadata = () => ({
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    jwks_uri: `${url}/jwks`,
    end_session_endpoint: `${url}/sign-out`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
    token_endpoint_auth_methods_supported: ['client_secret_post'],
    authorization_response_iss_parameter_supported: true,
  });
  const now = () => Math.floor(Date.now() / 1000) + forger.skew;

  async function sign(payload: Payload, key: CryptoKey): Promise<string> {
    if (forger.algorithm === 'ES256')
      return new SignJWT(payload).setProtectedHeader({ alg: 'ES256' }).sign(key);
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
    return `${encode({ alg: 'none' })}.${encode(payload)}.`;
  }

  const token = (payload: Payload) =>
    sign(
      JSON.parse(JSON.stringify({ iss: url, aud: clientId, iat: now(), exp: now() + 120, ...payload })),
      forger.signsWithOtherKey ? other.privateKey : privateKey,
    );
  const idToken = (nonce: string) => token({ nonce, ...forger.claims, ...forger.payload });

  return Object.assign(forger, {
    url,
    stop,
    /** Codes, tokens, states and verifiers that must not be logged. */
    secrets,
    idToken,
    /** A sign-out notice; undefined removes a claim. */
    logoutToken: (payload: Payload) =>
      token({ jti: randomBytes(8).toString('hex'), events: logoutEvents, ...payload }),
  });
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
