import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { buildService } from '../build.ts';
import { launchBrowser } from '../test/browser.ts';
import { buildConsole } from '../web/build.ts';
import { nodeScript, run } from './processes.ts';
import { startService } from './servers.ts';

/**
 * Measures how long the console takes to show the first rows of a long list, and how long typing in its search box is
 * blocked. The browser and the service run on this machine. Each visit uses a new browser profile with an empty cache.
 */
const sizes = { projects: 200, people: 100_000, risks: 100_000, issues: 20_000 };
const visits = 9;
const lists = { '/personnel': 'person 4711', '/risks': 'risk 4711' };

declare global {
  interface Window {
    /** When the first rows were painted, in milliseconds from the start of the navigation. */
    painted?: number;
    /** For each key press, the milliseconds until the change was painted. */
    delays: number[];
  }
}

const folder = mkdtempSync(join(tmpdir(), 'muster-bench-console-'));
try {
  await buildConsole();
  await buildService();
  const url = `sqlite:${join(folder, 'muster.db')}`;
  const key = (await run(...nodeScript('children/fill.ts', JSON.stringify({ url, sizes })))).trim();
  await using service = await startService({ url, key });
  const browser = await launchBrowser();
  if (!browser) throw new Error('Chromium was not found. Install it or set TEST_BROWSER.');
  console.log(
    `load average ${loadavg()[0]?.toFixed(1)}, ${visits} visits, milliseconds (minimum, median, maximum)`,
  );
  for (const [path, text] of Object.entries(lists)) {
    const paints: number[] = [];
    const keys: number[] = [];
    for (let i = 0; i < visits; i++) {
      await using visit = await openPage(browser, service.origin, key);
      await visit.page.goto(service.origin + path);
      const { painted, delays } = await typeSearch(visit.page, text);
      paints.push(painted);
      keys.push(Math.max(...delays));
    }
    console.log(
      `${path}: first rows painted ${formatRange(paints)}; slowest of ${text.length} key presses ${formatRange(keys)}`,
    );
    await using visit = await openPage(browser, service.origin, key);
    await visit.page.goto(service.origin + path);
    console.log(`${path}: ${await scrollToEnd(visit.page)}`);
  }
  for (let i = 0; i < 3; i++) {
    await using visit = await openPage(browser, service.origin, key);
    await visit.page.goto(`${service.origin}/risks`);
    console.log(`/risks: ${await changeMany(visit.page, `2030-01-0${i + 1}`)}`);
  }
  console.log(`load average ${loadavg()[0]?.toFixed(1)}`);
  await browser.close();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Opens a signed-in page in a new browser profile. */
async function openPage(browser: Browser, origin: string, key: string) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await context.request.post(`${origin}/v1/session`, { data: { key } });
  const page = await context.newPage();
  await page.addInitScript(() => {
    window.delays = [];
    const checkRows = () => {
      if (!document.querySelector('tbody tr .row-link')) return requestAnimationFrame(checkRows);
      // Rows that exist in one frame are painted before the next.
      return requestAnimationFrame(() => {
        window.painted = performance.now();
      });
    };
    requestAnimationFrame(checkRows);
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

async function typeSearch(page: Page, text: string) {
  await page.waitForFunction(() => window.painted !== undefined);
  await page.getByRole('searchbox').first().click();
  // The speed of a fast typist; the list updates while the text is typed.
  await page.keyboard.type(text, { delay: 90 });
  await page.waitForURL(/q=/);
  await page.waitForFunction((length) => window.delays.length >= length, text.length);
  return page.evaluate(() => ({ painted: window.painted ?? 0, delays: window.delays }));
}

/** Presses End until the last row is there, as an impatient user would. */
async function scrollToEnd(page: Page): Promise<string> {
  await page.waitForFunction(() => window.painted !== undefined);
  const startedAt = performance.now();
  const lastRow = () =>
    page.evaluate(() => {
      const shown = [...document.querySelectorAll<HTMLElement>('tbody tr[aria-rowindex]')];
      return {
        last: Number(shown.at(-1)?.ariaRowIndex),
        all: Number(document.querySelector('table')?.ariaRowCount),
      };
    });
  for (let presses = 1; ; presses++) {
    await page.keyboard.press('End');
    const { last, all } = await lastRow();
    if (last === all) {
      const seconds = (performance.now() - startedAt) / 1000;
      return `row ${last - 1} reached in ${seconds.toFixed(1)} s with ${presses} presses of End`;
    }
    if (performance.now() - startedAt > 300_000) throw new Error(`Only ${last} of ${all} rows were reached.`);
    await page.waitForTimeout(100);
  }
}

/** Selects as many rows as one request can change, and sets their due date. */
async function changeMany(page: Page, day: string): Promise<string> {
  const count = 500;
  const row = (number: number) => page.locator(`tbody tr[aria-rowindex="${number + 1}"]`);
  const select = (number: number) => row(number).getByRole('checkbox');
  await select(1).click();
  while ((await row(count).count()) === 0) {
    await page.mouse.wheel(0, 500);
    // The page has scrolled before the rows are looked for again.
    await page.waitForTimeout(50);
  }
  await select(count).click({ modifiers: ['Shift'] });
  await page.getByRole('button', { name: 'Set due date…' }).click();
  await page.getByRole('dialog').getByLabel('Due').fill(day);
  await page.getByRole('button', { name: `Update ${count} risks` }).click();
  const startedAt = performance.now();
  const elapsed = async (text: string) => {
    await page.getByText(text).first().waitFor();
    return `${(performance.now() - startedAt).toFixed(0)} ms`;
  };
  const progress = await elapsed(`Updating ${count} risks…`);
  return `progress of a change of ${count} rows shown after ${progress}, finished after ${await elapsed(`Updated ${count} risks`)}`;
}

function formatRange(values: number[]): string {
  const [min, median, max] = [0, values.length >> 1, values.length - 1].map(
    (at) => values.toSorted((a, b) => a - b)[at] ?? 0,
  );
  return `${min?.toFixed(0)}, ${median?.toFixed(0)}, ${max?.toFixed(0)}`;
}
