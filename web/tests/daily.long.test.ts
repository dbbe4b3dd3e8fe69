import assert from 'node:assert/strict';
import { startConsole, test, visit, waitUntilLoaded } from './console.ts';

const console = startConsole();

type Project = { name: string; updated_at: string };

test('shortcuts search, move between rows, assign, create and list themselves', async (t) => {
  const page = await console.open(t, '/issues');
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
  await visit(page, '/keys');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
});

/** The order of the API by a header's first click. Pressing it again reverses it. */
const orders: [list: string, columns: string, header: string, sort: string, direction: string][] = [
  ['issues', '', 'Due', 'due_on', 'ascending'],
  ['risks', '', 'Due', 'due_on', 'ascending'],
  ['tasks', 'due,title,start', 'Start', 'start_on', 'ascending'],
  ['personnel', '', 'Name', '-name', 'descending'],
  ['personnel', 'name,created', 'Added', '-created_at', 'descending'],
];

for (const [list, columns, header, sort, direction] of orders) {
  test(`${list} are sorted by the header ${header}, in the URL`, async (t) => {
    const page = await console.open(t, `/${list}${columns && `?columns=${columns}`}`);
    const { data } = await console.get(`/v1/${list}?sort=${sort}&limit=10`);
    const expected = data.map(({ title, name }: Record<string, string>) => name ?? title);
    const th = page.getByRole('columnheader', { name: header, exact: true });
    const assertSorted = async () => {
      await page.waitForURL((url) => url.searchParams.get('sort') === sort);
      await waitUntilLoaded(page);
      const shown = await page
        .locator('tbody .row-link bdi, tbody .row-link:not(:has(bdi))')
        .allTextContents();
      assert.deepEqual(shown.slice(0, 10), expected);
      assert.equal(await th.getAttribute('aria-sort'), direction);
    };
    await th.getByRole('button').click();
    await assertSorted();
    await page.reload();
    await assertSorted();
    await th.getByRole('button').click();
    await page.waitForURL((url) => url.searchParams.get('sort') !== sort);
  });
}

test('a long filter has a search', async (t) => {
  const page = await console.open(t, '/risks');
  await page.getByRole('search').getByRole('button', { name: 'Project' }).click();
  await page.getByRole('searchbox', { name: 'Search Project' }).fill('apollo');
  assert.equal(await page.getByRole('dialog').getByRole('checkbox').count(), 1);
});

test('tasks of all projects are listed, filtered by a person, added and completed', async (t) => {
  const person = await console.post('/v1/personnel', { name: 'Tessa Taskowner' });
  const { key } = await console.post('/v1/projects/APOLLO/tasks', {
    title: 'Grease the hinge',
    assignee_user_id: person.user_id,
  });
  const page = await console.open(t, '/tasks');
  const { page: counted } = await console.get('/v1/tasks?limit=1&count=true');
  await page
    .locator('.summary-line')
    .getByText(`${counted.total.toLocaleString('en-GB')} open tasks`)
    .waitFor();
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

test('the header shows the direction of the values, also in the order of the list itself', async (t) => {
  const page = await console.open(t, '/issues');
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
  const page = await console.open(t, '/projects?columns=name,updated,due');
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
  for (const [list, title] of [
    ['risks', 'Create risk'],
    ['issues', 'Create issue'],
    ['tasks', 'Add task'],
  ]) {
    await visit(page, `/${list}?project=APOLLO`);
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
  const { baseUrl } = console.app;
  const headers = { origin: baseUrl };
  await page.context().request.post(`${baseUrl}/v1/session`, { data: { key: secret }, headers });
  await page.goto(`/risks/${data[0].key}`);
  await page.getByText(/active risks in the projects you can see/).waitFor();
  await page.goto('/report');
  await page.getByText(/ · All projects you can see$/).waitFor();
  await page.goto('/');
  const { name } = await console.get('/v1/projects/APOLLO');
  await page.locator('.headline').getByText(`${name} is `).waitFor();
});
