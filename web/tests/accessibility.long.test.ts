import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { assertAccessible, type Rules } from './axe.ts';
import { screenshot, startConsole, test, visit } from './console.ts';
import { assertFits, daysAgo } from './page.ts';

/** Every page, with much on it. */
let paths: Record<string, string>;
/** Pages with little on them, which axe checks faster, and the steps that open something on them. */
let openers: [path: string, ...opens: (Step | readonly Step[])[]][];

/** A person with work. */
let user_id: string;

/** The name of what to press, a field and its text (`Name = text`), or something else to do. */
type Step = string | ((page: Page) => Promise<unknown>);

const console = startConsole({
  async fill() {
    const first = async (list: string) => (await console.get(`${list}?limit=1`)).data[0];
    // Webhooks may be sent to this address only.
    const receiver = console.app.baseUrl.replace('localhost', '127.0.0.1');
    const webhook = await console.post('/v1/webhooks', { url: `${receiver}/hook`, types: ['*'] });
    const person = await first('/v1/personnel');
    ({ user_id } = person);
    const apollo = '/v1/projects/APOLLO';
    const [assignee_user_id, owner_user_id] = [user_id, user_id];
    await console.post(`${apollo}/tasks`, { title: 'Overdue', assignee_user_id, due_on: daysAgo(2) });
    await console.post(`${apollo}/tasks`, { title: 'Some day', assignee_user_id });
    await console.post(`${apollo}/issues`, { title: 'Due', assignee_user_id, due_on: daysAgo(-2) });
    await console.post(`${apollo}/risks`, { title: 'Reviewed', owner_user_id, review_on: daysAgo(2) });
    await console.post(`${apollo}/comments`, { body: `Please look, @${user_id}` });
    const saved = { audience: 'Board', commentary: '**Steady**', since: daysAgo(30) };
    await console.post('/v1/reports', { ...saved, title: 'First', project: ['APOLLO'] });
    const report = await console.post('/v1/reports', { ...saved, title: 'Second', length: 'full' });
    paths = {
      'my-work': '/',
      overview: '/overview',
      risks: '/risks',
      'risks-earlier': `/risks?as_of=${daysAgo(30)}`,
      issues: '/issues',
      tasks: '/tasks',
      projects: '/projects',
      webhooks: '/webhooks',
      webhook: `/webhooks/${webhook.id}`,
      personnel: '/personnel',
      groups: '/groups',
      keys: '/keys',
      account: '/account',
      access: '/access',
      audit: '/audit',
      settings: '/settings',
      'settings-organization': '/settings/organization',
      'settings-risk-model': '/settings/risk-model',
      'settings-categories': '/settings/categories',
      report: '/report?project=APOLLO',
      'report-earlier': `/report?as_of=${daysAgo(30)}&since=${daysAgo(120)}`,
      'report-saved': `/reports/${report.id}`,
      'risks-before': '/risks?as_of=2001-02-03',
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
    const items = `/v1/projects/${project.key}`;
    const title = 'Opened 7310';
    const attributes = { [title]: 'A value' };
    const risk = await console.post(`${items}/risks`, { title, attributes });
    const issue = await console.post(`${items}/issues`, { title });
    const task = await console.post(`${items}/tasks`, { title, risk_id: risk.id });
    const group = await console.post('/v1/groups', { name: 'Opened' });
    await console.post('/v1/keys', { name: title, scopes: ['projects.read'] });
    const member = await console.post('/v1/personnel', { name: title, email: 'opened@example.com' });
    await console.put(`/v1/personnel/${member.user_id}/access`, { scopes: ['projects.read'] });
    const choose = (content: string) => (page: Page) =>
      page
        .locator('input[type=file]')
        .setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(content) });
    const until = (text: string) => (page: Page) => page.getByText(text).first().waitFor();
    /** After the name and the title, an option has skills and load. */
    const option = (name: string) => (page: Page) => page.getByRole('option', { name }).click();
    const preview = (item: { key: string; title: string }) => async (page: Page) => {
      await page.getByRole('link', { name: item.title, exact: true }).focus();
      await page.keyboard.press('Space');
      await page.getByRole('complementary', { name: `Preview of ${item.key}` }).waitFor();
    };
    const isClosed = (page: Page) => page.locator('.overlay').waitFor({ state: 'detached' });
    const rows = choose(
      'Full name,E-mail,Status,Badge\nOpened Ines,,gone,1\nOpened Ivo,no address,active,2\n',
    );
    openers = [
      [`/risks/${risk.key}`, 'Edit', 'Accept…', 'Mark as occurred…', 'Close…', 'Delete', 'Assess'],
      [`/risks/${risk.key}`, 'Edit Title', 'Edit Description', 'Edit Strategy', 'Edit Owner', 'Edit Due'],
      [`/risks/${risk.key}`, 'Add custom field', `Edit ${title}`, 'Edit Owning group'],
      [
        `/risks/${risk.key}`,
        [
          'Edit Category',
          'Category = mine',
          () => console.patch(`${items}/risks/${risk.key}`, { category: 'theirs' }),
          'Save',
          until('theirs (yours: mine)'),
        ],
      ],
      [
        `/risks/${risk.key}`,
        ['Write a comment = Mine', 'Comment', 'Delete comment'],
        'Write a comment = @ad',
        'Edit comment',
      ],
      [`/issues/${issue.key}`, 'Edit', 'Mark as blocked…', 'Resolve…', `Assign…, ${issue.key}`],
      [`/tasks/${task.key}`, 'Edit'],
      [`/projects/${project.key}`, 'Edit', 'Archive', 'Import'],
      [`/personnel/${person.user_id}`, 'Edit', 'Deactivate…', 'Add to group'],
      [
        `/groups/${group.id}`,
        [
          'Edit',
          'Name = Mine',
          () => console.patch(`/v1/groups/${group.id}`, { name: 'Theirs' }),
          'Save',
          until('Someone else changed this while you were editing'),
        ],
        'Delete',
      ],
      ['/risks?q=7310', ['Create risk', (page) => page.getByText('More', { exact: true }).click()]],
      [
        '/risks?q=7310',
        ['Views', 'Save as view…'],
        [`Select ${risk.key}`, 'Assign…'],
        ['Set status…', 'Closed'],
        'Set…',
        ['Set…', 'Category'],
        ['Set…', 'Review date'],
        ['Set…', 'Strategy'],
        'Import',
      ],
      ['/risks?q=7310', `Edit due of ${risk.key}`, [preview(risk)]],
      ['/issues?q=7310', [preview(issue)]],
      ['/tasks?q=7310', [preview(task)]],
      [
        '/risks?q=7310&sort=title',
        ['Views', 'Save as view…', 'Name = Opened', 'Save view', isClosed, 'Views Opened'],
        ['Views Opened', 'Manage views…'],
        ['Views Opened', 'Manage views…', 'Rename Opened'],
      ],
      ['/issues?q=7310', 'Create issue', `Resolve ${issue.key}`],
      ['/issues?q=7310', [`Select ${issue.key}`, 'Set status…'], 'Set due date…', 'Assign…'],
      [
        '/issues?q=7310',
        [`Select ${issue.key}`, 'Set status…', 'Resolved'],
        ['Set due date…', 'Due = 2020-01-01', 'Update 1 issue', until('Nothing was changed')],
      ],
      ['/issues?q=7310', [`Assign…, ${issue.key}`, option(`${person.name} ${person.title}`), until('Undo')]],
      ['/tasks?q=7310', 'Add task', [`Select ${task.key}`, 'Assign…']],
      ['/projects?q=opened', 'Create project'],
      [
        '/personnel?q=adaeze',
        ['Add person', 'Name = Opened', 'Email = none', 'Add person', until('address')],
      ],
      ['/personnel?q=adaeze', 'Add person', 'Import', ['Import', rows, until('with errors')]],
      [
        '/personnel?q=adaeze',
        ['Import', choose('Name\nOpened Ida\n'), 'Import 1 row', until('Import finished')],
      ],
      ['/personnel?q=adaeze', ['Import', choose('"'), until('Choose another file')]],
      ['/groups', 'Create group'],
      ['/keys?q=7310', 'Create key', `Edit ${title}`, `Rotate ${title}`, `Revoke ${title}`],
      ['/access?q=7310', 'Give access', `Invite ${title}`, `End access of ${title}`],
      [`/personnel/${member.user_id}`, 'Change access', 'Copy invitation link', 'End access'],
      ['/audit'],
      ['/webhooks', 'Create webhook'],
      [`/webhooks/${webhook.id}`, 'Edit', 'Rotate secret…', 'Replay…', 'Issue created, details', 'Delete'],
      // What opens from a button of a list or a page is found by its state.
      ['/projects/OPENED?tab=risks'],
      [`/report?project=${project.key}`, 'Save report…'],
      [`/reports/${report.id}`, 'Delete'],
    ];
  },
});

test('pages meet WCAG 2.2 AA at three widths in both themes, and are not wider than the screen', async (t) => {
  const routes = readFileSync(new URL('../src/app.tsx', import.meta.url), 'utf8').matchAll(
    /^ {2}\['(\/.*?)', /gm,
  );
  for (const [, route = ''] of routes) {
    const pattern = new RegExp(`^${route.replace(/:\w+/, '[^/]+')}(\\?.*)?$`);
    assert.ok(
      Object.values(paths).some((path) => pattern.test(path)),
      `${route} is not checked`,
    );
  }
  const page = await console.open(t, '/', { user_id });
  for (const [name, path] of Object.entries(paths)) {
    await visit(page, path);
    await openDetails(page);
    await assertAccessibleAt(page, name);
  }
});

test('dialogs, menus and popovers meet WCAG 2.2 AA in both themes, and fit a phone', async (t) => {
  const page = await console.open(t, '/');
  const layerSelector = '.popover, .overlay, .inline-editor';
  const layers = page.locator(layerSelector);
  /** Buttons that several pages have are pressed once. */
  const checked = new Set<string>();
  /** Checks what opens from each button that says so, such as a menu, a filter or a combo box. */
  const checkTriggers = async (scope: Locator, where: string) => {
    const triggers = scope.locator('button[aria-expanded="false"]:visible');
    for (let index = 0; index < (await triggers.count()); index += 1) {
      const trigger = triggers.nth(index);
      const name = await trigger.evaluate((one) =>
        [one.ariaLabel ?? one.textContent, one.closest('.picker')?.querySelector('input')?.ariaLabel].join(
          ' ',
        ),
      );
      if (checked.has(name)) continue;
      checked.add(name);
      const count = await layers.count();
      // A list closes when what it is in scrolls.
      await trigger.scrollIntoViewIfNeeded();
      await page.evaluate(
        () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
      );
      await trigger.click();
      await layers.nth(count).waitFor();
      await check(`${where} ${name}`, count);
    }
  };
  const check = async (name: string, below = 0) => {
    await page.locator(`${layerSelector}, .toast, .comment form, .preview-panel`).first().waitFor();
    await page.waitForFunction(() => document.querySelector('.overlay .loading, .popover .loading') === null);
    await page.waitForFunction(
      () => !document.querySelector('.popover')?.textContent?.includes('Searching…'),
    );
    await openDetails(page);
    // A list in a dialog looks the same everywhere.
    await assertAccessibleAt(page, name, below === 0 ? layerChecks : layerChecks.slice(0, 1));
    const count = await layers.count();
    if (count > below) await checkTriggers(layers.nth(count - 1), name);
    await closeTo(below);
  };
  /** A form with changes asks first. A dialog can return to the one before it. */
  const closeTo = async (below: number) => {
    while ((await layers.count()) > below) {
      const before = JSON.stringify(await layers.allTextContents());
      const discard = page.getByRole('button', { name: 'Discard', exact: true });
      if (await discard.isVisible()) await discard.click();
      else await page.keyboard.press('Escape');
      await page.waitForFunction(
        ([selector, text]) =>
          JSON.stringify([...document.querySelectorAll(selector)].map((one) => one.textContent)) !== text,
        [layerSelector, before] as const,
      );
    }
  };
  const take = async (step: Step) => {
    if (typeof step !== 'string') return step(page);
    const scope = (await layers.count()) > 0 ? layers.last() : page;
    const [name = '', text] = step.split(' = ');
    if (text !== undefined) {
      const day = scope.getByLabel(name, { exact: true }).and(page.locator('[type=date]'));
      const box = scope.getByRole('combobox', { name, exact: true });
      return scope.getByRole('textbox', { name, exact: true }).or(box).or(day).fill(text);
    }
    const roles = ['menuitem', 'menuitemradio', 'checkbox', 'option'] as const;
    await roles
      .map((role) => scope.getByRole(role, { name, exact: true }))
      .reduce((either, one) => either.or(one), scope.getByRole('button', { name, exact: true }))
      .first()
      .click();
  };
  for (const [path, ...opens] of openers) {
    await visit(page, path);
    await checkTriggers(page.locator('main'), path.split('/')[1] ?? '');
    for (const steps of opens) {
      for (const step of [steps].flat()) await take(step);
      const names = [steps].flat().filter((step) => typeof step === 'string');
      await check(`${path.split('/')[1]} ${names.join(' ')}`);
    }
  }
  await page.goto('/keys?q=7310');
  for (const step of ['Create key', 'Name = Opened 7310']) await take(step);
  await page.keyboard.press('Escape');
  await page.getByRole('alertdialog').waitFor();
  await assertAccessibleAt(page, 'discard', layerChecks);
  await take('Keep editing');
  for (const step of ['Read people', 'Create key']) await take(step);
  await page.getByText("you won't see it again").waitFor();
  await assertAccessibleAt(page, 'secret', layerChecks);
  await take('Done');
  await page.keyboard.press('?');
  await layers.waitFor();
  await check('shortcuts');
  await page.keyboard.press('Control+k');
  await page.getByRole('searchbox', { name: 'Go to' }).fill('opened');
  await page
    .getByRole('menuitem', { name: /Opened 7310/ })
    .first()
    .waitFor();
  await assertAccessibleAt(page, 'palette', layerChecks);
  await visit(page, '/');
  await page.setViewportSize({ width: 390, height: 900 });
  await take('Menu');
  await assertAccessibleAt(page, 'menu', [
    [390, 'light', 'all'],
    [390, 'dark', 'colors'],
  ]);
  await page.getByRole('dialog', { name: 'Menu' }).getByRole('link', { name: 'Groups' }).click();
  for (const step of ['Create group', 'Name = Opened later']) await take(step);
  await page.context().clearCookies();
  await take('Create group');
  await page.getByText('Your session has ended').first().waitFor();
  await assertAccessibleAt(page, 'sign-in-again', layerChecks);
});

test('the sign-in page and the pages of errors meet WCAG 2.2 AA', async (t) => {
  const page = await console.open(t, '/', { signedIn: false });
  await page.getByLabel('Email').waitFor();
  await openDetails(page);
  await assertAccessibleAt(page, 'sign-in');
  for (const path of ['/problems/stale', '/problems']) {
    await page.goto(path);
    await assertAccessibleAt(page, path.slice(1));
  }
});

type Check = readonly [width: number, colorScheme: 'light' | 'dark', rules: Rules | 'none'];

/** The themes differ only in colors, which no width changes. Between the widest and a phone, only columns are left out. */
const pageChecks: readonly Check[] = [
  [1440, 'light', 'all'],
  [1440, 'dark', 'colors'],
  [1024, 'light', 'none'],
  [390, 'light', 'all'],
];

/**
 * Dialogs and popovers are never wider than 46rem, so that 1024 has no layout of its own. On a phone they have the same
 * content, so that only their width is checked.
 */
const layerChecks: readonly Check[] = [
  [1440, 'light', 'all'],
  [1440, 'dark', 'colors'],
  [390, 'light', 'none'],
];

async function assertAccessibleAt(page: Page, name: string, checks = pageChecks): Promise<void> {
  const file = name.replace(/[^\w-]+/g, '-').toLowerCase();
  for (const [width, colorScheme, rules] of checks) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    await screenshot(page, `${file}-${width}${colorScheme === 'dark' ? '-dark' : ''}`);
    if (rules !== 'none') await assertAccessible(page, `${name}, ${width}, ${colorScheme}`, rules);
    await assertFits(page, `${name} at ${width}`);
  }
  if (checks.some(([width]) => width === 1440)) await page.setViewportSize({ width: 1440, height: 900 });
}

/** Opens all that is collapsed. */
async function openDetails(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const one of document.querySelectorAll('details')) one.open = true;
  });
  await page.waitForFunction(() => document.querySelector('.loading') === null);
}
