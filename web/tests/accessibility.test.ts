import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible } from './axe.ts';
import { type Console, screenshot, settled, startConsole } from './console.ts';

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
    personnel: '/personnel',
    groups: '/groups',
    keys: '/keys',
    risk: `/risks/${(await first('/v1/risks')).key}`,
    issue: `/issues/${(await first('/v1/issues')).key}`,
    project: '/projects/APOLLO',
    person: `/personnel/${(await first('/v1/personnel')).user_id}`,
    group: `/groups/${(await first('/v1/groups')).id}`,
    nothing: '/groups/grp_00000000000000000000000000',
    'no-match': '/risks?q=nothing-has-this-in-it',
  };
});

after(() => console.stop());

test('no page breaks a rule of WCAG 2.2 AA, in light or dark colours', async (t) => {
  const page = await console.open(t, '/', { viewport: { width: 1440, height: 900 } });
  if (!page) return;
  for (const [name, path] of Object.entries(paths)) {
    await page.goto(`${console.app.baseUrl}${path}`);
    await settled(page);
    await assertAccessibleInBoth(page, name);
  }
});

test('no dialog breaks a rule', async (t) => {
  const page = await console.open(t, paths.risk ?? '');
  if (!page) return;
  await settled(page);
  for (const name of ['Edit', 'Accept…', 'It has happened…', 'Close…', 'Delete', 'Add task']) {
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
  const others: [path: string | undefined, name: string][] = [
    [paths.personnel, 'Add person'],
    [paths.personnel, 'Import'],
    [paths.person, 'Deactivate…'],
    [paths.groups, 'New group'],
    [paths.issues, 'New issue'],
    [paths.projects, 'New project'],
    [paths.keys, 'New key'],
  ];
  for (const [path, name] of others) {
    await page.goto(`${console.app.baseUrl}${path}`);
    await settled(page);
    await page.getByRole('button', { name }).click();
    await page.getByRole('dialog').waitFor();
    await settled(page);
    await assertAccessibleInBoth(page, name);
  }
  await page.goto(`${console.app.baseUrl}/risks`);
  await settled(page);
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('menuitem').first().waitFor();
  await assertAccessibleInBoth(page, 'the export');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Level' }).click();
  await page.getByRole('checkbox').first().waitFor({ state: 'attached' });
  await assertAccessibleInBoth(page, 'a filter');
});

test('signing in breaks no rule', async (t) => {
  const page = await console.open(t, '/', { signedIn: false });
  if (!page) return;
  await page.getByLabel('API key').waitFor();
  await assertAccessibleInBoth(page, 'sign-in');
});

test('no page breaks a rule on a phone, or is wider than it', async (t) => {
  const viewport = { width: 390, height: 844 };
  const page = await console.open(t, '/', { viewport, hasTouch: true, isMobile: true });
  if (!page) return;
  for (const [name, path] of Object.entries(paths)) {
    await page.goto(`${console.app.baseUrl}${path}`);
    await settled(page);
    await screenshot(page, `${name}-phone`);
    await assertAccessible(page, name);
    const width: number = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= viewport.width, `${name} is ${width} wide`);
  }
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('dialog', { name: 'Menu' }).getByRole('link', { name: 'Risks' }).click();
  await page.getByRole('heading', { level: 1, name: 'Risks' }).waitFor();
});

/** In light and in dark colours, with a picture of each. */
async function assertAccessibleInBoth(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await screenshot(page, `${name.replace(/[^\w-]+/g, '-').toLowerCase()}-${colorScheme}`);
    await assertAccessible(page, `${name}, ${colorScheme}`);
  }
}
