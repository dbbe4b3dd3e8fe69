import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { startConsole, test, visit, waitUntilLoaded } from './console.ts';
import { press } from './focus.ts';
import { daysAgo, editorClosed, fact, inDays, openHeatMap, weekIn } from './page.ts';

const console = startConsole();

const edit = (page: Page, label: string) => page.getByRole('button', { name: `Edit ${label}`, exact: true });

test('who raised a risk or an issue is edited on its page', async (t) => {
  const person = await console.post('/v1/personnel', { name: 'Rosalind Raiser' });
  const risk = await console.post('/v1/projects/APOLLO/risks', { title: 'Raised' });
  const issue = await console.post('/v1/projects/APOLLO/issues', { title: 'Raised too' });
  const page = await console.open(t, '/risks');
  for (const [list, { key }] of [
    ['risks', risk],
    ['issues', issue],
  ] as const) {
    await visit(page, `/${list}/${key}`);
    await edit(page, 'Raised by').click();
    await page.getByRole('combobox', { name: 'Raised by' }).fill('Rosalind');
    await page.getByRole('option', { name: 'Rosalind Raiser' }).click();
    await editorClosed(page);
    await fact(page, 'Raised by').getByRole('link', { name: 'Rosalind Raiser' }).waitFor();
    const { raised_by_user_id } = await console.get(`/v1/projects/APOLLO/${list}/${key}`);
    assert.equal(raised_by_user_id, person.user_id);
  }
  const reader = await console.open(t, `/risks/${risk.key}`, { scopes: ['projects.read'] });
  assert.equal(await fact(reader, 'Raised by').count(), 0);
});

test('custom fields are added, edited and removed, also with the keyboard', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', {
    title: 'With custom fields',
    attributes: { Vendor: 'Brightboard' },
  });
  const attributes = async () => (await console.get(`/v1/projects/APOLLO/risks/${key}`)).attributes;
  const page = await console.open(t, `/risks/${key}`);
  await press(page, 'Edit Vendor');
  await page.getByRole('textbox', { name: 'Vendor' }).waitFor();
  await page.keyboard.press('Control+a');
  await page.keyboard.type('Datenwerk');
  await page.keyboard.press('Control+Enter');
  await editorClosed(page);
  await fact(page, 'Vendor').getByText('Datenwerk').waitFor();
  await page.locator('.toast').last().getByRole('button', { name: 'Undo' }).click();
  await fact(page, 'Vendor').getByText('Brightboard').waitFor();

  await press(page, 'Add custom field');
  const dialog = page.getByRole('dialog', { name: 'Add custom field' });
  await dialog.getByLabel('Name').waitFor();
  await page.keyboard.type('Vendor');
  await page.keyboard.press('Tab');
  await page.keyboard.type('C-17');
  await dialog.getByRole('button', { name: 'Add custom field' }).click();
  await dialog.getByText('There is a custom field with this name').waitFor();
  await dialog.getByLabel('Name').fill('Contract');
  await dialog.getByRole('button', { name: 'Add custom field' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await fact(page, 'Contract').getByText('C-17').waitFor();
  assert.deepEqual(await attributes(), { Contract: 'C-17', Vendor: 'Brightboard' });

  await edit(page, 'Contract').click();
  await page.getByRole('textbox', { name: 'Contract' }).fill('');
  await page.keyboard.press('Control+Enter');
  await page.getByText('Contract', { exact: true }).waitFor({ state: 'detached' });
  assert.deepEqual(await attributes(), { Vendor: 'Brightboard' });

  const reader = await console.open(t, `/risks/${key}`, { scopes: ['projects.read'], colorScheme: 'dark' });
  await fact(reader, 'Vendor').getByText('Brightboard').waitFor();
  assert.equal(await reader.getByRole('button', { name: 'Add custom field' }).count(), 0);
});

test('the status of a person is edited on the page, and a project has custom fields', async (t) => {
  // Such a local part is rare but valid.
  const email = '"stella@status"@example.com';
  const person = await console.post('/v1/personnel', { name: 'Stella Status', email });
  const page = await console.open(t, `/personnel/${person.user_id}`);
  assert.equal(await fact(page, 'Email').textContent(), email);
  await edit(page, 'Status').click();
  await page.getByLabel('Status').selectOption('inactive');
  await editorClosed(page);
  await fact(page, 'Status').getByText('Inactive').waitFor();
  await page.getByRole('button', { name: 'Reactivate' }).waitFor();
  assert.equal((await console.get(`/v1/personnel/${person.user_id}`)).status, 'inactive');
  await page.locator('.toast').last().getByRole('button', { name: 'Undo' }).click();
  await fact(page, 'Status').getByText('Active').waitFor();

  await visit(page, '/projects/APOLLO');
  await page.getByRole('button', { name: 'Add custom field' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add custom field' });
  await dialog.getByLabel('Name').fill('Cost center');
  await dialog.getByLabel('Value').fill('4711');
  await dialog.getByRole('button', { name: 'Add custom field' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await fact(page, 'Cost center').getByText('4711').waitFor();
});

test('the overview shows what is overdue and due week by week, and the next dates', async (t) => {
  const page = await console.open(t, '/');
  const card = page.getByRole('region', { name: 'Due and review dates' });
  await card.scrollIntoViewIfNeeded();
  await card.getByRole('list').first().waitFor();
  // What is overdue, this week and the weeks up to the 90th day.
  assert.equal(await card.locator('.weeks > li').count(), 2 + weekIn(90));
  const past = daysAgo(0);
  const { page: issues } = await console.get('/v1/issues?overdue=true&limit=1&count=true');
  const { page: tasks } = await console.get('/v1/tasks?overdue=true&limit=1&count=true');
  const { page: risks } = await console.get(`/v1/risks?due_before=${past}&limit=1&count=true`);
  const overdue = await card.locator('.weeks > li').first().locator('.visually-hidden').textContent();
  assert.match(overdue ?? '', new RegExp(`Issue due ${issues.total}\\b`));
  assert.match(overdue ?? '', new RegExp(`Task due ${tasks.total}\\b`));
  if (risks.total > 0) assert.match(overdue ?? '', new RegExp(`Risk due ${risks.total}\\b`));
  // The demo has more dates in some weeks than the card shows.
  const next = card.locator('li:has(.upcoming-day) a');
  assert.ok((await next.count()) > 0);
  const href = (await next.first().getAttribute('href')) ?? '';
  await next.first().focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(`**${href}`);
});

test('the overview compares the number of risks with 30 days ago and stacks their scores by level', async (t) => {
  const page = await console.open(t, '/');
  const from = daysAgo(91);
  const { data: points } = await console.get(`/v1/risks/trend?kind=threat&from=${from}&interval=week`);
  const now = points.at(-1);
  const day = daysAgo(30);
  const before = (await console.get(`/v1/risks/trend?kind=threat&from=${day}&to=${day}`)).data[0];
  assert.equal(before.day, day);
  assert.notEqual(before.sum, points.at(-5).sum, 'the demo differs from the nearest point of the trend');
  const change = new Intl.NumberFormat('en-US', { signDisplay: 'exceptZero' });
  const signed = (value: number) => change.format(value).replace('-', '−');
  const tiles = page.getByRole('list', { name: 'Risks' }).getByRole('listitem');
  for (const [i, field] of ['critical', 'high', 'count', 'unassessed'].entries()) {
    const text = (await tiles.nth(i).textContent()) ?? '';
    assert.ok(text.startsWith(String(now[field])), text);
    const sinceThen = signed(now[field] - before[field]);
    assert.ok(text.endsWith(`${sinceThen === '0' ? 'No change' : sinceThen} in 30 days`), text);
  }
  await page.getByText(`${signed(now.sum - before.sum)} in 30 days · last 13 weeks`).waitFor();
  const difference = now.critical - before.critical;
  const comparison =
    difference === 0
      ? 'unchanged in 30 days'
      : `${Math.abs(difference)} ${difference > 0 ? 'more' : 'fewer'} than 30 days ago`;
  await page.locator('.headline').getByText(comparison).waitFor();
  const legend = page.locator('.legend span');
  const sums = (await legend.allTextContents()).map((text) => Number(text.replace(/\D/g, '')));
  assert.equal(
    sums.reduce((sum, one) => sum + one, 0),
    now.sum,
  );
  assert.equal(await page.locator('.trend .area').count(), 4);
});

test('a risk shows how its score has changed', async (t) => {
  const risk = await console.post('/v1/projects/APOLLO/risks', { title: 'Drift', probability: 2, impact: 3 });
  const page = await console.open(t, `/risks/${risk.key}`);
  assert.equal(await page.getByRole('heading', { name: 'Score over time' }).count(), 0);
  for (const patch of [
    { probability: 4, impact: 4 },
    { description: 'No change of the score.' },
    { impact: 5 },
  ])
    await console.patch(`/v1/projects/APOLLO/risks/${risk.key}`, patch);
  await page.reload();
  await page.getByRole('heading', { name: 'Score over time' }).waitFor();
  const steps = await page.locator('.score-history li').allTextContents();
  assert.deepEqual(
    steps.map((text) => text.slice(text.search(/\d+ → /))),
    ['16 → 20', '6 → 16'],
  );
});

test('the risks are counted by category and by owner, and each count leads to its list', async (t) => {
  const page = await console.open(t, '/risks?project=APOLLO');
  await openHeatMap(page);
  await page.getByText('By category and owner').click();
  const { data } = await console.get('/v1/risks/summary?project=APOLLO');
  const largest = data.by_category
    .filter(({ category }: { category: string | null }) => category !== null)
    .toSorted((one: { count: number }, other: { count: number }) => other.count - one.count)[0];
  const bar = page.locator('.risk-counts .bars').first().getByRole('link').first();
  await bar.waitFor();
  assert.equal((await bar.textContent())?.toLowerCase(), `${largest.category}${largest.count}`.toLowerCase());
  await bar.click();
  await page.locator('.summary-line').getByText(`${largest.count} active risks`).waitFor();
});

test('the items of an archived project are read-only, and say so', async (t) => {
  const project = await console.post('/v1/projects', { name: 'Long finished' });
  const path = `/v1/projects/${project.key}`;
  const text = { title: 'Kept for the record', description: 'As it was', attributes: { Contract: 'C-1' } };
  const risk = await console.post(`${path}/risks`, text);
  const issue = await console.post(`${path}/issues`, text);
  const task = await console.post(`${path}/tasks`, { title: 'Old task', risk_id: risk.id });
  await console.post(`${path}/tasks`, { title: 'Another', issue_id: issue.id });
  await console.post(`${path}/archive`);
  const page = await console.open(t, `/risks/${risk.key}`, { viewport: { width: 1280, height: 800 } });
  const notice = page.locator('.notice', { hasText: 'The project Long finished is archived' });
  for (const item of [`/risks/${risk.key}`, `/issues/${issue.key}`, `/tasks/${task.key}`]) {
    await page.goto(item);
    await notice.waitFor();
    await page.locator('.history').first().waitFor();
    await waitUntilLoaded(page);
    assert.deepEqual(await page.locator('main button').allTextContents(), []);
    assert.equal(await page.getByRole('textbox', { name: 'Comment' }).count(), 0);
  }
  await page.goto(`/projects/${project.key}?tab=issues`);
  await page.getByRole('cell', { name: 'Unassigned' }).waitFor();
  assert.equal(await page.locator('.assign-button').count(), 0);
  await page.goBack();
  await notice.getByRole('link', { name: 'Long finished' }).click();
  await page.getByRole('button', { name: 'Unarchive' }).click();
  await page.getByText(`Unarchived ${project.key}`).waitFor();
  await page.goBack();
  await page.getByRole('button', { name: 'Mark as done' }).waitFor();
  assert.equal(await notice.count(), 0);
});

test('a rotated key shows its new secret, and only a new one is called a new key', async (t) => {
  await console.post('/v1/keys', { name: 'Rotated', scopes: ['projects.read'] });
  const page = await console.open(t, '/keys');
  await page.getByRole('button', { name: 'Rotate Rotated' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate', exact: true }).click();
  await page.getByRole('dialog', { name: 'New secret: Rotated' }).waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Create key' }).click();
  const form = page.getByRole('dialog', { name: 'Create key' });
  await form.getByLabel('Name').fill('Brand new');
  await form.getByLabel('Read projects').check();
  await form.getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('dialog', { name: 'New key: Brand new' }).waitFor();
});

test('the details of a risk and a task have the same words and colors as their headers', async (t) => {
  const late = { raised_on: daysAgo(60), due_on: daysAgo(3) };
  const risk = await console.post('/v1/projects/APOLLO/risks', { title: 'Late', ...late });
  const task = await console.post('/v1/projects/APOLLO/tasks', { title: 'Late', due_on: late.due_on });
  const issue = await console.post('/v1/projects/APOLLO/issues', { title: 'Late', ...late });
  const page = await console.open(t, `/risks/${risk.key}`);
  for (const [path, name, text] of [
    [`/risks/${risk.key}`, 'Owner', 'No owner'],
    [`/issues/${issue.key}`, 'Owner', 'No owner'],
    [`/tasks/${task.key}`, 'Assignee', 'Unassigned'],
  ] as const) {
    await visit(page, path);
    await fact(page, 'Due').locator('.overdue').waitFor();
    await fact(page, name).getByText(text, { exact: true }).waitFor();
  }
});

test('a long check stays within the card of details', async (t) => {
  const { data } = await console.get('/v1/risks?check=stale_90d&limit=1');
  const page = await console.open(t, `/risks/${data[0].key}`);
  const right = async (selector: string) => {
    const box = await page.locator(selector).boundingBox();
    return (box?.x ?? 0) + (box?.width ?? 0);
  };
  const facts = await right('[aria-labelledby=details] .facts');
  const chip = await right('[aria-labelledby=details] .chip:text("No update in 90 days")');
  assert.ok(chip > 0 && chip <= facts + 0.5, `the chip ends at ${chip}, the facts at ${facts}`);
});

test('a risk that has occurred or is closed says that it is not ranked', async (t) => {
  for (const [status, text] of [
    ['materialized', 'this risk has occurred'],
    ['closed', 'this risk is closed'],
  ] as const) {
    const { data } = await console.get(`/v1/risks?kind=threat&status=${status}&assessed=true&limit=1`);
    const page = await console.open(t, `/risks/${data[0].key}`);
    await page.locator('.rank-explanation').getByText(text).waitFor();
  }
});

test('the time of the last use of a key is not cut off', async (t) => {
  const { secret } = await console.newKey();
  await fetch(`${console.app.baseUrl}/v1/me`, { headers: { authorization: `Bearer ${secret}` } });
  // The longest times have two digits in the day and the hour.
  const page = await console.open(t, '/', { locale: 'en-US' });
  await page.route('**/v1/keys*', async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    for (const key of body.data) key.last_used_at = '2026-11-28T22:48:00.000Z';
    await route.fulfill({ response, json: body });
  });
  await page.goto('/keys');
  const cell = page.getByRole('cell', { name: 'Nov 28, 2026, 10:48 PM' }).first();
  await cell.waitFor();
  const [content, shown] = await cell.evaluate(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth]);
  assert.ok((content ?? 0) <= (shown ?? 0), `${content} px of text in ${shown} px`);
});

test('each rule of project health is a line of its own', async (t) => {
  const page = await console.open(t, '/projects/APOLLO');
  await page.getByText('How health is determined').click();
  const rules = page.locator('.health-rules');
  await rules.getByText('At least a quarter of its open issues are critical.', { exact: true }).waitFor();
  assert.deepEqual(await rules.locator('dt').allTextContents(), [
    'Off track',
    'At risk',
    'On track',
    'Not assessed',
  ]);
});

test('a project that is on track shows its risks above appetite in lists, on its page and in the report', async (t) => {
  await console.post('/v1/projects', { name: 'Calm water', key: 'CALM', appetite: 10 });
  const add = (title: string, impact: number) =>
    console.post('/v1/projects/CALM/risks', { title, probability: 4, impact });
  for (const title of ['a', 'b', 'c', 'd']) await add(title, 1);
  const page = await console.open(t, '/projects?q=calm', { viewport: { width: 1600, height: 900 } });
  await page.getByRole('cell', { name: 'No warning signs.', exact: true }).waitFor();
  await add('e', 3);
  const warning = '1 of 5 assessed risks above appetite 10, below the threshold of a quarter';
  for (const path of ['/projects?q=calm', '/projects/CALM', '/report?project=CALM']) {
    await visit(page, path);
    await page.getByText(warning).locator('visible=true').first().waitFor();
    await page.getByText('On track').locator('visible=true').first().waitFor();
  }
});

test('when a risk occurs, its issue takes over its fields, its owner and its open tasks', async (t) => {
  const owner = await console.post('/v1/personnel', { name: 'Olga Owner' });
  const due_on = inDays(20);
  const risk = await console.post('/v1/projects/APOLLO/risks', {
    title: 'The crane fails',
    description: 'It is old.',
    owner_user_id: owner.user_id,
    due_on,
  });
  const addTask = (title: string, status: string) =>
    console.post('/v1/projects/APOLLO/tasks', { title, status, risk_id: risk.id, kind: 'mitigation' });
  const [open, done] = [await addTask('Rent a crane', 'in_progress'), await addTask('Inspect it', 'done')];
  const page = await console.open(t, `/risks/${risk.key}`);
  await page.getByRole('button', { name: 'Mark as occurred…' }).click();
  const dialog = page.getByRole('dialog', { name: `Mark ${risk.key} as occurred` });
  assert.equal(await dialog.getByLabel('Issue title').inputValue(), 'The crane fails');
  assert.equal(await dialog.getByLabel('Description').inputValue(), 'It is old.');
  assert.equal(await dialog.getByRole('combobox', { name: 'Assignee' }).inputValue(), 'Olga Owner');
  assert.equal(await dialog.getByLabel('Due').inputValue(), due_on);
  await dialog.getByLabel('What happened').fill('It broke.');
  assert.equal(await dialog.getByLabel('Move 1 open task of the risk to the issue').isChecked(), true);
  await dialog.getByRole('button', { name: 'Create issue' }).click();
  await page.waitForURL(/\/issues\/APOLLO-I\d+/);
  await page.getByText(/^Created APOLLO-I\d+ from .* and moved 1 task to it$/).waitFor();
  await page.getByRole('region', { name: 'Tasks' }).getByText('Rent a crane').waitFor();
  const issue = await console.get(`/v1/projects/APOLLO/issues/${page.url().split('/').at(-1)}`);
  assert.deepEqual(
    [issue.title, issue.description, issue.assignee_user_id, issue.due_on, issue.risk_id],
    ['The crane fails', 'It broke.\n\nIt is old.', owner.user_id, due_on, risk.id],
  );
  const taskOf = async ({ key }: { key: string }) => console.get(`/v1/projects/APOLLO/tasks/${key}`);
  assert.deepEqual([(await taskOf(open)).issue_id, (await taskOf(open)).risk_id], [issue.id, null]);
  assert.equal((await taskOf(done)).risk_id, risk.id);

  // What is cleared stays empty, and tasks stay where the user wants them.
  const other = await console.post('/v1/projects/APOLLO/risks', {
    title: 'The crane sinks',
    owner_user_id: owner.user_id,
    raised_on: daysAgo(10),
    due_on: daysAgo(3),
  });
  const kept = await console.post('/v1/projects/APOLLO/tasks', { title: 'Dive', risk_id: other.id });
  await visit(page, `/risks/${other.key}`);
  await page.getByRole('button', { name: 'Mark as occurred…' }).click();
  await page.getByLabel('Move 1 open task of the risk to the issue').uncheck();
  const second = page.getByRole('dialog', { name: `Mark ${other.key} as occurred` });
  assert.equal(await second.getByLabel('Due').inputValue(), '');
  await second.getByRole('combobox', { name: 'Assignee' }).fill('');
  await second.getByRole('button', { name: 'Create issue' }).click();
  await page.waitForURL(/\/issues\/APOLLO-I\d+/);
  const unassigned = await console.get(`/v1/projects/APOLLO/issues/${page.url().split('/').at(-1)}`);
  assert.deepEqual([unassigned.assignee_user_id, unassigned.due_on], [null, null]);
  assert.equal((await taskOf(kept)).risk_id, other.id);
});

test('canceled tasks and projects have the American spelling', async (t) => {
  const task = await console.post('/v1/projects/APOLLO/tasks', { title: 'Not needed' });
  await console.patch(`/v1/projects/APOLLO/tasks/${task.key}`, { status: 'cancelled' });
  const page = await console.open(t, `/tasks/${task.key}`);
  await fact(page, 'Status').getByText('Canceled', { exact: true }).waitFor();
  await page.goto('/');
  await page.locator('.activity').getByText('canceled task').first().waitFor();
});
