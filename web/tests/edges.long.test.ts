import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { screenshot, startConsole, test, visit } from './console.ts';
import { assertFits, hold, layoutShift } from './page.ts';

const console = startConsole();
const empty = startConsole({ isEmpty: true });

test('a key with only projects.read sees no people, and no button that it has no scope for', async (t) => {
  const page = await console.open(t, '/', { scopes: ['projects.read'] });
  const pages = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
  assert.deepEqual(await pages.allTextContents(), [
    'Overview',
    'Risks',
    'Issues',
    'Tasks',
    'Projects',
    'Steering report',
    'Settings',
  ]);
  const risk = (await console.get('/v1/risks?limit=1')).data[0];
  const issue = (await console.get('/v1/issues?limit=1')).data[0];
  const allowed = [
    /^Search/,
    /^(System|Light|Dark)$/,
    /^Sign out$/,
    /^(Print|Print or save as PDF|Export|Views)$/,
    /^Show (\d+ earlier|all \d+|more)$/,
    /^Change, 30 days$/,
    /^(Project|Status|Level|Needs attention|Severity|Priority|Health|Above appetite|Overdue|Unassigned|Archived|Kind|Columns)$/,
    // A week of the due dates on the overview.
    /: [\d,]+ \((Risk|Issue|Task) /,
  ];
  for (const path of [
    '/',
    '/risks',
    `/risks/${risk.key}`,
    '/issues',
    `/issues/${issue.key}`,
    '/tasks',
    '/projects',
    '/projects/APOLLO',
    '/report',
  ]) {
    await visit(page, path);
    assert.ok(!/@example\.com/.test(await page.content()), `${path} shows an address`);
    const people = page.locator('main a[href*="/personnel"], main a[href*="/groups"]');
    assert.equal(await people.count(), 0, path);
    const names: string[] = await page.getByRole('button').evaluateAll((buttons) =>
      buttons
        // Everyone can sort a list by its headers.
        .filter((button) => button.closest('th') === null)
        .map((button) => (button.ariaLabel ?? button.textContent ?? '').trim()),
    );
    const others = names.filter((name) => !allowed.some((one) => one.test(name)));
    assert.deepEqual(others, [], path);
  }
  for (const path of ['/personnel', '/groups', '/keys', '/access', '/audit']) {
    await page.goto(path);
    await page.getByText("Page not found, or you don't have access").waitFor();
  }
});

test('a session cannot send the requests that the console hides from its key', async (t) => {
  const page = await console.open(t, '/', { scopes: ['projects.read'] });
  const { key } = (await console.get('/v1/risks?limit=1')).data[0];
  const project = `/v1/projects/${key.split('-')[0]}`;
  const calls: [method: string, path: string, body?: object][] = [
    ['GET', '/v1/personnel'],
    ['GET', '/v1/groups'],
    ['GET', '/v1/keys'],
    ['POST', '/v1/personnel', { name: 'Eve' }],
    ['POST', '/v1/personnel/import', { name: 'Eve' }],
    ['POST', `${project}/risks`, { title: 'Eve' }],
    ['PATCH', `${project}/risks/${key}`, { title: 'Eve' }],
    ['DELETE', `${project}/risks/${key}`],
    ['POST', `${project}/risks/${key}/materialize`, {}],
    ['POST', '/v1/keys', { name: 'Eve', scopes: ['keys.manage'] }],
  ];
  for (const [method, path, data] of calls) {
    const response = await page.request.fetch(path, {
      method,
      headers: { origin: console.app.baseUrl },
      ...(data && { data }),
    });
    assert.equal(response.status(), 403, `${method} ${path}`);
    assert.equal((await response.json()).code, 'insufficient_scope', `${method} ${path}`);
  }
});

test('a wrong address and a service that cannot be reached are explained in plain words', async (t) => {
  const page = await console.open(t, '/no/such/page');
  await page.getByText("Page not found, or you don't have access").waitFor();
  await visit(page, '/keys');
  await page.route('**/assets/*.js', (route) => route.abort());
  await page.getByRole('link', { name: 'Groups' }).click();
  await page.getByRole('alert').getByText("Can't reach the service").waitFor();
});

test('a slow start shows the shape of a page, before and after the code has loaded', async (t) => {
  const page = await console.open(t, '/keys');
  for (const part of ['**/assets/*.js', '**/v1/me']) {
    const release = await hold(page, part);
    await page.goto('/keys', { waitUntil: 'commit' });
    await page.locator('.starting .skeleton').first().waitFor();
    release();
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor();
    await page.unroute(part);
  }
});

test('pages do not move while their parts load, at three widths', async (t) => {
  const { key: issue } = (await console.get('/v1/issues?limit=1')).data[0];
  const { key: risk } = (await console.get('/v1/risks?limit=1')).data[0];
  const { key: task } = (await console.get('/v1/tasks?limit=1')).data[0];
  const paths = ['overview', 'risks', 'issues', 'tasks', 'projects', 'personnel', 'groups', 'report'];
  paths.push(`risks/${risk}`, `issues/${issue}`, `tasks/${task}`);
  paths.push('projects/APOLLO', 'projects/APOLLO?tab=risks', 'projects/APOLLO?tab=activity');
  const moved: string[] = [];
  for (const [width, height] of [
    [1440, 900],
    [1024, 768],
    [390, 844],
  ] as const) {
    const page = await console.newPage(t, { viewport: { width, height } });
    // One response after the other.
    let count = 0;
    await page.route('**/v1/**', async (route) => {
      count += 1;
      await setTimeout(count * 20);
      await route.continue();
    });
    for (const path of paths) {
      count = 0;
      await visit(page, `/${path}`);
      const shift = await layoutShift(page);
      if (shift > 0.01) moved.push(`${path} by ${shift.toFixed(3)} at ${width}`);
    }
  }
  assert.deepEqual(moved, []);
});

test('the page of an item that does not exist leads to its list', async (t) => {
  const page = await console.open(t, '/risks/APOLLO-R999');
  await page.getByRole('heading', { name: 'Not found' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0);
  await page.getByRole('link', { name: 'Go to risks' }).click();
  await page.getByRole('heading', { name: 'Risks', exact: true }).waitFor();
  // No item can have this id.
  await page.goto('/personnel/usr_x');
  await page.getByRole('heading', { name: 'Not found' }).waitFor();
  assert.doesNotMatch((await page.locator('main').textContent()) ?? '', /usr_/);
  await page.getByRole('link', { name: 'Go to people' }).waitFor();
});

test('a key with only personnel.read starts on the personnel page', async (t) => {
  const page = await console.open(t, '/', { scopes: ['personnel.read'] });
  await page.getByRole('heading', { level: 1, name: 'People' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Add person' }).count(), 0);
});

/** Where the text itself starts, not the box around it. */
const leftOfText = (element: Element) => {
  let text: Node = element;
  while (text.firstChild) text = text.firstChild;
  const range = document.createRange();
  range.selectNodeContents(text);
  return range.getBoundingClientRect().left;
};

for (const [name, text] of Object.entries({
  script: '<script>document.title = "broken"</script><img src=x onerror="document.title=1">',
  long: 'W'.repeat(200),
  rightToLeft: 'مخاطر توريد الصمامات من المورد الوحيد',
  emoji: '👩‍🚀🚨 Überläufe 🏴󠁧󠁢󠁳󠁣󠁴󠁿',
})) {
  test(`unusual text is shown as text and does not break the layout: ${name}`, async (t) => {
    const person = await console.post('/v1/personnel', { name: text, title: text });
    const group = await console.post('/v1/groups', { name: text, description: text });
    const key = `T${name.length}${name.slice(0, 2).toUpperCase()}`;
    await console.post('/v1/projects', { name: text, key });
    const fields = { title: text, description: text };
    const worst = { probability: 5, impact: 5 };
    const risk = await console.post(`/v1/projects/${key}/risks`, {
      ...fields,
      ...worst,
      owner_user_id: person.user_id,
    });
    const issue = await console.post(`/v1/projects/${key}/issues`, { ...fields, severity: 'critical' });
    const page = await console.newPage(t, { user_id: person.user_id });
    for (const path of [
      `/risks?project=${key}`,
      `/risks/${risk.key}`,
      `/issues?project=${key}`,
      `/issues/${issue.key}`,
      `/projects/${key}`,
      `/personnel/${person.user_id}`,
      `/groups/${group.id}`,
      '/groups',
      '/overview',
      '/',
    ]) {
      await visit(page, path);
      const shown = await page.locator('main').textContent();
      if (path !== '/overview') assert.ok(shown?.includes(text), `${path} does not show it`);
      assert.notEqual(await page.title(), 'broken');
      for (const width of [390, 1280]) {
        await page.setViewportSize({ width, height: 844 });
        await assertFits(page, `${path} at ${width}`);
        if (name === 'rightToLeft' && /^\/\w+\//.test(path)) {
          const left: number = await page.locator('h1').evaluate(leftOfText);
          assert.ok(left < width / 4 + 20, `${path}: the heading is below its breadcrumbs`);
        }
      }
    }
  });
}

test('an empty page explains how to start', async (t) => {
  const page = await empty.newPage(t);
  const assertExplained = async (path: string, title: string, text: RegExp) => {
    await page.goto(path);
    await page.getByRole('heading', { name: title }).waitFor();
    assert.match((await page.locator('.empty').textContent()) ?? '', text);
  };
  for (const [path, title, text] of [
    ['/projects', 'No projects yet', /Create a project/],
    ['/personnel', 'No people yet', /Add the people/],
    ['/groups', 'No groups yet', /Create a group/],
    ['/webhooks', 'No webhooks yet', /Create a webhook/],
    ['/access', 'Nobody has access yet', /Give somebody access/],
  ] as const)
    await assertExplained(path, title, text);
  // Without a project nothing else can be created.
  for (const path of ['/risks', '/issues', '/tasks', '/report']) {
    await assertExplained(path, 'No projects yet', /Create a project/);
    await page.getByRole('link', { name: 'Create project' }).click();
    await page.getByRole('dialog', { name: 'Create project' }).waitFor();
  }
  await page.goto('/risks?new=true');
  const dialog = page.getByRole('dialog', { name: 'Create risk' });
  await dialog.getByText('There are no projects yet').waitFor();
  await dialog.getByRole('link', { name: 'Create project' }).click();
  await page.getByRole('dialog', { name: 'Create project' }).waitFor();
  const project = await empty.post('/v1/projects', { key: 'FIRST', name: 'First' });
  await assertExplained('/risks', 'No risks yet', /Create a risk/);
  await assertExplained('/issues', 'No open issues', /Create an issue/);
  await assertExplained('/tasks', 'No open tasks', /Add tasks/);
  await assertExplained('/report?project=OTHER', 'No projects match these filters', /Clear filters/);
  await empty.delete(`/v1/projects/${project.id}`);
});

test('an empty register has nothing to filter and no heat map, and one whose items are closed has filters', async (t) => {
  const project = await empty.post('/v1/projects', { key: 'BARE', name: 'Bare' });
  const page = await empty.newPage(t);
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 844 });
    for (const [path, text] of [
      ['/risks', /drop your CSV or Excel file here/],
      ['/issues', /drop your CSV or Excel file here/],
      ['/tasks', /Add tasks to a project/],
    ] as const) {
      await visit(page, path);
      await page.locator('.empty', { hasText: text }).waitFor();
      assert.equal(await page.locator('.filters, .heat-map-card').count(), 0, path);
      assert.ok((await layoutShift(page)) <= 0.01, path);
      await screenshot(page, `empty-${path.slice(1)}-${width}`);
    }
  }
  const risk = await empty.post('/v1/projects/BARE/risks', { title: 'Over' });
  await empty.patch(`/v1/projects/BARE/risks/${risk.key}`, { status: 'closed', closure_reason: 'Gone' });
  await visit(page, '/risks');
  await page.getByRole('heading', { name: 'No risks yet' }).waitFor();
  await page.locator('.filters').waitFor();
  await empty.delete(`/v1/projects/BARE/risks/${risk.key}`);
  await visit(page, '/risks?as_of=2026-01-01');
  await page.locator('.filters').waitFor();
  await empty.delete(`/v1/projects/${project.id}`);
});

test('a guide leads through the first day, checks off what exists and can be dismissed', async (t) => {
  const page = await empty.newPage(t);
  await page.goto('/overview');
  const guide = guideOf(page);
  await guide.getByRole('link', { name: 'Add a project' }).click();
  await page.getByRole('dialog', { name: 'Create project' }).waitFor();
  const project = await empty.post('/v1/projects', { key: 'GUIDE', name: 'Guide' });
  await page.goto('/overview');
  await guide.getByText('Add a project, done').waitFor();
  assert.deepEqual(await guide.getByRole('link').allTextContents(), [
    'Drop your spreadsheet',
    'Invite a colleague',
  ]);
  await page.getByRole('heading', { name: 'Project health' }).waitFor();
  // One by one is no import, and two rows are one.
  for (const title of ['First', 'Second']) await empty.post('/v1/projects/GUIDE/issues', { title });
  await page.reload();
  await guide.getByRole('link', { name: 'Drop your spreadsheet' }).click();
  const dialog = page.getByRole('dialog', { name: 'Import risks' });
  await dialog.locator('input[type=file]').setInputFiles({
    name: 'risks.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from('title,project\nNo valves,GUIDE\nNo pipes,GUIDE\n'),
  });
  await dialog.getByRole('button', { name: /^Import 2/ }).click();
  await dialog.getByText('Import finished.').waitFor();
  await page.goto('/overview');
  await guide.getByText('Drop your spreadsheet, done').waitFor();
  const reader = await empty.open(t, '/overview', { scopes: ['personnel.manage', 'projects.read'] });
  assert.deepEqual(await guideOf(reader).getByRole('link').allTextContents(), ['Drop your spreadsheet']);

  await guide.getByRole('button', { name: 'Dismiss the guide' }).click();
  await guide.waitFor({ state: 'detached' });
  await page.reload();
  await page.getByRole('heading', { name: 'Project health' }).waitFor();
  assert.equal(await guide.count(), 0);
  for (const list of ['risks', 'issues'])
    for (const { id } of (await empty.get(`/v1/projects/GUIDE/${list}?status=all`)).data)
      await empty.delete(`/v1/projects/GUIDE/${list}/${id}`);
  await empty.delete(`/v1/projects/${project.id}`);
});

const guideOf = (page: Page) => page.getByRole('region', { name: 'Get started' });
