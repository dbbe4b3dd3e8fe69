import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible } from './axe.ts';
import { type Console, screenshot, startConsole, waitUntilLoaded } from './console.ts';

let console: Console;
/** Every page, with much on it. */
let paths: Record<string, string>;
/** Pages with little on them, which axe checks faster, and the buttons on them that open something. */
let openers: [path: string, opens: readonly (string | readonly string[])[]][];

before(async () => {
  console = await startConsole();
  const first = async (list: string) => (await console.get(`${list}?limit=1`)).data[0];
  const webhook = await console.post('/v1/webhooks', { url: `${console.app.baseUrl}/hook`, types: ['*'] });
  const person = await first('/v1/personnel');
  paths = {
    overview: '/',
    risks: '/risks',
    issues: '/issues',
    tasks: '/tasks',
    projects: '/projects',
    webhooks: '/webhooks',
    webhook: `/webhooks/${webhook.id}`,
    personnel: '/personnel',
    groups: '/groups',
    keys: '/keys',
    report: '/report?project=APOLLO',
    risk: `/risks/${(await first('/v1/risks')).key}`,
    task: `/tasks/${(await first('/v1/tasks')).key}`,
    issue: `/issues/${(await first('/v1/issues')).key}`,
    project: '/projects/APOLLO',
    'project-risks': '/projects/OPENED?tab=risks',
    'project-issues': '/projects/OPENED?tab=issues',
    'project-tasks': '/projects/OPENED?tab=tasks',
    'project-activity': '/projects/OPENED?tab=activity',
    person: `/personnel/${person.user_id}`,
    group: `/groups/${(await first('/v1/groups')).id}`,
    'not-found': '/groups/grp_00000000000000000000000000',
    'no-match': '/risks?q=matches-no-risk',
  };

  const project = await console.post('/v1/projects', { name: 'Opened', key: 'OPENED' });
  const risk = await console.post('/v1/projects/OPENED/risks', { title: 'Opened 7310' });
  const issue = await console.post('/v1/projects/OPENED/issues', { title: 'Opened 7310' });
  const task = await console.post('/v1/projects/OPENED/tasks', { title: 'Opened 7310', risk_id: risk.id });
  const group = await console.post('/v1/groups', { name: 'Opened' });
  await console.post('/v1/keys', { name: 'Opened 7310', scopes: ['projects.read'] });
  openers = [
    [
      `/risks/${risk.key}`,
      ['Edit', 'Accept…', 'Mark as occurred…', 'Close…', 'Delete', 'Assess', 'Edit: Opened 7310'],
    ],
    [`/risks/${risk.key}`, ['Add custom field']],
    [`/issues/${issue.key}`, ['Edit', 'Mark as blocked…', 'Resolve…', `Assign…, ${issue.key}`]],
    [`/tasks/${task.key}`, ['Edit']],
    [`/projects/${project.key}`, ['Edit', 'Archive', 'Import']],
    [`/personnel/${person.user_id}`, ['Edit', 'Deactivate…', 'Add to group']],
    [`/groups/${group.id}`, ['Edit']],
    ['/risks?q=7310', ['Create risk', 'Views', 'Columns', 'Export', 'Project', 'Level', 'Owner']],
    ['/risks?q=7310', [['Views', 'Save as view…'], 'Status', 'Needs attention', 'Owning group']],
    ['/issues?q=7310', ['Create issue']],
    [
      '/issues?q=7310',
      [[`Select ${issue.key}`, 'Set status…'], ['Set due date…'], ['Assign…'], ['Set status…', 'Resolved']],
    ],
    ['/tasks?q=7310', ['Add task']],
    ['/projects?q=opened', ['Create project']],
    ['/personnel?q=adaeze', ['Add person', 'Import']],
    ['/groups', ['Create group']],
    ['/keys?q=7310', ['Create key', 'Edit Opened 7310', 'Rotate Opened 7310', 'Revoke Opened 7310']],
    ['/webhooks', ['Create webhook']],
    [`/webhooks/${webhook.id}`, ['Edit', 'Rotate secret…', 'Replay…']],
  ];
});

after(() => console.stop());

test('pages meet WCAG 2.2 AA at three widths in both themes, and are not wider than the screen', async (t) => {
  const routes = readFileSync(new URL('../src/app.tsx', import.meta.url), 'utf8').matchAll(
    /^ {2}\['(\/.*?)', /gm,
  );
  for (const [, route = ''] of routes) {
    // design.test.ts checks it.
    if (route === '/design') continue;
    const pattern = new RegExp(`^${route.replace(/:\w+/, '[^/]+')}(\\?.*)?$`);
    assert.ok(
      Object.values(paths).some((path) => pattern.test(path)),
      `${route} is not checked`,
    );
  }
  const page = await console.open(t, '/');
  if (!page) return;
  for (const [name, path] of Object.entries(paths)) {
    await page.goto(`${console.app.baseUrl}${path}`);
    await waitUntilLoaded(page);
    await assertAccessibleAt(page, name, [1440, 1024, 390], [1440, 390]);
  }
});

test('dialogs, menus and popovers meet WCAG 2.2 AA on a desktop and a phone in both themes', async (t) => {
  const page = await console.open(t, '/');
  if (!page) return;
  const layer = page.locator('.popover, .overlay');
  const check = async (name: string) => {
    await layer.first().waitFor();
    await page.waitForFunction(() => document.querySelector('.overlay .loading, .popover .loading') === null);
    // It is never wider than 46rem, so that 1024 has no layout of its own.
    await assertAccessibleAt(page, name, [1440, 390], [1440]);
    await page.setViewportSize({ width: 1440, height: 900 });
    // Suggestions close before the popover that they are in.
    for (let count = await layer.count(); count > 0; count = await layer.count()) {
      await page.keyboard.press('Escape');
      await page.waitForFunction((n) => document.querySelectorAll('.popover, .overlay').length < n, count);
    }
  };
  for (const [path, opens] of openers) {
    await page.goto(`${console.app.baseUrl}${path}`);
    await waitUntilLoaded(page);
    for (const names of opens) {
      for (const name of [names].flat()) {
        const roles = (['menuitem', 'checkbox'] as const).map((role) =>
          page.getByRole(role, { name, exact: true }),
        );
        const button = page.getByRole('button', { name, exact: true });
        await roles
          .reduce((either, one) => either.or(one), button)
          .first()
          .click();
      }
      await check(`${path.split('/')[1]} ${[names].flat().join(' ')}`);
    }
  }
  await page.goto(`${console.app.baseUrl}/keys?q=7310`);
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Opened 7310');
  await page.keyboard.press('Escape');
  await page.getByRole('alertdialog').waitFor();
  await assertAccessibleAt(page, 'discard', [1440, 390], [1440]);
  await page.getByRole('button', { name: 'Keep editing' }).click();
  await page.getByRole('checkbox', { name: 'Read personnel' }).check();
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
  await page.getByText("you won't see it again").waitFor();
  await assertAccessibleAt(page, 'secret', [1440, 390], [1440]);
  await page.getByRole('button', { name: 'Done' }).click();
  await page.keyboard.press('?');
  await check('shortcuts');
  await page.keyboard.press('Control+k');
  await page.getByRole('searchbox', { name: 'Go to' }).fill('opened');
  await page
    .getByRole('menuitem', { name: /Opened 7310/ })
    .first()
    .waitFor();
  await assertAccessibleAt(page, 'palette', [1440, 390], [1440]);
  await page.goto(console.app.baseUrl);
  await waitUntilLoaded(page);
  await page.getByRole('button', { name: 'Menu' }).click();
  await assertAccessibleAt(page, 'menu', [390], [390]);
  await page.getByRole('dialog', { name: 'Menu' }).getByRole('link', { name: 'Risks' }).click();
  await page.getByRole('heading', { level: 1, name: 'Risks' }).waitFor();
});

test('the sign-in page and the API reference meet WCAG 2.2 AA', async (t) => {
  const page = await console.open(t, '/', { signedIn: false });
  if (!page) return;
  await page.getByLabel('API key').waitFor();
  await assertAccessibleAt(page, 'sign-in', [1440, 1024, 390], [1440, 390]);
  for (const path of ['/problems/stale', '/problems', '/docs']) {
    await page.goto(`${console.app.baseUrl}${path}`, { timeout: 60_000 });
    // All operations are alike, and axe takes minutes for them. The contents stay complete.
    await page.evaluate(() => {
      for (const one of document.querySelectorAll('.tag:not(.schemas) ~ .tag .entry, .entry ~ .entry'))
        one.remove();
    });
    await assertAccessibleAt(page, path.slice(1), [1440, 1024, 390], [1440]);
  }
});

/** Checks all rules at each width. The dark theme differs only in colors. */
async function assertAccessibleAt(
  page: Page,
  name: string,
  widths: readonly number[],
  darkWidths: readonly number[],
): Promise<void> {
  const file = name.replace(/[^\w-]+/g, '-').toLowerCase();
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: 'light' });
    await screenshot(page, `${file}-${width}`);
    await assertAccessible(page, `${name}, ${width}`);
    const scroll: number = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(scroll <= width, `${name} is ${scroll} wide at ${width}`);
    if (!darkWidths.includes(width)) continue;
    await page.emulateMedia({ colorScheme: 'dark' });
    await screenshot(page, `${file}-${width}-dark`);
    await assertAccessible(page, `${name}, ${width}, dark`, ['color-contrast']);
  }
}
