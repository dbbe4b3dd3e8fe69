import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible } from './axe.ts';
import { type Console, screenshot, startConsole, waitUntilLoaded } from './console.ts';

let console: Console;
let paths: Record<string, string>;

before(async () => {
  console = await startConsole();
  const first = async (list: string) => (await console.get(`${list}?limit=1`)).data[0];
  paths = {
    overview: '/',
    risks: '/risks',
    issues: '/issues',
    projects: '/projects',
    webhooks: '/webhooks',
    personnel: '/personnel',
    groups: '/groups',
    keys: '/keys',
    report: '/report?project=APOLLO',
    risk: `/risks/${(await first('/v1/risks')).key}`,
    task: `/tasks/${(await first('/v1/tasks')).key}`,
    issue: `/issues/${(await first('/v1/issues')).key}`,
    project: '/projects/APOLLO',
    person: `/personnel/${(await first('/v1/personnel')).user_id}`,
    group: `/groups/${(await first('/v1/groups')).id}`,
    'not-found': '/groups/grp_00000000000000000000000000',
    'no-match': '/risks?q=matches-no-risk',
  };
});

after(() => console.stop());

test('pages meet WCAG 2.2 AA in the light and the dark theme', async (t) => {
  const page = await console.open(t, '/', { viewport: { width: 1440, height: 900 } });
  if (!page) return;
  for (const [name, path] of Object.entries(paths)) {
    await page.goto(`${console.app.baseUrl}${path}`);
    await waitUntilLoaded(page);
    await assertAccessibleInBoth(page, name);
  }
});

test('dialogs meet WCAG 2.2 AA', async (t) => {
  const page = await console.open(t, paths.risk ?? '');
  if (!page) return;
  await waitUntilLoaded(page);
  for (const name of ['Edit', 'Accept…', 'Mark as occurred…', 'Close…', 'Delete', 'Add task']) {
    const button = page.getByRole('button', { name, exact: true });
    if ((await button.count()) === 0) continue;
    await button.click();
    await page.getByRole('dialog').waitFor();
    await assertAccessibleInBoth(page, name);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.type('a');
  await page.getByRole('menuitem').first().waitFor();
  await assertAccessibleInBoth(page, 'the palette');
  const dialogs: [path: string | undefined, name: string][] = [
    [paths.personnel, 'Add person'],
    [paths.personnel, 'Import'],
    [paths.person, 'Deactivate…'],
    [paths.groups, 'Create group'],
    [paths.issues, 'Create issue'],
    [paths.projects, 'Create project'],
    [paths.keys, 'Create key'],
    [paths.webhooks, 'Create webhook'],
  ];
  for (const [path, name] of dialogs) {
    await page.goto(`${console.app.baseUrl}${path}`);
    await waitUntilLoaded(page);
    await page.getByRole('button', { name }).click();
    await page.getByRole('dialog').waitFor();
    await waitUntilLoaded(page);
    await assertAccessibleInBoth(page, name);
  }
  await page.goto(`${console.app.baseUrl}/risks`);
  await waitUntilLoaded(page);
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('menuitem').first().waitFor();
  await assertAccessibleInBoth(page, 'the export');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Level' }).click();
  await page.getByRole('checkbox').first().waitFor({ state: 'attached' });
  await assertAccessibleInBoth(page, 'a filter');
});

test('the sign-in page meets WCAG 2.2 AA', async (t) => {
  const page = await console.open(t, '/', { signedIn: false });
  if (!page) return;
  await page.getByLabel('API key').waitFor();
  await assertAccessibleInBoth(page, 'sign-in');
});

test('pages meet WCAG 2.2 AA on a phone and are not wider than its screen', async (t) => {
  const viewport = { width: 390, height: 844 };
  const page = await console.open(t, '/', { viewport, hasTouch: true, isMobile: true });
  if (!page) return;
  for (const [name, path] of Object.entries(paths)) {
    await page.goto(`${console.app.baseUrl}${path}`);
    await waitUntilLoaded(page);
    await screenshot(page, `${name}-phone`);
    await assertAccessible(page, name);
    const width: number = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= viewport.width, `${name} is ${width} wide`);
  }
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('dialog', { name: 'Menu' }).getByRole('link', { name: 'Risks' }).click();
  await page.getByRole('heading', { level: 1, name: 'Risks' }).waitFor();
});

/** Checks both themes and takes a screenshot of each. */
async function assertAccessibleInBoth(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await screenshot(page, `${name.replace(/[^\w-]+/g, '-').toLowerCase()}-${colorScheme}`);
    await assertAccessible(page, `${name}, ${colorScheme}`);
  }
}
