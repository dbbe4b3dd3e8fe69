import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { buildService } from '../build.ts';
import { launchBrowser } from '../test/browser.ts';
import { buildConsole } from '../web/build.ts';
import { run, script } from './processes.ts';
import { startService } from './servers.ts';

/**
 * How long the console takes to show the first rows of a long list, and whether typing in its search is ever held up. The
 * browser and the service are on this machine; each turn is a new browser profile, which has nothing of the console yet.
 */
const sizes = { projects: 200, people: 100_000, risks: 100_000, issues: 20_000 };
const turns = 9;
const lists = { '/personnel': 'person 4711', '/risks': 'risk 4711' };

declare global {
  interface Window {
    /** When the first rows were painted, in milliseconds from the start of the navigation. */
    painted?: number;
    /** Of each key pressed, until what it changed was painted. */
    delays: number[];
  }
}

const folder = mkdtempSync(join(tmpdir(), 'muster-bench-console-'));
try {
  await buildConsole();
  await buildService();
  const url = `sqlite:${join(folder, 'muster.db')}`;
  const key = (await run(...script('children/fill.ts', JSON.stringify({ url, sizes })))).trim();
  await using service = await startService({ url, key });
  const browser = await launchBrowser();
  if (!browser) throw new Error('There is no Chromium here: install one or set TEST_BROWSER.');
  console.log(`load average ${loadavg()[0]?.toFixed(1)}, ${turns} turns, milliseconds (least, median, most)`);
  for (const [path, text] of Object.entries(lists)) {
    const paints: number[] = [];
    const keys: number[] = [];
    for (let turn = 0; turn < turns; turn++) {
      await using visit = await visited(browser, service.origin, key);
      await visit.page.goto(service.origin + path);
      const { painted, delays } = await used(visit.page, text);
      paints.push(painted);
      keys.push(Math.max(...delays));
    }
    console.log(`${path}: first rows painted ${told(paints)}; slowest key of ${text.length} ${told(keys)}`);
  }
  console.log(`load average ${loadavg()[0]?.toFixed(1)}`);
  await browser.close();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** A page of someone who is signed in and has never opened one before. */
async function visited(browser: Browser, origin: string, key: string) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await context.request.post(`${origin}/v1/session`, { data: { key } });
  const page = await context.newPage();
  await page.addInitScript(() => {
    window.delays = [];
    const look = () => {
      if (!document.querySelector('tbody tr .row-link')) return requestAnimationFrame(look);
      // What is there in one frame is painted before the next.
      return requestAnimationFrame(() => {
        window.painted = performance.now();
      });
    };
    requestAnimationFrame(look);
    addEventListener('keydown', ({ timeStamp }) =>
      requestAnimationFrame(() =>
        setTimeout(() => {
          window.delays.push(performance.now() - timeStamp);
        }),
      ),
    );
  });
  return { page, [Symbol.asyncDispose]: () => context.close() };
}

async function used(page: Page, text: string) {
  await page.waitForFunction(() => window.painted !== undefined);
  await page.getByRole('searchbox').first().click();
  // As fast as a hand that knows the keys; the list changes meanwhile.
  await page.keyboard.type(text, { delay: 90 });
  await page.waitForURL(/q=/);
  await page.waitForFunction((length) => window.delays.length >= length, text.length);
  return page.evaluate(() => ({ painted: window.painted ?? 0, delays: window.delays }));
}

function told(values: number[]): string {
  const [least, median, most] = [0, values.length >> 1, values.length - 1].map(
    (at) => values.toSorted((a, b) => a - b)[at] ?? 0,
  );
  return `${least?.toFixed(0)}, ${median?.toFixed(0)}, ${most?.toFixed(0)}`;
}
