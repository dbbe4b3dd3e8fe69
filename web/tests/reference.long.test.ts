import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { problems } from '../../src/core/errors.ts';
import { type Console, screenshot, startConsole } from './console.ts';

let console: Console;

before(async () => {
  console = await startConsole({ isEmpty: true });
});

after(() => console.stop());

test('the reference contains every operation with an anchor and a contents entry', async (t) => {
  const page = await console.open(t, '/docs', { signedIn: false });
  if (!page) return;
  const contents = page.getByRole('navigation', { name: 'On this page' });
  const { paths } = await console.get('/v1/openapi.json');
  const ids = Object.values(paths as Record<string, Record<string, { operationId: string }>>).flatMap(
    (methods) => Object.values(methods).map(({ operationId }) => operationId),
  );
  assert.deepEqual(await notVisible(page, ids, (id) => `#${id} h3`), [], 'operations without a heading');
  assert.deepEqual(
    await notVisible(page, ids, (id) => `nav.contents [href="#${id}"]`),
    [],
    'operations that are not in the contents',
  );
  await contents.getByText('listRisks').click();
  const heading = await page.locator('#listRisks:target h3').boundingBox();
  assert.ok(heading && heading.y >= 0 && heading.y < 200, 'the anchor does not lead to its heading');
  await screenshot(page, 'reference');
});

test('the reference supports dark mode and phone screens', async (t) => {
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await console.open(t, '/docs#listRisks', {
      signedIn: false,
      colorScheme,
      viewport: { width: 360, height: 740 },
    });
    if (!page) return;
    assert.equal(await isDark(page), colorScheme === 'dark');
    await screenshot(page, `phone-${colorScheme}`);
  }
});

for (const path of ['/docs', '/problems', '/problems/insufficient_scope']) {
  test(`${path} fits a phone screen with all details open`, async (t) => {
    const page = await console.open(t, path, { signedIn: false, viewport: { width: 360, height: 740 } });
    if (!page) return;
    await page.locator('details').evaluateAll((all) => {
      for (const details of all) details.setAttribute('open', '');
    });
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
  });
}

test('the contents open on a phone', async (t) => {
  const page = await console.open(t, '/docs', { signedIn: false, viewport: { width: 360, height: 740 } });
  if (!page) return;
  const entry = page.locator('nav [href="#listRisks"]');
  assert.equal(await entry.isVisible(), false);
  await page.getByText('Contents', { exact: true }).click();
  await entry.click();
  assert.equal(new URL(page.url()).hash, '#listRisks');
});

test('an error code has a page with its meaning and advice', async (t) => {
  const page = await console.open(t, '/problems/insufficient_scope', { signedIn: false });
  if (!page) return;
  assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'The key lacks the needed scope');
  assert.match((await page.textContent('main')) ?? '', /status is 403/);
  assert.ok(await page.locator('main code', { hasText: 'GET /v1/me' }).isVisible());
  await screenshot(page, 'problem');
  await page.getByRole('link', { name: 'All errors' }).click();
  for (const code of Object.keys(problems)) {
    assert.ok(await page.getByRole('link', { name: code, exact: true }).isVisible(), `${code} is not listed`);
  }
});

/** The ids whose element is not visible, found in one call: a call for each takes most of the test's time. */
async function notVisible(page: Page, ids: string[], selectorOf: (id: string) => string): Promise<string[]> {
  const isVisible = await page.evaluate(
    (selectors) =>
      selectors.map((selector) => {
        const element = document.querySelector(selector);
        return element?.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;
      }),
    ids.map(selectorOf),
  );
  return ids.filter((_, index) => !isVisible[index]);
}

const isDark = (page: Page) =>
  page.evaluate(() => {
    const [red = 0] = getComputedStyle(document.body).backgroundColor.match(/\d+/g) ?? [];
    return Number(red) < 128;
  });
