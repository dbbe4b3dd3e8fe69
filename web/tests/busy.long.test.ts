import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Console, startConsole, waitUntilLoaded } from './console.ts';

let console: Console;

before(async () => {
  console = await startConsole();
});

after(() => console.stop());

const focused = (page: Page) =>
  page.evaluate(() => document.activeElement?.ariaLabel ?? document.activeElement?.textContent ?? '');

/** Holds the requests to a URL until they are released. */
async function hold(page: Page, url: string, method = 'GET') {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(url, async (route) => {
    if (route.request().method() === method) await held;
    await route.continue();
  });
  return release;
}

test('a button keeps the focus while it is busy', async (t) => {
  const page = await console.open(t, '/risks');
  if (!page) return;
  await waitUntilLoaded(page);
  let release = await hold(page, '**/v1/risks?*format=csv*');
  await page.getByRole('button', { name: 'Export' }).press('Enter');
  await page.getByRole('menuitem', { name: 'CSV' }).press('Enter');
  await page.locator('.button[data-pending]', { hasText: 'Export' }).waitFor();
  await page.waitForFunction(() => document.activeElement?.textContent?.includes('Export'));
  release();
  await page.locator('.button[data-pending]').waitFor({ state: 'detached' });

  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'To assess' });
  await page.goto(`${console.app.baseUrl}/risks/${key}`);
  await page.getByRole('button', { name: 'Assess' }).click();
  release = await hold(page, `**/v1/projects/APOLLO/risks/${key}`, 'PATCH');
  await page.getByRole('button', { name: /^Probability 4 .* score 12$/ }).press('Enter');
  await page.locator('.heat-cell[aria-disabled="true"]').first().waitFor();
  assert.match(await focused(page), /^Probability 4 .* score 12$/);
  release();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

test('the focus moves to the first row that "Show more" loads', async (t) => {
  const person = await console.post('/v1/personnel', { name: 'Busy Bee' });
  for (let number = 1; number <= 26; number++) {
    const title = `Chore ${number}`;
    await console.post('/v1/projects/APOLLO/tasks', { title, assignee_user_id: person.user_id });
  }
  const page = await console.open(t, `/personnel/${person.user_id}`);
  if (!page) return;
  const rows = page.getByRole('link', { name: /^Chore/ });
  await page.getByRole('button', { name: 'Show more' }).press('Enter');
  await rows.nth(25).waitFor();
  await page.waitForFunction(() => document.activeElement?.textContent?.startsWith('Chore'));
  assert.equal(await focused(page), await rows.nth(25).textContent());
});
