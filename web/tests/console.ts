import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { startService } from '../../src/commands/serve.ts';
import { readConfig } from '../../src/config.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { createKey, revokeKey } from '../../src/resources/keys/queries.ts';
import { type Scope, scopes } from '../../src/resources/keys/schema.ts';
import { launchBrowser } from '../../test/browser.ts';
import { demoDatabase, migratedDatabase } from '../../test/databases.ts';

export type Console = Awaited<ReturnType<typeof startConsole>>;

type Options = BrowserContextOptions & { scopes?: readonly Scope[]; signedIn?: boolean };

type Service = { isEmpty?: boolean; clock?: Clock; environment?: Record<string, string> };

/** Starts the real service with the demo data, unless it is to be empty, and a browser. */
export async function startConsole({ isEmpty = false, clock = systemClock, environment = {} }: Service = {}) {
  const { url, drop } = await (isEmpty ? migratedDatabase('sqlite') : demoDatabase());
  const start = (port: string) =>
    startService(
      readConfig({
        MUSTER_DATABASE_URL: url,
        MUSTER_PORT: port,
        MUSTER_RATE_LIMIT: '0',
        MUSTER_WEBHOOK_ALLOW: '127.0.0.1',
        ...environment,
      }),
      clock,
    );
  let { app } = await start('0');
  const { baseUrl } = app;
  const browser = await launchBrowser();

  /** A key with these scopes, by default all of them. */
  const newKey = (held: readonly Scope[] = scopes, expires_at?: string) =>
    app.database.write((db) =>
      createKey(db, { name: 'test', scopes: [...held], ...(expires_at && { expires_at }) }, systemClock()),
    );

  /** A page that fails its test when it logs an error, throws, or sends a request to another host. */
  async function open(
    t: TestContext,
    path: string,
    { scopes: held, signedIn = true, ...options }: Options = {},
  ) {
    if (!browser) {
      t.skip('no Chromium here: install one or set TEST_BROWSER');
      return undefined;
    }
    const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC', ...options });
    const key = await newKey(held);
    if (signedIn) await signIn(context.request, baseUrl, key.secret);
    const page = await context.newPage();
    page.setDefaultTimeout(15_000);
    const errors: string[] = [];
    page.on('request', (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(`${baseUrl}/`)) {
        errors.push(`request to ${request.url()}`);
      }
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
    await page.goto(`${baseUrl}${path}`);
    return page;
  }

  async function send(method: string, path: string, body?: object) {
    const { secret } = await newKey();
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${secret}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    assert.ok(response.ok, await response.clone().text());
    return response.status === 204 ? undefined : response.json();
  }

  return {
    get app() {
      return app;
    },
    open,
    newKey,
    revoke: (id: string) => app.database.write((db) => revokeKey(db, id, systemClock())),
    /** Reads from the API, to compare its response with the page. */
    async get(path: string) {
      const { secret } = await newKey();
      const response = await fetch(`${baseUrl}${path}`, {
        headers: { authorization: `Bearer ${secret}` },
      });
      assert.equal(response.status, 200, path);
      return response.json();
    },
    post: (path: string, body: object) => send('POST', path, body),
    patch: (path: string, body: object) => send('PATCH', path, body),
    delete: (path: string) => send('DELETE', path),
    /** Starts the service again after it was closed. */
    async restart() {
      ({ app } = await start(new URL(baseUrl).port));
    },
    async stop() {
      await browser?.close();
      await app.close();
      await drop();
    },
  };
}

async function signIn(request: BrowserContext['request'], origin: string, key: string): Promise<void> {
  const response = await request.post(`${origin}/v1/session`, { data: { key } });
  assert.equal(response.status(), 204);
}

type BrowserContext = Awaited<ReturnType<Browser['newContext']>>;

/** Waits until the page has loaded its data. */
export async function waitUntilLoaded(page: Page): Promise<void> {
  await page.waitForSelector('main[aria-busy="false"] :is(h1, .empty, .notice)');
  await page.waitForFunction(() => document.querySelector('.loading, main[aria-busy="true"]') === null);
}

const screenshots = join(import.meta.dirname, '../../screenshots');

/** Of the window, or of the whole page. */
export async function screenshot(page: Page, name: string, { isWhole = false } = {}): Promise<void> {
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: isWhole });
}
