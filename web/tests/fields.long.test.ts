import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { startConsole, test, visit, waitUntilLoaded } from './console.ts';
import { tabTo } from './focus.ts';
import { editorClosed, fact, pick, signIn } from './page.ts';

const console = startConsole();

const newRisk = async (fields: object = {}) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Edited in place', ...fields });
  return { key, path: `/v1/projects/APOLLO/risks/${key}` };
};

const button = (page: Page, label: string) =>
  page.getByRole('button', { name: `Edit ${label}`, exact: true });
const editor = (page: Page) => page.locator('.inline-editor');

test('a click on a value edits it, Enter or leaving it saves, and the change can be undone', async (t) => {
  const { key, path } = await newRisk({ due_on: '2031-01-02', category: 'supply' });
  const page = await console.open(t, `/risks/${key}`);
  await fact(page, 'Due').getByText('2 Jan 2031').click();
  await page.getByLabel('Due', { exact: true }).fill('2031-03-04');
  await page.keyboard.press('Enter');
  await fact(page, 'Due').getByText('4 Mar 2031').waitFor();
  assert.equal((await console.get(path)).due_on, '2031-03-04');
  await page.getByText(`Saved ${key}: Due`).waitFor();
  // Another change in between is no obstacle.
  await console.patch(path, { review_on: '2031-05-05' });
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).click();
  await fact(page, 'Due').getByText('2 Jan 2031').waitFor();
  assert.equal((await console.get(path)).review_on, '2031-05-05');

  await fact(page, 'Category').getByText('Supply').click();
  await page.getByLabel('Category').fill('logistics');
  await page.getByRole('heading', { name: 'How this is ranked' }).click();
  await fact(page, 'Category').getByText('Logistics').waitFor();

  await page.getByRole('heading', { level: 1 }).click();
  await page.getByLabel('Title').fill('Renamed in place');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Renamed in place', exact: true }).waitFor();

  await fact(page, 'Impact').click();
  await page.getByLabel('Impact', { exact: true }).selectOption('4');
  await fact(page, 'Impact').getByText('4 –').waitFor();
  await editorClosed(page);

  // A blank value is left blank, and the error of a wrong one is beside it.
  await button(page, 'Source').click();
  await page.getByLabel('Source').fill('no address');
  await page.keyboard.press('Enter');
  await editor(page).getByRole('alert').waitFor();
  assert.equal(await page.getByLabel('Source').getAttribute('aria-invalid'), 'true');
  await page.getByLabel('Source').fill('https://example.com/7');
  await editor(page).getByRole('button', { name: 'Save' }).click();
  await fact(page, 'Source').getByRole('link', { name: 'example.com/7' }).waitFor();
});

test('the fields of an issue, a task, a project and a person are edited on their pages', async (t) => {
  const person = await console.post('/v1/personnel', { name: 'Inga Inline' });
  const issue = await console.post('/v1/projects/APOLLO/issues', { title: 'Edited issue' });
  const task = await console.post('/v1/projects/APOLLO/tasks', { title: 'Edited task' });
  const project = await console.post('/v1/projects', { name: 'Inline project', key: 'INLINE' });
  const group = await console.post('/v1/groups', { name: 'Inline owners' });
  const page = await console.open(t, `/issues/${issue.key}`);
  const pickInPlace = async (label: string, name: string) => {
    await button(page, label).click();
    await pick(page, label, name);
    await fact(page, label).getByText(name).waitFor();
    await editorClosed(page);
  };
  await waitUntilLoaded(page);
  await button(page, 'Severity').click();
  await page.getByLabel('Severity').selectOption('critical');
  await fact(page, 'Severity').getByText('Critical').waitFor();
  await pickInPlace('Owner', 'Inga Inline');
  // One owner replaces the other.
  await pickInPlace('Owning group', 'Inline owners');
  await fact(page, 'Owner').getByText('Not set').waitFor();
  await page.getByText(`Saved ${issue.key}: Owner, Owning group`).waitFor();
  const saved = await console.get(`/v1/projects/APOLLO/issues/${issue.key}`);
  assert.deepEqual([saved.severity, saved.owner_group_id], ['critical', group.id]);
  await page.locator('.toast').last().getByRole('button', { name: 'Undo' }).click();
  await fact(page, 'Owner').getByText('Inga Inline').waitFor();

  await visit(page, `/tasks/${task.key}`);
  await pickInPlace('Assignee', 'Inga Inline');
  await button(page, 'Status').click();
  await page.getByLabel('Status').selectOption('blocked');
  await fact(page, 'Status').getByText('Blocked').waitFor();

  await visit(page, `/projects/${project.key}`);
  await button(page, 'Risk appetite (score)').click();
  await page.getByLabel('Risk appetite (score)', { exact: true }).fill('9');
  await page.keyboard.press('Enter');
  await page.getByText('9 of 25').waitFor();
  await pickInPlace('Lead', 'Inga Inline');
  await button(page, 'Key').click();
  await page.getByLabel('Key').fill('INLINE2');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/projects\/INLINE2$/);
  await fact(page, 'Key').getByText('INLINE2').waitFor();

  await visit(page, `/personnel/${person.user_id}`);
  await button(page, 'Skills').click();
  await page.getByLabel('Skills').fill('welding, sailing');
  await page.keyboard.press('Enter');
  await fact(page, 'Skills').getByText('welding, sailing').waitFor();
  assert.deepEqual((await console.get(`/v1/personnel/${person.user_id}`)).skills, ['welding', 'sailing']);
});

test('fields are edited with the keyboard alone', async (t) => {
  const { key, path } = await newRisk({ description: 'One line' });
  const page = await console.open(t, `/risks/${key}`);
  await tabTo(page, 'Edit Category');
  await page.keyboard.press('e');
  await page.keyboard.type('weather');
  await page.keyboard.press('Enter');
  await fact(page, 'Category').getByText('Weather').waitFor();
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
  await page.waitForFunction(() => document.activeElement?.ariaLabel === 'Edit Category');
  await page.keyboard.press('Enter');
  await page.keyboard.type('nothing');
  await page.keyboard.press('Escape');
  await fact(page, 'Category').getByText('Weather').waitFor();
  assert.equal(await focused(), 'Edit Category');

  // Arrow keys step through the choices and save nothing on the way.
  await tabTo(page, 'Edit Strategy');
  await page.keyboard.press('Enter');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  assert.equal((await console.get(path)).strategy, null);
  await page.keyboard.press('Enter');
  await fact(page, 'Strategy').getByText('Mitigate').waitFor();

  await button(page, 'Description').focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Control+End');
  await page.keyboard.press('Enter');
  await page.keyboard.type('and another');
  await page.keyboard.press('Escape');
  await page.getByText('Discarded your change: Description').waitFor();
  await page.locator('.toast').last().getByRole('button', { name: 'Undo' }).press('Enter');
  await page.waitForFunction(() => document.activeElement?.tagName === 'TEXTAREA');
  await page.keyboard.press('Control+Enter');
  await editorClosed(page);
  assert.equal((await console.get(path)).description, 'One line\nand another');
});

test('a change of the same field by someone else is shown and not overwritten by leaving', async (t) => {
  const { key, path } = await newRisk({ category: 'supply' });
  const page = await console.open(t, `/risks/${key}`);
  await button(page, 'Category').click();
  await page.getByLabel('Category').fill('mine');
  await console.patch(path, { category: 'theirs' });
  await page.keyboard.press('Enter');
  await editor(page).getByText('Category: theirs (yours: mine)').waitFor();
  await page.getByRole('heading', { name: 'How this is ranked' }).click();
  assert.equal((await console.get(path)).category, 'theirs');
  await editor(page).getByRole('button', { name: 'Overwrite' }).click();
  await editorClosed(page);
  assert.equal((await console.get(path)).category, 'mine');
});

test('a slow save is shown at once; nothing is lost without a connection, a session or after a reload', async (t) => {
  const { key, path } = await newRisk();
  const page = await console.open(t, '/keys', { signedIn: false });
  const { secret } = await console.newKey();
  await signIn(page, secret);
  await visit(page, `/risks/${key}`);

  let mode: 'hold' | 'abort' | 'lose' | 'pass' = 'hold';
  let writes = 0;
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
  await page.route(`**/risks/${key}`, async (route) => {
    if (route.request().method() !== 'PATCH') return route.continue();
    if (mode === 'hold') await isReleased;
    if (mode === 'abort') return route.abort();
    writes += 1;
    if (mode === 'lose') {
      await route.fetch();
      return route.abort();
    }
    await route.continue();
  });
  await button(page, 'Category').click();
  await page.getByLabel('Category').fill('slow');
  await page.keyboard.press('Enter');
  await editor(page).getByText('Saving…').waitFor();
  release();
  await fact(page, 'Category').getByText('Slow').waitFor();

  mode = 'abort';
  await button(page, 'Response plan').click();
  await page.getByLabel('Response plan').fill('Kept through everything');
  await page.keyboard.press('Control+Enter');
  await editor(page).getByRole('alert').getByText("Can't reach the service").waitFor();
  assert.equal(await page.getByLabel('Response plan').inputValue(), 'Kept through everything');
  await page.reload();
  await waitUntilLoaded(page);
  assert.equal(await page.getByLabel('Response plan').inputValue(), 'Kept through everything');

  mode = 'pass';
  await page.context().clearCookies();
  await editor(page).getByRole('button', { name: 'Save' }).click();
  await page.getByText('Your session has ended. Sign in again.').waitFor();
  await signIn(page, secret);
  assert.equal(await page.getByLabel('Response plan').inputValue(), 'Kept through everything');

  // The service saves the change, but its response is lost.
  mode = 'lose';
  await editor(page).getByRole('button', { name: 'Save' }).click();
  await editor(page).getByRole('alert').getByText("Can't reach the service").waitFor();
  mode = 'pass';
  writes = 0;
  await editor(page).getByRole('button', { name: 'Save' }).click();
  await editorClosed(page);
  await fact(page, 'Response plan').getByText('Kept through everything').waitFor();
  const { response_plan, version } = await console.get(path);
  assert.deepEqual([response_plan, version, writes], ['Kept through everything', 3, 1]);
});

test('a key that can only read sees no buttons to edit', async (t) => {
  const { key } = await newRisk({ description: 'Readable' });
  const reader = await console.open(t, `/risks/${key}`, { scopes: ['projects.read'] });
  await reader.locator('.facts').getByText('Readable').waitFor();
  assert.equal(await reader.getByRole('button', { name: /^Edit/ }).count(), 0);
  assert.equal(await reader.getByText('Not set').count(), 0);
});

test('Undo of a new project key returns to the former address, or leaves another page in place', async (t) => {
  const { id } = await console.post('/v1/projects', { name: 'Renamed by key', key: 'KEYONE' });
  const page = await console.open(t, '/projects/KEYONE');
  const rename = async () => {
    await button(page, 'Key').click();
    await page.getByLabel('Key', { exact: true }).fill('KEYTWO');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/projects\/KEYTWO$/);
    await waitUntilLoaded(page);
  };
  const undo = async () => {
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Undone').waitFor();
    await page.getByRole('button', { name: 'Dismiss' }).click();
  };
  await rename();
  await undo();
  await page.waitForURL(/\/projects\/KEYONE$/);
  await page.getByRole('heading', { level: 1, name: 'Renamed by key' }).waitFor();
  await rename();
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Groups' }).click();
  await page.getByRole('heading', { level: 1, name: 'Groups' }).waitFor();
  await undo();
  assert.equal((await console.get(`/v1/projects/${id}`)).key, 'KEYONE');
  assert.equal(new URL(page.url()).pathname, '/groups');
});

test('choosing an owner shows the owning group that someone else has set before it replaces it', async (t) => {
  const person = await console.post('/v1/personnel', { name: 'Olga Owner' });
  const group = await console.post('/v1/groups', { name: 'Night watch' });
  const owners = async (path: string) => {
    const { owner_user_id, owner_group_id } = await console.get(path);
    return [owner_user_id, owner_group_id];
  };
  const inPlace = await newRisk();
  const page = await console.open(t, `/risks/${inPlace.key}`);
  await button(page, 'Owner').click();
  await console.patch(inPlace.path, { owner_group_id: group.id });
  await pick(page, 'Owner', 'Olga Owner');
  await editor(page).getByText('Owning group: Night watch').waitFor();
  assert.deepEqual(await owners(inPlace.path), [null, group.id]);
  await editor(page).getByRole('button', { name: 'Overwrite' }).click();
  await editorClosed(page);
  assert.deepEqual(await owners(inPlace.path), [person.user_id, null]);

  const inForm = await newRisk();
  await visit(page, `/risks/${inForm.key}`);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await pick(page, 'Owner', 'Olga Owner');
  await console.patch(inForm.path, { owner_group_id: group.id });
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('button', { name: 'Review' }).click();
  await dialog.getByText('Owning group: Night watch (yours: –)').waitFor();
  assert.deepEqual(await owners(inForm.path), [null, group.id]);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.deepEqual(await owners(inForm.path), [person.user_id, null]);
});
