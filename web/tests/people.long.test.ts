import assert from 'node:assert/strict';
import { startConsole, test, waitUntilLoaded } from './console.ts';
import { hasFocus } from './focus.ts';
import { pick } from './page.ts';

const console = startConsole();

const person = async (name: string, more: object = {}) =>
  (await console.post('/v1/personnel', { name, ...more })) as { user_id: string; name: string };

test('a hand-over is split by project, undone by its message, and lists what moved', async (t) => {
  const leaver = await person('Leaving Lise');
  const [first, second] = [await person('Heir Helge'), await person('Heir Hilde')];
  const risk = await console.post('/v1/projects/APOLLO/risks', {
    title: 'Split risk',
    owner_user_id: leaver.user_id,
  });
  const task = await console.post('/v1/projects/APOLLO/tasks', {
    title: 'Split task',
    assignee_user_id: leaver.user_id,
  });
  const readOwners = async () => [
    (await console.get(`/v1/projects/APOLLO/risks/${risk.key}`)).owner_user_id,
    (await console.get(`/v1/projects/APOLLO/tasks/${task.key}`)).assignee_user_id,
  ];
  const page = await console.open(t, `/personnel/${leaver.user_id}`);
  await page.getByRole('button', { name: 'Deactivate…' }).click();
  const dialog = page.getByRole('dialog');
  await pick(page, 'Hand over to', 'heir helge');
  await dialog.getByRole('row', { name: 'Tasks 1 1' }).waitFor();
  const add = dialog.getByRole('button', { name: 'Hand over a part to someone else' });
  await add.press('Enter');
  await hasFocus(page, 'Work of part 1');
  await dialog.getByRole('button', { name: 'Remove part 1' }).press('Enter');
  await hasFocus(page, 'Hand over a part to someone else');
  await add.press('Enter');
  await dialog.getByLabel('Work of part 1').selectOption('Tasks');
  // Without a successor, the part stays.
  await dialog.getByRole('row', { name: 'Tasks 1 0' }).waitFor();
  await pick(page, 'Hand over part 1 to', 'heir hilde');
  await dialog.getByRole('row', { name: 'Tasks 1 1' }).waitFor();
  await dialog.getByRole('button', { name: 'Deactivate' }).click();
  const message = page.locator('.toast', { hasText: 'Deactivated Leaving Lise and handed over 2 items' });
  await message.waitFor();
  assert.deepEqual(await readOwners(), [first.user_id, second.user_id]);

  const card = page.getByRole('region', { name: 'Work handed over' });
  await card.getByRole('link', { name: 'Split task' }).waitFor();
  await page.locator('.history').getByRole('link', { name: risk.key }).waitFor();
  await message.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Returned 2 items to Leaving Lise').waitFor();
  assert.deepEqual(await readOwners(), [leaver.user_id, leaver.user_id]);
  await page.getByRole('button', { name: 'Deactivate…' }).waitFor();
  await card.getByText('2 returned').waitFor();
  await page.locator('.history').getByText('Hand-over undone from').first().waitFor();
});

test('a hand-over is undone from the history later, except for what has changed since', async (t) => {
  const leaver = await person('Leaving Lasse');
  const heir = await person('Heir Hanne');
  const create = (title: string) =>
    console.post('/v1/projects/APOLLO/risks', { title, owner_user_id: leaver.user_id });
  const [kept, changed] = [await create('Returned later'), await create('Worked on')];
  await console.post(`/v1/personnel/${leaver.user_id}/deactivate`, { handover_to_user_id: heir.user_id });
  await console.patch(`/v1/projects/APOLLO/risks/${changed.key}`, { description: 'By the heir.' });
  const path = `/personnel/${leaver.user_id}`;
  const reader = await console.open(t, path, { scopes: ['personnel.manage', 'projects.read'] });
  await reader.getByRole('region', { name: 'Work handed over' }).getByText('2 items').waitFor();
  assert.equal(await reader.getByRole('button', { name: /^Undo/ }).count(), 0);

  const page = await console.open(t, path);
  await page
    .locator('.history')
    .getByRole('button', { name: /^Undo, hand-over of/ })
    .click();
  await page.getByRole('dialog').getByRole('button', { name: 'Undo hand-over' }).click();
  await page.getByText('Returned 1 item to Leaving Lasse. 1 item changed since and stayed.').waitFor();
  await waitUntilLoaded(page);
  await page.getByText('Stayed: changed since').waitFor();
  const owner = async (key: string) => (await console.get(`/v1/projects/APOLLO/risks/${key}`)).owner_user_id;
  assert.deepEqual([await owner(kept.key), await owner(changed.key)], [leaver.user_id, heir.user_id]);
  assert.equal(await page.getByRole('button', { name: /^Undo/ }).count(), 0);
});

test('people are found by skill, department, location, manager and group, in the list and in the palette', async (t) => {
  const manager = await person('Manager Mona');
  const found = await person('Found Frieda', {
    skills: ['Hydrography'],
    department: 'Sea charts',
    location: 'Bergen',
    manager_user_id: manager.user_id,
  });
  const group = await console.post('/v1/groups', { name: 'Sounders' });
  await console.post(`/v1/groups/${group.id}/members`, { user_ids: [found.user_id] });
  await console.post('/v1/projects/APOLLO/risks', { title: 'Shoals', owner_group_id: group.id });
  await console.post('/v1/projects/APOLLO/issues', { title: 'Aground', owner_user_id: found.user_id });
  const page = await console.open(t, '/personnel');
  const filters = page.getByRole('search');
  for (const [label, text, option] of [
    ['Skill', 'hydro', 'Hydrography'],
    ['Department', 'sea', 'Sea charts'],
    ['Location', 'berg', 'Bergen'],
    ['Manager', 'manager mona', 'Manager Mona'],
    ['Group', 'sounders', 'Sounders'],
  ] as const) {
    await filters.getByRole('button', { name: label, exact: true }).click();
    await page.getByRole('combobox', { name: label }).fill(text);
    await page.getByRole('option', { name: option }).click();
    await page.getByText('1 person', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Found Frieda' }).waitFor();
    await filters.getByRole('button', { name: label }).click();
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    await page.getByText('1 person', { exact: true }).waitFor({ state: 'detached' });
  }
  await page.keyboard.press('Control+k');
  await page.keyboard.type('hydrogr');
  await page.getByRole('menuitem', { name: 'Found Frieda Hydrography' }).click();
  await page.getByRole('heading', { level: 1, name: 'Found Frieda' }).waitFor();

  await page.goto(`/personnel/${manager.user_id}`);
  await page
    .getByRole('region', { name: 'Direct reports 1' })
    .getByRole('link', { name: 'Found Frieda' })
    .waitFor();
  await page.goto(`/groups/${group.id}`);
  const work = page.getByRole('region', { name: 'Open work' });
  await work.getByRole('link', { name: 'Shoals' }).waitFor();
  await work.getByText('With subgroups and members: 1 risk, 1 issue').waitFor();
  await work.getByRole('link', { name: '1 issue', exact: true }).click();
  await page.getByRole('link', { name: 'Aground' }).waitFor();

  await page.goto('/issues?new=true');
  await page.getByRole('dialog').getByRole('combobox', { name: 'Owner' }).fill('found frieda');
  await page.getByRole('option', { name: 'Found Frieda Hydrography 1 open' }).waitFor();
});

test('Ctrl+Enter submits a dialog, and several issues are created in a row with the same project and owner', async (t) => {
  await person('Owner Oda');
  const page = await console.open(t, '/issues?new=true');
  const dialog = page.getByRole('dialog', { name: 'Create issue' });
  await pick(page, 'Project', 'apollo');
  await dialog.getByLabel('Title').fill('First of the meeting');
  await pick(page, 'Owner', 'owner oda');
  await dialog.getByRole('checkbox', { name: 'Create another' }).check();
  await dialog.getByLabel('Title').press('Control+Enter');
  const title = dialog.getByLabel('Title');
  await page.waitForFunction(
    () => document.activeElement instanceof HTMLInputElement && document.activeElement.value === '',
  );
  assert.equal(await title.inputValue(), '');
  assert.equal(await dialog.getByRole('combobox', { name: 'Owner' }).inputValue(), 'Owner Oda');
  await title.fill('Second of the meeting');
  await dialog.getByRole('checkbox', { name: 'Create another' }).uncheck();
  await title.press('Control+Enter');
  await page.getByRole('heading', { level: 1, name: 'Second of the meeting' }).waitFor();
  const { data } = await console.get('/v1/issues?q=of+the+meeting');
  assert.deepEqual(
    data.map(({ project_key, owner_name }: { project_key: string; owner_name: string }) => [
      project_key,
      owner_name,
    ]),
    [
      ['APOLLO', 'Owner Oda'],
      ['APOLLO', 'Owner Oda'],
    ],
  );
});
