import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { systemClock } from '../../src/clock.ts';
import { startService } from '../../src/commands/serve.ts';
import { readConfig } from '../../src/config.ts';
import { fillDemo } from '../../src/demo/fill.ts';
import { createKey, revokeKey } from '../../src/keys/queries.ts';
import { type Scope, scopes } from '../../src/keys/scopes.ts';
import { launchBrowser } from '../../src/testing/browser.ts';

export type Console = Awaited<ReturnType<typeof startConsole>>;

type Options = BrowserContextOptions & { scopes?: readonly Scope[]; signedIn?: boolean };

/** The real service, with the demo's organisation unless it is to be empty, and a browser to look at it with. */
export async function startConsole({ isEmpty = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'muster-console-'));
  const config = readConfig({
    MUSTER_DATABASE_URL: `sqlite:${join(folder, 'muster.db')}`,
    MUSTER_PORT: '0',
    MUSTER_RATE_LIMIT: '0',
  });
  const { app } = await startService(config);
  if (!isEmpty) await fillDemo(app.database, systemClock());
  const browser = await launchBrowser();

  /** A key with these scopes; all of them when none is named. */
  const makeKey = (held: readonly Scope[] = scopes, expires_at?: string) =>
    app.database.write((db) =>
      createKey(db, { name: 'test', scopes: [...held], ...(expires_at && { expires_at }) }, systemClock()),
    );

  /** A page that fails its test when it logs an error, breaks, or asks another host for anything. */
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
    const key = await makeKey(held);
    if (signedIn) await signIn(context.request, app.baseUrl, key.secret);
    const page = await context.newPage();
    page.setDefaultTimeout(15_000);
    const complaints: string[] = [];
    page.on('request', (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(`${app.baseUrl}/`)) {
        complaints.push(`asked for ${request.url()}`);
      }
    });
    page.on('console', (message) => {
      // That a request is refused is for the page to show; the browser tells it here, too.
      const isRefusal = message.text().startsWith('Failed to load resource');
      if (['error', 'warning'].includes(message.type()) && !isRefusal) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    t.after(async () => {
      await context.close();
      assert.deepEqual(complaints, []);
    });
    await page.goto(`${app.baseUrl}${path}`);
    return page;
  }

  return {
    app,
    open,
    makeKey,
    revoke: (id: string) => app.database.write((db) => revokeKey(db, id, systemClock())),
    /** What the API says, to compare what is shown with. */
    async get(path: string) {
      const { secret } = await makeKey();
      const answer = await fetch(`${app.baseUrl}${path}`, { headers: { authorization: `Bearer ${secret}` } });
      assert.equal(answer.status, 200, path);
      return answer.json();
    },
    async post(path: string, body: object) {
      const { secret } = await makeKey();
      const answer = await fetch(`${app.baseUrl}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      assert.equal(answer.status, 201, await answer.clone().text());
      return answer.json();
    },
    async stop() {
      await browser?.close();
      await app.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function signIn(request: BrowserContext['request'], origin: string, key: string): Promise<void> {
  const answer = await request.post(`${origin}/v1/session`, { data: { key } });
  assert.equal(answer.status(), 204);
}

type BrowserContext = Awaited<ReturnType<Browser['newContext']>>;

/** Until the page has what it shows. */
export async function settled(page: Page): Promise<void> {
  await page.waitForSelector('main[aria-busy="false"] :is(h1, .empty, .notice)');
  await page.waitForFunction(() => document.querySelector('.loading, main[aria-busy="true"]') === null);
}

const screenshots = join(import.meta.dirname, '../../screenshots');

export async function screenshot(page: Page, name: string): Promise<void> {
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: join(screenshots, `${name}.png`) });
}
