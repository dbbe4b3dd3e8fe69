import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible } from './axe.ts';
import { type Console, startConsole, waitUntilLoaded } from './console.ts';

let console: Console;

type Project = { name: string; updated_at: string };

before(async () => {
  console = await startConsole();
});

after(() => console.stop());

test('shortcuts search, move between rows, assign, create and list themselves', async (t) => {
  const page = await console.open(t, '/issues', { viewport: { width: 1440, height: 900 } });
  if (!page) return;
  await waitUntilLoaded(page);
  const focusedKey = () =>
    page.evaluate(() => document.activeElement?.closest('tr')?.querySelector('.key')?.textContent);
  const keys = await page.locator('tbody .inline-key').allTextContents();
  await page.keyboard.press('j');
  assert.equal(await focusedKey(), keys[0]);
  await page.keyboard.press('j');
  assert.equal(await focusedKey(), keys[1]);
  await page.keyboard.press('k');
  assert.equal(await focusedKey(), keys[0]);
  await page.keyboard.press('a');
  await page.getByRole('combobox', { name: 'Assign to' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await page.getByRole('combobox', { name: 'Assign to' }).waitFor({ state: 'detached' });
  await page.keyboard.press('/');
  await page.keyboard.type('c?');
  assert.equal(await page.getByRole('searchbox').inputValue(), 'c?');
  await page.getByRole('heading', { level: 1 }).click();
  await page.keyboard.press('c');
  await page.getByRole('dialog', { name: 'Create issue' }).waitFor();
  await page.goto(`${console.app.baseUrl}/keys`);
  await waitUntilLoaded(page);
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await assertAccessible(page, 'shortcuts');
});

test('the palette runs commands and finds groups, tasks and an item by its key', async (t) => {
  const group = await console.post('/v1/groups', { name: 'Palette group' });
  const task = await console.post('/v1/projects/APOLLO/tasks', { title: 'Palette task' });
  const page = await console.open(t, '/keys');
  if (!page) return;
  await waitUntilLoaded(page);
  const choose = async (text: string, option: RegExp) => {
    await page.keyboard.press('Control+k');
    await page.getByRole('searchbox', { name: 'Go to' }).fill(text);
    await page.getByRole('menuitem', { name: option }).click();
  };
  await choose('palette gr', /Palette group/);
  await page.waitForURL(new RegExp(group.id));
  await choose(task.key, /Palette task/);
  await page.waitForURL(new RegExp(`/tasks/${task.key}`));
  await choose('create risk', /Create risk/);
  await page.getByRole('dialog', { name: 'Create risk' }).waitFor();
  assert.equal(new URL(page.url()).search, '');
});

test('tasks are sorted by the header of a column, and by their due date again', async (t) => {
  const viewport = { width: 1440, height: 900 };
  const page = await console.open(t, '/tasks?columns=due,title,start', { viewport });
  if (!page) return;
  await waitUntilLoaded(page);
  const [byStart] = (await console.get('/v1/tasks?sort=start_on&limit=1')).data;
  const [byDue] = (await console.get('/v1/tasks?limit=1')).data;
  assert.notEqual(byStart.key, byDue.key);
  const header = (name: string) => page.getByRole('columnheader', { name, exact: true });
  const firstRow = page.locator('tbody tr[aria-rowindex="2"]');
  await firstRow.getByRole('link', { name: byDue.title, exact: true }).waitFor();
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.waitForURL(/sort=start_on/);
  await firstRow.getByRole('link', { name: byStart.title, exact: true }).waitFor();
  assert.equal(await header('Start').getAttribute('aria-sort'), 'ascending');
  await page.getByRole('button', { name: 'Due', exact: true }).click();
  await firstRow.getByRole('link', { name: byDue.title, exact: true }).waitFor();
  assert.doesNotMatch(page.url(), /sort=/);
});

test('tasks of all projects are listed, filtered by a person, added and completed', async (t) => {
  const person = await console.post('/v1/personnel', { name: 'Tessa Taskowner' });
  const { key } = await console.post('/v1/projects/APOLLO/tasks', {
    title: 'Grease the hinge',
    assignee_user_id: person.user_id,
  });
  const page = await console.open(t, '/tasks', { viewport: { width: 1440, height: 900 } });
  if (!page) return;
  await waitUntilLoaded(page);
  const { page: counted } = await console.get('/v1/tasks?limit=1&count=true');
  await page
    .locator('.summary-line')
    .getByText(`${counted.total.toLocaleString('en-GB')} open tasks`)
    .waitFor();
  await assertAccessible(page, 'tasks');
  await page.getByRole('search').getByRole('button', { name: 'Assignee', exact: true }).click();
  await page.getByRole('combobox', { name: 'Assignee' }).fill('tessa');
  await page.getByRole('option', { name: 'Tessa Taskowner' }).click();
  await page.waitForURL(new RegExp(person.user_id));
  await page.getByRole('button', { name: 'Assignee Tessa Taskowner' }).waitFor();
  await page.locator('.summary-line').getByText('1 open task').waitFor();
  await page.getByRole('button', { name: 'Mark as done: Grease the hinge' }).click();
  await page.getByText('No open tasks match these filters').waitFor();
  assert.equal((await console.get(`/v1/projects/APOLLO/tasks/${key}`)).status, 'done');
});

test('people are sorted by the headers of their columns, in the URL', async (t) => {
  const page = await console.open(t, '/personnel', { viewport: { width: 1440, height: 900 } });
  if (!page) return;
  await waitUntilLoaded(page);
  const names = async (query = '') =>
    (await console.get(`/v1/personnel?limit=10${query}`)).data.map(({ name }: { name: string }) => name);
  const header = (name: string) => page.getByRole('columnheader', { name });
  const assertSorted = async (sort: string) => {
    await page.waitForURL((url) => (url.searchParams.get('sort') ?? '') === sort);
    await waitUntilLoaded(page);
    const shown = await page.locator('tbody .row-link bdi').allTextContents();
    assert.deepEqual(shown.slice(0, 10), await names(sort && `&sort=${sort}`), sort);
  };
  await header('Name').getByRole('button').click();
  await assertSorted('-name');
  assert.equal(await header('Name').getAttribute('aria-sort'), 'descending');
  await page.reload();
  await assertSorted('-name');
  await header('Name').getByRole('button').click();
  await assertSorted('');
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Added' }).click();
  await page.keyboard.press('Escape');
  for (const [sort, direction] of [
    ['-created_at', 'descending'],
    ['created_at', 'ascending'],
  ] as const) {
    await header('Added').getByRole('button').click();
    await assertSorted(sort);
    assert.equal(await header('Added').getAttribute('aria-sort'), direction);
  }
  await assertAccessible(page, 'sorted people');
});

test('lists are sorted by their headers, in the URL; long filters have a search', async (t) => {
  const page = await console.open(t, '/issues', { viewport: { width: 1440, height: 900 } });
  if (!page) return;
  await waitUntilLoaded(page);
  const sortBy = async (list: string, name: string, sort: RegExp) => {
    await page.goto(`${console.app.baseUrl}/${list}`);
    await waitUntilLoaded(page);
    await page.getByRole('columnheader', { name }).getByRole('button').click();
    await page.waitForURL(sort);
    await waitUntilLoaded(page);
    assert.notEqual(await page.getByRole('columnheader', { name }).getAttribute('aria-sort'), null);
    return page.locator('tbody .row-link').allTextContents();
  };
  const titles = async (path: string, name = 'title') =>
    (await console.get(path)).data.map((row: Record<string, string>) => row[name]);
  const issues = await sortBy('issues', 'Due', /sort=due_on/);
  assert.deepEqual(issues.slice(0, 10), await titles('/v1/issues?sort=due_on&limit=10'));
  const risks = await sortBy('risks', 'Due', /sort=due_on/);
  assert.deepEqual(risks.slice(0, 10), await titles('/v1/risks?sort=due_on&limit=10'));
  const projects = await sortBy('projects', 'Project', /sort=name/);
  assert.deepEqual(
    projects,
    projects.toSorted((a, b) => a.localeCompare(b)),
  );
  await page.goto(`${console.app.baseUrl}/risks`);
  await page.getByRole('search').getByRole('button', { name: 'Project' }).click();
  await page.getByRole('searchbox', { name: 'Search Project' }).fill('apollo');
  assert.equal(await page.locator('.popover').getByRole('checkbox').count(), 1);
  await assertAccessible(page, 'a filter with a search');
});

test('the header shows the direction of the values, also in the order of the list itself', async (t) => {
  const page = await console.open(t, '/issues', { viewport: { width: 1440, height: 900 } });
  if (!page) return;
  const header = (name: string) => page.getByRole('columnheader', { name, exact: true });
  const assertDirection = async (name: string, direction: string | null) => {
    await waitUntilLoaded(page);
    assert.equal(await header(name).getAttribute('aria-sort'), direction, name);
  };
  await assertDirection('Severity', 'descending');
  await header('Age').getByRole('button').click();
  await page.waitForURL(/sort=raised_on/);
  await assertDirection('Age', 'descending');
  await assertDirection('Severity', null);
  const [oldest] = (await console.get('/v1/issues?sort=raised_on&limit=1')).data;
  await page.getByRole('row').nth(1).getByText(`${oldest.age_days} d`).waitFor();
  await header('Severity').getByRole('button').click();
  await page.waitForURL((url) => url.search === '');
  await assertDirection('Severity', 'descending');
  await page.locator('th button[aria-disabled=true]').getByText('Severity').waitFor();
});

test('projects are sorted by the time of their last change and by dates, those without a date last', async (t) => {
  await console.post('/v1/projects', { name: 'Without a date' });
  const page = await console.open(t, '/projects?columns=name,updated,due', {
    viewport: { width: 1440, height: 900 },
  });
  if (!page) return;
  await waitUntilLoaded(page);
  const names = () => page.locator('tbody .row-link').allTextContents();
  const { data } = await console.get('/v1/projects');
  const byChange = data
    .toSorted((a: Project, b: Project) => (a.updated_at < b.updated_at ? 1 : -1))
    .map(({ name }: Project) => name);
  await page.getByRole('button', { name: 'Updated', exact: true }).click();
  await page.waitForURL(/sort=-updated_at/);
  assert.deepEqual((await names()).slice(0, 3), byChange.slice(0, 3));
  for (const sort of ['due', '-due']) {
    await page.getByRole('button', { name: 'Due', exact: true }).click();
    await page.waitForURL(new RegExp(`sort=${sort}$`));
    assert.equal((await names()).at(-1), 'Without a date', sort);
  }
});

test('the dialog that creates something in a project names the project', async (t) => {
  const { name } = await console.get('/v1/projects/APOLLO');
  const page = await console.open(t, '/risks?project=APOLLO');
  if (!page) return;
  for (const [list, title] of [
    ['risks', 'Create risk'],
    ['issues', 'Create issue'],
    ['tasks', 'Add task'],
  ]) {
    await page.goto(`${console.app.baseUrl}/${list}?project=APOLLO`);
    await waitUntilLoaded(page);
    await page.keyboard.press('c');
    await page.getByRole('dialog', { name: `${title} in ${name}`, exact: true }).waitFor();
  }
});

test('a key that can see one project reads about that one, not about all projects', async (t) => {
  const { data } = await console.get('/v1/risks?project=APOLLO&limit=1');
  const { secret } = await console.post('/v1/keys', {
    name: 'Apollo only',
    scopes: ['projects.read'],
    project_ids: ['APOLLO'],
  });
  const page = await console.open(t, '/', { signedIn: false });
  if (!page) return;
  await page.context().request.post(`${console.app.baseUrl}/v1/session`, { data: { key: secret } });
  await page.goto(`${console.app.baseUrl}/risks/${data[0].key}`);
  await page.getByText(/active risks in the projects you can see/).waitFor();
  await page.goto(`${console.app.baseUrl}/report`);
  await page.getByText(/ · All projects you can see$/).waitFor();
  await page.goto(`${console.app.baseUrl}/`);
  const { name } = await console.get('/v1/projects/APOLLO');
  await page.locator('.headline').getByText(`${name} is `).waitFor();
});
