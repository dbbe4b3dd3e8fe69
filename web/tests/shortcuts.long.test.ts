import assert from 'node:assert/strict';
import { startConsole, test, visit, waitUntilLoaded } from './console.ts';
import { hasFocus } from './focus.ts';

const console = startConsole();

test('a assigns the focused row of risks and tasks', async (t) => {
  const project = '/v1/projects/APOLLO';
  const risk = await console.post(`${project}/risks`, { title: 'Row of 5523' });
  const task = await console.post(`${project}/tasks`, { title: 'Row of 5523' });
  await console.post(`${project}/risks`, { title: 'Other of 5523' });
  const page = await console.open(t, '/risks?q=5523');
  const assign = async (label: string) => {
    await page.keyboard.press('a');
    await page.getByRole('dialog', { name: /^Assign 1 / }).waitFor();
    const picker = page.getByRole('combobox', { name: label, exact: true });
    await picker.focus();
    await page.keyboard.type('adaeze');
    await page.getByRole('option', { name: /Adaeze Eze/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Assign', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  await waitUntilLoaded(page);
  await page.getByRole('link', { name: 'Other of 5523' }).focus();
  await page.keyboard.press('a');
  await page.getByRole('dialog', { name: 'Assign 1 risk' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: risk.title }).focus();
  await assign('Owner');
  await hasFocus(page, risk.title);
  assert.equal((await console.get(`${project}/risks/${risk.key}`)).owner_name, 'Adaeze Eze');
  const { data } = await console.get('/v1/risks?q=5523');
  assert.equal(data.filter((one: { owner_name: string | null }) => one.owner_name).length, 1);
  assert.equal(await page.locator('.bulk-bar').count(), 0);
  for (const path of ['/tasks?q=5523', '/projects/APOLLO?tab=tasks&q=5523']) {
    await console.patch(`${project}/tasks/${task.key}`, { assignee_user_id: null });
    await visit(page, path);
    await page.keyboard.press('j');
    await assign('Assignee');
    assert.equal((await console.get(`${project}/tasks/${task.key}`)).assignee_name, 'Adaeze Eze', path);
  }
});

test('a edits the owner of a risk and the assignee of a task and an issue on their pages', async (t) => {
  const page = await console.open(t, '/keys');
  for (const [list, label] of [
    ['risks', 'Owner'],
    ['tasks', 'Assignee'],
    ['issues', 'Assign to'],
  ] as const) {
    const { key } = await console.post(`/v1/projects/APOLLO/${list}`, { title: 'Page of 5524' });
    await visit(page, `/${list}/${key}`);
    await page.keyboard.press('a');
    const input = page.getByRole('combobox', { name: label, exact: true });
    await input.waitFor();
    await page.waitForFunction(() => document.activeElement?.role === 'combobox');
    assert.equal(await input.inputValue(), '');
  }
});

test('a without a focused row assigns nothing', async (t) => {
  const page = await console.open(t, '/issues');
  await page.keyboard.press('a');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  assert.equal(await page.getByRole('combobox', { name: 'Assign to' }).count(), 0);
});

test('c creates what the tab of a project lists, and a risk in its other tabs', async (t) => {
  const page = await console.open(t, '/projects/APOLLO');
  for (const [tab, dialog] of [
    ['overview', 'Create risk'],
    ['risks', 'Create risk'],
    ['issues', 'Create issue'],
    ['tasks', 'Add task'],
    ['activity', 'Create risk'],
  ] as const) {
    await visit(page, `/projects/APOLLO?tab=${tab}`);
    await page.keyboard.press('c');
    await page.getByRole('dialog', { name: dialog }).waitFor();
  }
});

test('c on a page that creates nothing offers what the key can create', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Page of 5525' });
  const page = await console.open(t, '/', { scopes: ['projects.manage', 'personnel.read'] });
  for (const path of ['/', '/report', `/risks/${key}`]) {
    await visit(page, path);
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog', { name: 'Create' });
    await dialog.waitFor();
    assert.deepEqual(await dialog.getByRole('menuitem').allTextContents(), [
      'Create risk',
      'Create issue',
      'Add task',
      'Create project',
    ]);
  }
  await page.keyboard.type('ta');
  await page.locator('[role="menuitem"][data-focused]', { hasText: 'Add task' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Add task' }).waitFor();
});

test('c on a page that creates nothing does nothing for a key that only reads', async (t) => {
  const page = await console.open(t, '/', { scopes: ['projects.read'] });
  await page.keyboard.press('c');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  assert.equal(await page.getByRole('dialog').count(), 1);
});

test('j and k move through keys, groups and webhooks', async (t) => {
  await console.post('/v1/webhooks', { url: 'http://127.0.0.1:9/one', types: ['risk.created'] });
  await console.post('/v1/webhooks', { url: 'http://127.0.0.1:9/two', types: ['risk.created'] });
  const { id } = await console.newKey();
  await console.newKey();
  await console.revoke(id);
  const page = await console.open(t, '/keys');
  for (const path of ['/keys', '/groups', '/webhooks']) {
    await visit(page, path);
    const rowIndex = (): Promise<number> =>
      page.evaluate(() => {
        const rows = [...document.querySelectorAll('#main tbody tr, #main [role=treegrid] [role=row]')];
        return rows.findIndex((row) => row.contains(document.activeElement));
      });
    for (const [key, index] of [
      ['j', 0],
      ['j', 1],
      ['k', 0],
      ['j', 1],
    ] as const) {
      await page.keyboard.press(key);
      assert.equal(await rowIndex(), index, `${path} ${key}`);
    }
    if (path === '/webhooks') continue;
    await page.keyboard.press('j');
    assert.equal(await rowIndex(), 2, path);
  }
});

test('c creates a group while a row of the tree has focus, not finding one by its name', async (t) => {
  await console.post('/v1/groups', { name: 'Cranes' });
  const page = await console.open(t, '/groups');
  await page.keyboard.press('j');
  await page.keyboard.press('c');
  await page.getByRole('dialog', { name: 'Create group' }).waitFor();
});

test('a in an archived project assigns nothing, then or later', async (t) => {
  const project = await console.post('/v1/projects', { name: 'Shelved 5526' });
  await console.post(`/v1/projects/${project.key}/risks`, { title: 'Shelved risk' });
  await console.post(`/v1/projects/${project.key}/archive`);
  const page = await console.open(t, `/projects/${project.key}?tab=risks`);
  await page.getByRole('link', { name: 'Shelved risk' }).focus();
  await page.keyboard.press('a');
  await page.getByRole('button', { name: 'Unarchive' }).click();
  await page.getByRole('checkbox', { name: 'Select all loaded rows' }).waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  assert.equal(await page.getByRole('dialog').count(), 1);
});

test('Ctrl+Z undoes the last changes on the page, also after their messages are gone, but not while typing', async (t) => {
  const path = '/v1/projects/APOLLO/tasks';
  const { key } = await console.post(path, { title: 'Undo 6631' });
  const statusOf = async () => (await console.get(`${path}/${key}`)).status;
  const page = await console.open(t, `/tasks/${key}`);
  await page.getByRole('button', { name: 'Edit Title' }).click();
  await page.getByRole('textbox', { name: 'Title' }).fill('Undo 6631 twice');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Undo 6631 twice' }).waitFor();
  await page.getByRole('button', { name: 'Mark as done' }).click();
  await page.getByText(`Marked ${key} as done`).waitFor();
  while ((await page.locator('.toast').count()) > 0)
    await page.locator('.toast').first().getByRole('button', { name: 'Dismiss' }).click();
  // In a field, the browser undoes what was typed.
  await page.getByRole('textbox', { name: 'Write a comment' }).fill('Text');
  await page.keyboard.press('Control+z');
  assert.equal(await statusOf(), 'done');
  await page.getByRole('textbox', { name: 'Write a comment' }).fill('');
  await page.getByRole('heading', { level: 2, name: 'Activity' }).click();
  await page.keyboard.press('Control+z');
  await page.getByText(`Undone: Marked ${key} as done`).waitFor();
  assert.equal(await statusOf(), 'todo');
  await page.keyboard.press('Control+z');
  await page.getByText(`Undone: Saved ${key}: Title`).waitFor();
  assert.equal((await console.get(`${path}/${key}`)).title, 'Undo 6631');
  // Nothing else was changed here, and what was changed elsewhere stays.
  await page.keyboard.press('Control+z');
  await visit(page, '/tasks?q=6631');
  await page.keyboard.press('Control+z');
  assert.deepEqual([await statusOf(), (await console.get(`${path}/${key}`)).version], ['todo', 5]);
});

test('shortcuts work on a Cyrillic layout, and stay with the letter on other Latin ones', async (t) => {
  await console.post('/v1/projects/APOLLO/risks', { title: 'Row of 7350' });
  const page = await console.open(t, '/risks?q=7350');
  const keyboard = await page.context().newCDPSession(page);
  const press = async (key: string, code: string, modifiers = 0) => {
    for (const type of ['keyDown', 'keyUp'] as const)
      await keyboard.send('Input.dispatchKeyEvent', { type, key, code, modifiers });
  };
  const ctrl = 2;
  await press('о', 'KeyJ');
  await hasFocus(page, 'Row of 7350');
  await press('л', 'KeyK', ctrl);
  await page.getByRole('dialog', { name: 'Go to' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await hasFocus(page, 'Row of 7350');
  await press('ф', 'KeyA');
  await page.getByRole('dialog', { name: 'Assign 1 risk' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await hasFocus(page, 'Row of 7350');
  // The key of A on a French keyboard is that of Q on an English one.
  await press('a', 'KeyQ');
  await page.getByRole('dialog', { name: 'Assign 1 risk' }).waitFor();
});
