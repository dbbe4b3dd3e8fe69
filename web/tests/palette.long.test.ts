import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { startConsole, test, visit, waitUntilLoaded } from './console.ts';
import { hold, signIn } from './page.ts';

const console = startConsole();

test('the palette opens the item whose key is typed, not one that mentions the key', async (t) => {
  await console.post('/v1/projects', { name: 'Hoist of the depot', key: 'HOIST' });
  const { key } = await console.post('/v1/projects/HOIST/risks', { title: 'Crane is late' });
  const issue = await console.post('/v1/projects/HOIST/issues', { title: `Crane broke, see ${key}` });
  await console.post('/v1/projects/HOIST/tasks', { title: `Rent a crane: ${key} and ${issue.key}` });
  const page = await console.open(t, '/keys');
  for (const [text, path] of [
    [key, `/risks/${key}`],
    [issue.key.toLowerCase(), `/issues/${issue.key}`],
    ['hoist', '/projects/HOIST'],
  ] as const) {
    await type(page, text);
    await page
      .getByRole('menuitem', { name: /^Rent a crane|^Hoist/ })
      .first()
      .waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**${path}`);
    await waitUntilLoaded(page);
  }
});

test('Enter opens the first result when it arrives, unless the text has changed', async (t) => {
  await console.post('/v1/projects', { name: 'Winch of the depot', key: 'WINCH' });
  const { key } = await console.post('/v1/projects/WINCH/risks', { title: 'Rope tears' });
  const enterBeforeResponse = async (page: Page) => {
    await waitUntilLoaded(page);
    const release = await hold(page, '**/v1/risks?*');
    await type(page, key);
    await page.keyboard.press('Enter');
    await page.getByText('Searching…').waitFor();
    return release;
  };
  const page = await console.open(t, '/keys');
  const release = await enterBeforeResponse(page);
  release();
  await page.waitForURL(`**/risks/${key}`);

  const other = await console.open(t, '/keys');
  const releaseOther = await enterBeforeResponse(other);
  await other.keyboard.type('1');
  await other.keyboard.press('Backspace');
  releaseOther();
  await other.getByRole('menuitem', { name: 'Rope tears' }).waitFor();
  assert.equal(new URL(other.url()).pathname, '/keys');
});

test('the palette opens the import, the shortcuts and the API reference, sets the theme and signs out', async (t) => {
  const page = await console.open(t, '/keys');
  await run(page, 'Import people');
  await page.getByRole('dialog', { name: 'Import people' }).waitFor();
  assert.equal(new URL(page.url()).pathname + new URL(page.url()).search, '/personnel');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await run(page, 'Keyboard shortcuts');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  for (const name of ['Dark', 'Light', 'System']) {
    await run(page, `${name} theme`);
    await page.locator(`html[data-theme=${name.toLowerCase()}]`).waitFor();
    await page.locator('.sidebar [aria-pressed=true]').and(page.getByLabel(name)).waitFor();
  }
  await run(page, 'API reference');
  await page.waitForURL(/\/docs$/);
  await visit(page, '/keys');
  await run(page, 'Sign out');
  await page.getByLabel('API key').waitFor();
});

test('the palette prints all rows of a list without itself', async (t) => {
  const page = await console.open(t, '/tasks');
  const total = (await console.get('/v1/tasks?limit=1&count=true')).page.total;
  const printed = page.evaluate(
    () =>
      new Promise<{ hasDialog: boolean; rows: number }>((resolve) => {
        window.print = () => {
          window.dispatchEvent(new Event('beforeprint'));
          resolve({
            hasDialog: document.querySelector('[role=dialog]') !== null,
            rows: document.querySelectorAll('tbody tr').length,
          });
        };
      }),
  );
  await run(page, 'Print');
  assert.deepEqual(await printed, { hasDialog: false, rows: total });
});

test('the palette finds private and shared views by their name', async (t) => {
  await console.post('/v1/views', { list: 'issues', name: 'Zephyr shared', query: 'severity=critical' });
  const page = await console.open(t, '/tasks?overdue=true');
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'Save as view…' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Zephyr private');
  await page.getByRole('dialog').getByRole('button', { name: 'Save view' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await run(page, 'Zephyr shared');
  await page.waitForURL('**/issues?severity=critical');
  await waitUntilLoaded(page);
  await run(page, 'zephyr private');
  await page.waitForURL('**/tasks?overdue=true');
});

test('the palette runs the actions of an item', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/issues', { title: 'Acted on 5531' });
  const page = await console.open(t, `/issues/${key}`);
  await run(page, 'Start work');
  await page.locator('#status .chip').getByText('In progress').waitFor();
  await run(page, 'Edit');
  await page.getByRole('dialog', { name: `Edit ${key}` }).waitFor();
});

test('Ctrl+K opens the palette from a field and from its edit button, and one Escape closes it', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Edited from 5532' });
  const page = await console.open(t, `/risks/${key}`);
  const palette = page.getByRole('dialog', { name: 'Go to' });
  await page.getByRole('button', { name: 'Edit Category' }).focus();
  await type(page, 'ris');
  await palette.getByRole('menuitem').first().waitFor();
  await page.keyboard.press('Escape');
  await palette.waitFor({ state: 'detached' });
  await page.waitForFunction(() => document.activeElement?.ariaLabel === 'Edit Category');
  await page.keyboard.press('e');
  await page.getByRole('combobox', { name: 'Category' }).fill('Supply');
  await page.keyboard.press('Control+k');
  await palette.waitFor();
  await page.keyboard.press('Escape');
  await palette.waitFor({ state: 'detached' });
  assert.equal(await page.getByRole('combobox', { name: 'Category' }).inputValue(), 'Supply');
  await page.getByRole('button', { name: 'Edit Owner' }).focus();
  await visit(page, '/risks');
  await page.getByRole('searchbox', { name: 'Search by title or key' }).focus();
  await page.keyboard.press('Control+k');
  await palette.waitFor();
});

test('the palette assigns an item and filters lists', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Assigned from 5533' });
  const page = await console.open(t, `/risks/${key}`);
  await run(page, 'Assign');
  await page.getByRole('combobox', { name: 'Owner', exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await run(page, 'no owner');
  await page.waitForURL('**/risks?unowned=true');
  await waitUntilLoaded(page);
  await run(page, 'Overdue risks');
  await page.waitForURL('**/risks?unowned=true&check=due_overdue');
  await waitUntilLoaded(page);
  await run(page, 'Overdue tasks');
  await page.waitForURL('**/tasks?overdue=true');
});

test('the palette offers only commands that the key has the scopes for, and none in the middle of a word', async (t) => {
  const page = await console.open(t, '/', { scopes: ['projects.read', 'personnel.read'] });
  await page.keyboard.press('Control+k');
  const names = (section: string) =>
    page.getByRole('group', { name: section }).getByRole('menuitem').allTextContents();
  await page.getByRole('group', { name: 'Commands' }).waitFor();
  assert.deepEqual(await names('Create'), []);
  const everyones = ['Print', 'Keyboard shortcuts', 'Light theme', 'Dark theme', 'System theme'];
  assert.deepEqual(await names('Commands'), [...everyones, 'API reference', 'Sign out']);
  await page.keyboard.type('ig');
  await page.getByRole('menuitem').first().waitFor();
  assert.deepEqual(await names('Commands'), []);
});

test('a key that is limited to some projects is not offered to create or import projects', async (t) => {
  const { secret } = await console.post('/v1/keys', {
    name: 'only Apollo',
    scopes: ['projects.manage'],
    project_ids: ['APOLLO'],
  });
  const page = await console.open(t, '/', { signedIn: false });
  await signIn(page, secret);
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await waitUntilLoaded(page);
  const names = () => page.getByRole('menuitem').allTextContents();
  await page.keyboard.press('c');
  await page.getByRole('dialog', { name: 'Create' }).getByRole('menuitem').first().waitFor();
  assert.deepEqual(await names(), ['Create risk', 'Create issue', 'Add task']);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('Control+k');
  await page.getByRole('group', { name: 'Commands' }).waitFor();
  assert.deepEqual(
    (await names()).filter((name) => /create|import|add/i.test(name)),
    ['Create risk', 'Create issue', 'Add task', 'Import risks', 'Import issues', 'Import tasks'],
  );
});

/** Runs the first result for a text. */
async function run(page: Page, text: string): Promise<void> {
  await type(page, text);
  await page.locator('[role="menuitem"][data-focused]').getByText(text).waitFor();
  await page.keyboard.press('Enter');
}

/** Types a text into the palette. */
async function type(page: Page, text: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('searchbox', { name: 'Go to' }).waitFor();
  await page.keyboard.type(text);
}
