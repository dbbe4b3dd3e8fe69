import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test as nodeTest, type TestContext } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { startService } from '../../src/commands/serve.ts';
import { readConfig } from '../../src/config.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { type Scope, scopes } from '../../src/core/scopes.ts';
import { createKey, revokeKey } from '../../src/resources/keys/queries.ts';
import { findAccess, setAccess } from '../../src/store/access/access.ts';
import { createLink } from '../../src/store/access/links.ts';
import { bySystem } from '../../src/store/writes/change.ts';
import { launchBrowser } from '../../test/browser.ts';
import { demoDatabase, migratedDatabase, type TestDatabase } from '../../test/databases.ts';
import { waitUntilLoaded } from './page.ts';

export { waitUntilLoaded };

type Options = BrowserContextOptions & {
  scopes?: readonly Scope[];
  signedIn?: boolean;
  /** Signed in as this person instead of with a key. */
  user_id?: string;
  /** The origin of an identity provider, the only other host that the page may visit. */
  provider?: string;
};

type Service = {
  isEmpty?: boolean;
  clock?: Clock;
  environment?: Record<string, string>;
  /** Adds data before the first test. */
  fill?: () => Promise<void>;
};

/** One for all tests of a file; undefined when this machine has none. */
let browser: Browser | undefined;

before(async () => {
  browser = await launchBrowser();
});

after(() => browser?.close());

/** A test that needs a browser. */
export function test(name: string, run: (t: TestContext) => Promise<void>): void {
  nodeTest(name, (t) => (browser ? run(t) : t.skip('no Chromium here: install one or set TEST_BROWSER')));
}

/**
 * The real service with the demo data, unless it is to be empty. It starts before the tests of the file and stops after
 * them.
 */
export function startConsole({ isEmpty = false, clock = systemClock, environment = {}, fill }: Service = {}) {
  let app: Awaited<ReturnType<typeof startService>>['app'];
  let database: TestDatabase;
  const start = async (port: string) => {
    const settings = {
      MUSTER_DATABASE_URL: database.url,
      MUSTER_PORT: port,
      MUSTER_RATE_LIMIT: '0',
      MUSTER_WEBHOOK_ALLOW: '127.0.0.1',
    };
    ({ app } = await startService(readConfig({ ...settings, ...environment }), clock));
  };

  before(async () => {
    database = await (isEmpty ? migratedDatabase('sqlite') : demoDatabase());
    await start('0');
    await fill?.();
  });

  after(async () => {
    await app.close();
    await database.drop();
  });

  /** A key with these scopes, by default all of them. */
  const newKey = (held: readonly Scope[] = scopes, expires_at?: string) =>
    app.database.write((db) =>
      createKey(db, { name: 'test', scopes: [...held], ...(expires_at && { expires_at }) }, systemClock()),
    );

  /** A link that signs a browser in as a person, who gets access with these scopes, by default all of them. */
  const createSignInLink = (user_id: string, held: readonly Scope[] = scopes) =>
    app.database.write(async (db) => {
      const granted = { scopes: [...held], project_ids: null, source: 'manual' as const };
      const { name } = await db
        .selectFrom('people')
        .select('name')
        .where('user_id', '=', user_id)
        .executeTakeFirstOrThrow();
      if (!(await findAccess(db, user_id)))
        await setAccess(db, { user_id, name }, granted, bySystem(systemClock()));
      const link = { purpose: 'sign_in', user_id, key_id: null } as const;
      return (await createLink(db, link, { now: systemClock().now, hours: 1 })).token;
    });

  /** An empty page that fails its test when it logs an error, throws, or sends a request to another host. */
  async function newPage(
    t: TestContext,
    { scopes: held, signedIn = true, user_id, provider, ...options }: Options = {},
  ) {
    assert.ok(browser);
    const { baseUrl } = app;
    const context = await browser.newContext({
      baseURL: baseUrl,
      locale: 'en-GB',
      timezoneId: 'UTC',
      viewport: { width: 1440, height: 900 },
      ...options,
    });
    if (signedIn) {
      const { secret } = await newKey(held);
      const data = user_id === undefined ? { key: secret } : { link: await createSignInLink(user_id, held) };
      const response = await context.request.post('/v1/session', { data, headers: { origin: baseUrl } });
      assert.equal(response.status(), 204);
    }
    const page = await context.newPage();
    page.setDefaultTimeout(15_000);
    const errors: string[] = [];
    page.on('request', (request) => {
      const allowed = [baseUrl, ...(provider ? [provider] : [])];
      const isOwn = allowed.some((origin) => request.url().startsWith(`${origin}/`));
      if (!/^(data|blob):/.test(request.url()) && !isOwn) errors.push(`request to ${request.url()}`);
    });
    page.on('console', (message) => {
      // The browser also logs error responses, which the page handles itself.
      const isErrorResponse = message.text().startsWith('Failed to load resource');
      if (['error', 'warning'].includes(message.type()) && !isErrorResponse) errors.push(message.text());
    });
    page.on('pageerror', (error) => errors.push(error.message));
    t.after(async () => {
      await context.close();
      assert.deepEqual(errors, []);
    });
    return page;
  }

  /** A new page, with the data of the path if it is signed in. */
  async function open(t: TestContext, path: string, options: Options = {}): Promise<Page> {
    const page = await newPage(t, options);
    await page.goto(path);
    if (options.signedIn !== false) await waitUntilLoaded(page);
    return page;
  }

  async function send(method: string, path: string, body?: object) {
    const { secret } = await newKey();
    const response = await fetch(`${app.baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${secret}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    assert.ok(response.ok, await response.clone().text());
    return response.status === 204 ? undefined : response.json();
  }

  return {
    createSignInLink,
    get app() {
      return app;
    },
    newPage,
    open,
    newKey,
    revoke: (id: string) => app.database.write((db) => revokeKey(db, id, systemClock())),
    get: (path: string) => send('GET', path),
    post: (path: string, body: object = {}) => send('POST', path, body),
    patch: (path: string, body: object) => send('PATCH', path, body),
    put: (path: string, body: object) => send('PUT', path, body),
    delete: (path: string) => send('DELETE', path),
    /** Starts the service again after it was closed. */
    restart: () => start(new URL(app.baseUrl).port),
  };
}

/** Opens another path on a page and waits for its data. */
export async function visit(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await waitUntilLoaded(page);
}

const screenshots = join(import.meta.dirname, '../../screenshots');

/** Of the window, or of the whole page, if somebody wants to look at it. */
export async function screenshot(page: Page, name: string, { isWhole = false } = {}): Promise<void> {
  if (!process.env.TEST_SCREENSHOTS) return;
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: isWhole });
}
