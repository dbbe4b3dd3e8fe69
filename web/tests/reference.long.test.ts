import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { problems } from '../../src/core/errors.ts';
import { assertAccessible } from './axe.ts';
import { startConsole, test } from './console.ts';

const console = startConsole({ isEmpty: true });

const openPage = (t: TestContext, path: string, options: BrowserContextOptions = {}) =>
  console.open(t, path, { signedIn: false, ...options });

test('the reference contains every operation with an anchor and a contents entry', async (t) => {
  const page = await openPage(t, '/docs');
  const contents = page.getByRole('navigation', { name: 'On this page' });
  const ids = await operationIds();
  assert.deepEqual(await notVisible(page, ids, (id) => `#${id} h3`), [], 'operations without a heading');
  assert.deepEqual(
    await notVisible(page, ids, (id) => `nav.contents [href="#${id}"]`),
    [],
    'operations that are not in the contents',
  );
  await contents.getByText('listRisks').click();
  const heading = await page.locator('#listRisks:target h3').boundingBox();
  assert.ok(heading && heading.y >= 0 && heading.y < 200, 'the anchor does not lead to its heading');
});

test('the reference can be filtered by keyboard', async (t) => {
  const page = await openPage(t, '/docs');
  const box = page.getByRole('searchbox', { name: 'Filter operations and events' });
  const shownEntries = () =>
    page
      .locator('[data-filter]')
      .evaluateAll((all) => all.filter((one) => one.checkVisibility()).map(({ id }) => id));
  const all = await shownEntries();
  await page.keyboard.press('/');
  assert.ok(await box.evaluate((element) => element === document.activeElement));
  assert.equal(await box.inputValue(), '');
  await page.keyboard.type('Post  RISK impor');
  assert.deepEqual(await shownEntries(), ['importRisks', 'importRisksAcrossProjects']);
  assert.equal(await page.getByRole('status').textContent(), `2 of ${all.length} match`);
  assert.ok(await page.locator('nav.contents [href="#importRisks"]').isVisible());
  for (const hidden of [
    'nav.contents [href="#listRisks"]',
    '#tag-groups',
    'nav [href="#tag-groups"]',
    '#schemas',
    '#authentication',
  ])
    assert.equal(await page.locator(hidden).isVisible(), false, hidden);
  await box.fill('person.created');
  assert.deepEqual(await shownEntries(), ['onPersonCreated']);
  await box.fill('no such thing');
  assert.deepEqual(await shownEntries(), []);
  assert.match(
    (await page.locator('#no-match').textContent()) ?? '',
    /^No operation or event matches “no such thing”/,
  );
  await page.keyboard.press('Escape');
  assert.deepEqual(await shownEntries(), all);
  assert.equal(await page.getByRole('status').textContent(), '');
  assert.equal(await page.locator('#no-match').isVisible(), false);
  await box.fill('createPerson');
  await page.locator('#createPerson').getByRole('link', { name: 'PersonInput' }).click();
  await page.locator('#schema-PersonInput').waitFor({ state: 'visible' });
  assert.equal(await box.inputValue(), '', 'a link to a schema ends the filter');
});

test('the reference is complete without JavaScript, and has no filter', async (t) => {
  const page = await openPage(t, '/docs', { javaScriptEnabled: false });
  assert.equal(await page.locator('#filter').isVisible(), false);
  for (const id of ['#introduction', '#listRisks', '#onRiskCreated', '#schema-Risk'])
    assert.ok(await page.locator(id).isVisible(), id);
});

test('the reference is accessible in both themes and on a phone', async (t) => {
  const page = await openPage(t, '/docs');
  // One of each kind, with everything open: axe takes minutes for the whole page.
  await page.evaluate(() => {
    const kept = '#listRisks, #createRisk, #onRiskCreated, #schema-Risk';
    for (const entry of document.querySelectorAll(`.entry:not(${kept})`)) {
      document.querySelector(`.contents [href="#${entry.id}"]`)?.parentElement?.remove();
      entry.remove();
    }
    for (const details of document.querySelectorAll('details')) details.open = true;
  });
  await assertAccessible(page, 'light');
  await page.setViewportSize({ width: 390, height: 844 });
  await assertAccessible(page, 'on a phone');
  await page.emulateMedia({ colorScheme: 'dark' });
  assert.equal(await isDark(page), true);
  await assertAccessible(page, 'dark', 'colors');
  await page.locator('#filter').fill('no such thing');
  await assertAccessible(page, 'no match');
});

for (const path of ['/docs', '/problems', '/problems/insufficient_scope']) {
  test(`${path} fits a phone screen with all details open`, async (t) => {
    const page = await openPage(t, path, { viewport: { width: 360, height: 740 } });
    await page.locator('details').evaluateAll((all) => {
      for (const details of all) details.setAttribute('open', '');
    });
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
  });
}

test('the contents open on a phone', async (t) => {
  const page = await openPage(t, '/docs', { viewport: { width: 360, height: 740 } });
  const entry = page.locator('nav [href="#listRisks"]');
  assert.equal(await entry.isVisible(), false);
  await page.getByText('Contents', { exact: true }).click();
  await entry.click();
  assert.equal(new URL(page.url()).hash, '#listRisks');
});

test('an error code has a page with its meaning and advice', async (t) => {
  const page = await openPage(t, '/problems/insufficient_scope');
  assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'The key lacks the needed scope');
  assert.match((await page.textContent('main')) ?? '', /status is 403/);
  assert.ok(await page.locator('main code', { hasText: 'GET /v1/me' }).isVisible());
  await page.getByRole('link', { name: 'All errors' }).click();
  for (const code of Object.keys(problems)) {
    assert.ok(await page.getByRole('link', { name: code, exact: true }).isVisible(), `${code} is not listed`);
  }
});

async function operationIds(): Promise<string[]> {
  const { paths } = await console.get('/v1/openapi.json');
  return Object.values(paths as Record<string, Record<string, { operationId: string }>>).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
}

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
