import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible } from './axe.ts';
import { type Console, startConsole, waitUntilLoaded } from './console.ts';
import { tabTo } from './focus.ts';

let console: Console;

before(async () => {
  console = await startConsole();
});

after(() => console.stop());

const fact = (page: Page, label: string) =>
  page.locator('.fact', { has: page.getByText(label, { exact: true }) }).locator('dd');
const edit = (page: Page, label: string) => page.getByRole('button', { name: `Edit ${label}`, exact: true });
const closed = (page: Page) => page.locator('.inline-editor').waitFor({ state: 'detached' });

test('who raised a risk or an issue is edited on its page', async (t) => {
  const person = await console.post('/v1/personnel', { name: 'Rosalind Raiser' });
  const risk = await console.post('/v1/projects/APOLLO/risks', { title: 'Raised' });
  const issue = await console.post('/v1/projects/APOLLO/issues', { title: 'Raised too' });
  const page = await console.open(t, '/risks');
  if (!page) return;
  for (const [list, { key }] of [
    ['risks', risk],
    ['issues', issue],
  ] as const) {
    await page.goto(`${console.app.baseUrl}/${list}/${key}`);
    await waitUntilLoaded(page);
    await edit(page, 'Raised by').click();
    await page.getByRole('combobox', { name: 'Raised by' }).fill('Rosalind');
    await page.getByRole('option', { name: 'Rosalind Raiser' }).click();
    await closed(page);
    await fact(page, 'Raised by').getByRole('link', { name: 'Rosalind Raiser' }).waitFor();
    const { raised_by_user_id } = await console.get(`/v1/projects/APOLLO/${list}/${key}`);
    assert.equal(raised_by_user_id, person.user_id);
  }
  const reader = await console.open(t, `/risks/${risk.key}`, { scopes: ['projects.read'] });
  if (!reader) return;
  await waitUntilLoaded(reader);
  assert.equal(await fact(reader, 'Raised by').count(), 0);
});

test('custom fields are added, edited and removed, also with the keyboard', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', {
    title: 'With custom fields',
    attributes: { Vendor: 'Brightboard' },
  });
  const attributes = async () => (await console.get(`/v1/projects/APOLLO/risks/${key}`)).attributes;
  const page = await console.open(t, `/risks/${key}`, { viewport: { width: 1440, height: 900 } });
  if (!page) return;
  await waitUntilLoaded(page);
  await tabTo(page, 'Edit Vendor');
  await page.keyboard.press('Enter');
  await page.getByRole('textbox', { name: 'Vendor' }).waitFor();
  await page.keyboard.press('Control+a');
  await page.keyboard.type('Datenwerk');
  await page.keyboard.press('Control+Enter');
  await closed(page);
  await fact(page, 'Vendor').getByText('Datenwerk').waitFor();
  await page.locator('.toast').last().getByRole('button', { name: 'Undo' }).click();
  await fact(page, 'Vendor').getByText('Brightboard').waitFor();

  await tabTo(page, 'Add custom field');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Add custom field' });
  await dialog.getByLabel('Name').waitFor();
  await assertAccessible(page, 'the dialog of a custom field');
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
  if (!reader) return;
  await waitUntilLoaded(reader);
  await fact(reader, 'Vendor').getByText('Brightboard').waitFor();
  assert.equal(await reader.getByRole('button', { name: 'Add custom field' }).count(), 0);
  await assertAccessible(reader, 'custom fields of a reader, dark');
});

test('the status of a person is edited on the page, and a project has custom fields', async (t) => {
  // Such a local part is rare but valid.
  const email = '"stella@status"@example.com';
  const person = await console.post('/v1/personnel', { name: 'Stella Status', email });
  const page = await console.open(t, `/personnel/${person.user_id}`);
  if (!page) return;
  await waitUntilLoaded(page);
  assert.equal(await fact(page, 'Email').textContent(), email);
  await edit(page, 'Status').click();
  await page.getByLabel('Status').selectOption('inactive');
  await closed(page);
  await fact(page, 'Status').getByText('Inactive').waitFor();
  await page.getByRole('button', { name: 'Reactivate' }).waitFor();
  assert.equal((await console.get(`/v1/personnel/${person.user_id}`)).status, 'inactive');
  await page.locator('.toast').last().getByRole('button', { name: 'Undo' }).click();
  await fact(page, 'Status').getByText('Active').waitFor();

  await page.goto(`${console.app.baseUrl}/projects/APOLLO`);
  await waitUntilLoaded(page);
  await page.getByRole('button', { name: 'Add custom field' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add custom field' });
  await dialog.getByLabel('Name').fill('Cost center');
  await dialog.getByLabel('Value').fill('4711');
  await dialog.getByRole('button', { name: 'Add custom field' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await fact(page, 'Cost center').getByText('4711').waitFor();
});

test('the overview shows what is overdue and due week by week, and the next dates', async (t) => {
  const soon = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  const task = await console.post('/v1/projects/APOLLO/tasks', { title: 'Due tomorrow', due_on: soon });
  const page = await console.open(t, '/', { viewport: { width: 1440, height: 900 } });
  if (!page) return;
  await waitUntilLoaded(page);
  const card = page.getByRole('region', { name: 'Due and review dates' });
  await card.scrollIntoViewIfNeeded();
  await card.getByRole('list').first().waitFor();
  assert.equal(await card.locator('.weeks > li').count(), 14);
  const past = new Date(Date.now()).toISOString().slice(0, 10);
  const { page: issues } = await console.get('/v1/issues?overdue=true&limit=1&count=true');
  const { page: tasks } = await console.get('/v1/tasks?overdue=true&limit=1&count=true');
  const { page: risks } = await console.get(`/v1/risks?due_before=${past}&limit=1&count=true`);
  const overdue = await card.locator('.weeks > li').first().locator('.visually-hidden').textContent();
  assert.match(overdue ?? '', new RegExp(`Issue due ${issues.total}\\b`));
  assert.match(overdue ?? '', new RegExp(`Task due ${tasks.total}\\b`));
  if (risks.total > 0) assert.match(overdue ?? '', new RegExp(`Risk due ${risks.total}\\b`));
  await card.getByRole('link', { name: 'Due tomorrow' }).focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(`/tasks/${task.key}$`));
});

test('the overview compares the number of risks with 30 days ago and stacks their scores by level', async (t) => {
  const page = await console.open(t, '/', { viewport: { width: 1440, height: 900 } });
  if (!page) return;
  await waitUntilLoaded(page);
  const from = new Date(Date.now() - 91 * 86_400_000).toISOString().slice(0, 10);
  const { data: points } = await console.get(`/v1/risks/trend?from=${from}&interval=week`);
  const now = points.at(-1);
  const day = new Date(Date.now() - 30 * 86_400_000).toISOString().slice(0, 10);
  const before = (await console.get(`/v1/risks/trend?from=${day}&to=${day}`)).data[0];
  assert.equal(before.day, day);
  assert.notEqual(before.sum, points.at(-5).sum, 'the demo differs from the nearest point of the trend');
  const change = new Intl.NumberFormat('en-US', { signDisplay: 'exceptZero' });
  const signed = (value: number) => change.format(value).replace('-', '−');
  const tiles = page.getByRole('list', { name: 'Risks' }).getByRole('listitem');
  for (const [i, field] of ['critical', 'high', 'count', 'unassessed'].entries()) {
    const text = (await tiles.nth(i).textContent()) ?? '';
    assert.ok(text.startsWith(String(now[field])), text);
    const sinceThen = signed(now[field] - before[field]);
    assert.ok(text.endsWith(`${sinceThen} in 30 days`), text);
  }
  await page.getByText(`${signed(now.sum - before.sum)} in 30 days · last 13 weeks`).waitFor();
  const difference = now.critical - before.critical;
  const comparison =
    difference === 0 ? 'as many as' : `${Math.abs(difference)} ${difference > 0 ? 'more' : 'fewer'} than`;
  await page.locator('.headline').getByText(`${comparison} 30 days ago`).waitFor();
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
  if (!page) return;
  await waitUntilLoaded(page);
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
  await assertAccessible(page, 'the score of a risk over time');
});

test('the risks are counted by category and by owner, and each count leads to its list', async (t) => {
  const page = await console.open(t, '/risks?project=APOLLO', { viewport: { width: 1440, height: 900 } });
  if (!page) return;
  await waitUntilLoaded(page);
  await page.getByText('By category and owner').click();
  const { data } = await console.get('/v1/risks/summary?project=APOLLO');
  const largest = data.by_category
    .filter(({ category }: { category: string | null }) => category !== null)
    .toSorted((one: { count: number }, other: { count: number }) => other.count - one.count)[0];
  const bar = page.locator('.risk-counts .bars').first().getByRole('link').first();
  await bar.waitFor();
  await assertAccessible(page, 'the counts of risks');
  assert.equal(await bar.textContent(), `${largest.category}${largest.count}`);
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
  await console.post(`${path}/archive`, {});
  const page = await console.open(t, `/risks/${risk.key}`, { viewport: { width: 1280, height: 800 } });
  if (!page) return;
  const notice = page.locator('.notice', { hasText: 'The project Long finished is archived' });
  for (const item of [`/risks/${risk.key}`, `/issues/${issue.key}`, `/tasks/${task.key}`]) {
    await page.goto(`${console.app.baseUrl}${item}`);
    await notice.waitFor();
    await page.locator('.history').first().waitFor();
    await waitUntilLoaded(page);
    assert.deepEqual(await page.locator('main button').allTextContents(), []);
    assert.equal(await page.getByRole('textbox', { name: 'Comment' }).count(), 0);
  }
  await page.goto(`${console.app.baseUrl}/projects/${project.key}?tab=issues`);
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
  const page = await console.open(t, '/keys', { viewport: { width: 1440, height: 900 } });
  if (!page) return;
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
