import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { assertAccessible } from './axe.ts';
import { startConsole, test } from './console.ts';
import { editorClosed, hold } from './page.ts';

const console = startConsole();

const message = 'Choose one from the list';
const combobox = (within: Page | Locator, name: string) =>
  within.getByRole('combobox', { name, exact: true });
const option = (page: Page, name: string) => page.getByRole('option', { name });

/** The text is still there and marked, with the message as its description. */
async function assertRejected(input: Locator, text: string) {
  await input.and(input.page().locator('[aria-invalid="true"]')).waitFor();
  assert.equal(await input.inputValue(), text);
  const described = await input.evaluate((element) =>
    (element.getAttribute('aria-describedby') ?? '')
      .split(' ')
      .map((id) => document.getElementById(id)?.textContent)
      .join(' '),
  );
  assert.ok(described.includes(message), described);
}

/** The option that a screen reader announces. */
const activeOption = (input: Locator) =>
  input.evaluate((element) => {
    const id = element.getAttribute('aria-activedescendant');
    return id && document.getElementById(id)?.querySelector('bdi')?.textContent;
  });

async function waitUntilHighlighted(input: Locator, name: string) {
  await option(input.page(), name).and(input.page().locator('[data-focused]')).waitFor();
  assert.equal(await activeOption(input), name);
}

for (const [path, action, label, name] of [
  ['/keys', 'Create key', 'Name', 'Typed only'],
  ['/webhooks', 'Create webhook', 'URL', 'http://127.0.0.1:9/typed-only'],
] as const) {
  test(`${action} does not drop a project that was typed but not chosen`, async (t) => {
    const page = await console.open(t, path);
    const created = async () => {
      const { data } = await console.get(`/v1${path}?limit=100`);
      return data.filter((one: { name?: string; url?: string }) => name === (one.url ?? one.name));
    };
    await page.getByRole('button', { name: action }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(label).fill(name);
    if (path === '/keys') await dialog.getByLabel('Read projects').check();
    else await dialog.getByLabel('All events').check();
    const apollo = await console.get('/v1/projects/APOLLO');
    const projects = combobox(dialog, 'Limited to projects');
    await projects.fill('Apollo');
    await projects.press('Tab');
    await assertRejected(projects, 'Apollo');
    await assertAccessible(page, 'a name that was not chosen');
    await dialog.getByRole('button', { name: action }).click();
    await page.waitForFunction(() => document.activeElement?.role === 'combobox');
    await assertRejected(projects, 'Apollo');
    assert.deepEqual(await created(), []);

    await projects.press('Enter');
    await waitUntilHighlighted(projects, apollo.name);
    await projects.press('Enter');
    await dialog.getByRole('button', { name: 'Remove APOLLO' }).waitFor();
    assert.equal(await dialog.getByText(message).count(), 0);
    await dialog.getByRole('button', { name: action }).click();
    await dialog.getByText("you won't see it again").waitFor();
    const [limited] = await created();
    assert.deepEqual(limited.project_ids, [apollo.id]);
  });
}

test('Enter waits for the search and then takes its first option', async (t) => {
  const first = await console.post('/v1/personnel', { name: 'Picked Müller' });
  const issue = await console.post('/v1/projects/APOLLO/issues', { title: 'Typed ahead 9931' });
  const page = await console.open(t, '/issues?q=9931');
  await page.getByRole('button', { name: `Assign…, ${issue.key}` }).click();
  const input = combobox(page, 'Assign to');
  await option(page, 'Adaeze Eze').waitFor();
  const release = await hold(page, /personnel\?.*q=/);
  await input.fill('picked m');
  // The options of the list that opened first are still there.
  await input.press('Enter');
  await input.press('ArrowDown');
  await input.press('Enter');
  assert.equal(await input.inputValue(), 'picked m');
  release();
  await waitUntilHighlighted(input, first.name);
  await input.press('Enter');
  await page.getByRole('button', { name: `Picked Müller, ${issue.key}` }).waitFor();
  const { assignee_user_id } = await console.get(`/v1/projects/APOLLO/issues/${issue.key}`);
  assert.equal(assignee_user_id, first.user_id);
});

test('a filter keeps the text without a result, and takes the first option with Enter', async (t) => {
  const { user_id } = await console.post('/v1/personnel', { name: 'Filtered Fay' });
  const page = await console.open(t, '/risks');
  await page.getByRole('search').getByRole('button', { name: 'Owner', exact: true }).click();
  const input = combobox(page, 'Owner');
  await input.fill('nobody of this name');
  await page.getByText('No results', { exact: true }).waitFor();
  await input.press('Enter');
  await assertRejected(input, 'nobody of this name');
  await input.fill('filtered f');
  await waitUntilHighlighted(input, 'Filtered Fay');
  await input.press('Enter');
  await page.waitForURL((url) => url.searchParams.get('owner_user_id') === user_id);
});

test('an owner who was typed but not chosen is not saved in place', async (t) => {
  const owner = await console.post('/v1/personnel', { name: 'Former Owner' });
  const next = await console.post('/v1/personnel', { name: 'Next Owner' });
  const { key } = await console.post('/v1/projects/APOLLO/risks', {
    title: 'Owned risk',
    owner_user_id: owner.user_id,
  });
  const read = async () => (await console.get(`/v1/projects/APOLLO/risks/${key}`)).owner_user_id;
  const page = await console.open(t, `/risks/${key}`);
  await page.getByRole('button', { name: 'Edit Owner', exact: true }).click();
  const input = combobox(page, 'Owner');
  // First over the old name, then after it was cleared.
  for (const clear of [false, true]) {
    if (clear) await input.fill('');
    await input.fill('nobody of this name');
    await page.getByText('No assignable people match', { exact: true }).waitFor();
    await input.press('Enter');
    await assertRejected(input, 'nobody of this name');
    await input.press('Tab');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.waitForFunction(() => document.activeElement?.role === 'combobox');
    await page.getByRole('heading', { name: 'How this is ranked' }).click();
    await assertRejected(input, 'nobody of this name');
    assert.equal(await read(), owner.user_id);
  }
  await input.fill('next o');
  await waitUntilHighlighted(input, next.name);
  // Leaving the input does not take what the search has highlighted.
  await input.press('Tab');
  await assertRejected(input, 'next o');
  await input.press('Enter');
  await waitUntilHighlighted(input, next.name);
  await input.press('Enter');
  await editorClosed(page);
  assert.equal(await read(), next.user_id);

  await page.getByRole('button', { name: 'Edit Owner', exact: true }).click();
  await input.fill('');
  await input.press('Tab');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await editorClosed(page);
  assert.equal(await read(), null);
});

test('a bulk change keeps the owners unless their removal is asked for', async (t) => {
  const { user_id } = await console.post('/v1/personnel', { name: 'Bulk Owner' });
  const { key: project } = await console.post('/v1/projects', { name: 'Bulk removal' });
  for (const title of ['One', 'Two', 'Three'])
    await console.post(`/v1/projects/${project}/risks`, { title, owner_user_id: user_id });
  const owners = async () => {
    const { data } = await console.get(`/v1/projects/${project}/risks`);
    return data.map((risk: { owner_user_id: string | null }) => risk.owner_user_id);
  };
  const page = await console.open(t, `/risks?project=${project}`);
  await page.getByRole('checkbox', { name: 'Select all loaded rows' }).click();
  await page.getByText('3 selected').waitFor();
  await page.keyboard.press('a');
  const dialog = page.getByRole('dialog', { name: 'Assign 3 risks' });
  const input = combobox(dialog, 'Owner');
  await input.fill('nobody of this name');
  await page.getByText('No assignable people match', { exact: true }).waitFor();
  await input.press('Enter');
  await input.press('Enter');
  await assertRejected(input, 'nobody of this name');
  await input.fill('');
  // Closes the list, which would cover the button.
  await input.press('Tab');
  await dialog.getByRole('button', { name: 'Assign', exact: true }).click();
  await dialog.getByText('Choose an owner or an owning group.').waitFor();
  assert.equal(await dialog.getByText(message).count(), 0);
  assert.deepEqual(await owners(), [user_id, user_id, user_id]);

  await dialog.getByRole('button', { name: 'Clear owner' }).click();
  await dialog.waitFor({ state: 'detached' });
  const toast = page.locator('.toast', { hasText: 'Cleared the owner of 3 risks' });
  await toast.waitFor();
  assert.deepEqual(await owners(), [null, null, null]);
  await toast.getByRole('button', { name: 'Undo' }).click();
  await toast.waitFor({ state: 'detached' });
  assert.deepEqual(await owners(), [user_id, user_id, user_id]);
});

test('a person is not deactivated while the name of a successor is not chosen', async (t) => {
  const person = await console.post('/v1/personnel', { name: 'Leaving Lee' });
  const successor = await console.post('/v1/personnel', { name: 'Successor Sam' });
  const issue = await console.post('/v1/projects/APOLLO/issues', {
    title: 'Handed over',
    assignee_user_id: person.user_id,
  });
  const page = await console.open(t, `/personnel/${person.user_id}`);
  await page.getByRole('button', { name: 'Deactivate…' }).click();
  const dialog = page.getByRole('dialog');
  const input = combobox(dialog, 'Hand over to');
  await input.fill('successor');
  await waitUntilHighlighted(input, successor.name);
  // The first Escape closes the list, not the dialog.
  await input.press('Escape');
  await option(page, successor.name).waitFor({ state: 'detached' });
  await dialog.getByRole('button', { name: 'Deactivate' }).press('Enter');
  await assertRejected(input, 'successor');
  assert.equal((await console.get(`/v1/personnel/${person.user_id}`)).status, 'active');
  await input.press('Enter');
  await waitUntilHighlighted(input, successor.name);
  await input.press('Enter');
  await dialog.getByRole('button', { name: 'Deactivate' }).click();
  await dialog.waitFor({ state: 'detached' });
  const { assignee_user_id } = await console.get(`/v1/projects/APOLLO/issues/${issue.key}`);
  assert.equal(assignee_user_id, successor.user_id);
});
