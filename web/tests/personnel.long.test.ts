import assert from 'node:assert/strict';
import { startConsole, test, waitUntilLoaded } from './console.ts';
import { pick } from './page.ts';

const console = startConsole();

test('people are found by name, and their page lists their assigned work', async (t) => {
  const page = await console.open(t, '/personnel');
  await page.getByRole('searchbox').fill('adaeze');
  await page.waitForURL(/q=adaeze/);
  await page.locator('.summary-line').getByText('1 person').waitFor();
  await page.getByRole('link', { name: 'Adaeze Eze' }).click();
  await page.getByRole('heading', { level: 1, name: 'Adaeze Eze' }).waitFor();
  await waitUntilLoaded(page);
  const user_id = new URL(page.url()).pathname.split('/').at(-1);
  const assignments = await console.get(`/v1/personnel/${user_id}/assignments`);
  assert.match(
    (await page.locator('#assignments').textContent()) ?? '',
    new RegExp(`Assigned work ${assignments.page.total}$`),
  );
});

test('deactivating a person shows what is reassigned before it happens', async (t) => {
  const leaver = await console.post('/v1/personnel', { name: 'Leaving Larsson' });
  await console.post('/v1/personnel', { name: 'Heir Hansen' });
  const risk = await console.post('/v1/projects/APOLLO/risks', {
    title: 'Handed over',
    owner_user_id: leaver.user_id,
  });
  const page = await console.open(t, `/personnel/${leaver.user_id}`);
  await page.getByRole('button', { name: 'Deactivate…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Anything not reassigned stays with Leaving Larsson').waitFor();
  assert.equal((await console.get(`/v1/personnel/${leaver.user_id}`)).status, 'active');
  await pick(page, 'Hand over to', 'heir hansen');
  await dialog.getByRole('row', { name: 'Risks 1 1' }).waitFor();
  await dialog.getByRole('button', { name: 'Deactivate' }).click();
  await page.getByRole('button', { name: 'Reactivate' }).waitFor();
  const { owner_name } = await console.get(`/v1/projects/APOLLO/risks/${risk.key}`);
  assert.equal(owner_name, 'Heir Hansen');
  await page.getByRole('button', { name: 'Reactivate' }).click();
  await page.getByRole('button', { name: 'Deactivate…' }).waitFor();
});

test('a key without access to projects deactivates a person without handing over, and sees why', async (t) => {
  const leaver = await console.post('/v1/personnel', { name: 'Leaving Lindgren' });
  const task = { title: 'Stays', assignee_user_id: leaver.user_id };
  const { key } = await console.post('/v1/projects/APOLLO/tasks', task);
  const page = await console.open(t, `/personnel/${leaver.user_id}`, { scopes: ['personnel.manage'] });
  await page.getByRole('button', { name: 'Deactivate…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('use a key with the scope projects.manage').waitFor();
  await dialog.getByText("Work in projects isn't shown").waitFor();
  assert.equal(await dialog.getByRole('combobox').count(), 0);
  await dialog.getByRole('button', { name: 'Deactivate' }).click();
  await page.getByRole('button', { name: 'Reactivate' }).waitFor();
  const { assignee_name, assignee_active } = await console.get(`/v1/projects/APOLLO/tasks/${key}`);
  assert.deepEqual([assignee_name, assignee_active], ['Leaving Lindgren', false]);
});

test('a person is added and edited', async (t) => {
  const page = await console.open(t, '/personnel');
  await page.getByRole('button', { name: 'Add person' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Zora Quint');
  await dialog.getByLabel('Email').fill('no address');
  await dialog.getByRole('button', { name: 'Add person' }).click();
  await dialog.locator('.field-error').waitFor();
  await dialog.getByLabel('Email').fill('zora@example.com');
  await dialog.getByRole('button', { name: 'Add person' }).click();
  await page.getByRole('heading', { level: 1, name: 'Zora Quint' }).waitFor();
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await dialog.getByLabel('Title').fill('Surveyor');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.locator('.facts').getByText('Surveyor').waitFor();
});

test('a group is created and deleted; members are added and removed on its page', async (t) => {
  const page = await console.open(t, '/groups');
  await page.getByRole('button', { name: 'Create group' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Night watch');
  await dialog.getByRole('button', { name: 'Create group' }).click();
  await page.getByRole('heading', { level: 1, name: 'Night watch' }).waitFor();
  await page.getByRole('combobox', { name: 'Add member' }).fill('adaeze');
  await page.getByRole('option', { name: /Adaeze Eze/ }).click();
  await page.getByRole('heading', { name: '1 member' }).waitFor();
  await page.getByRole('button', { name: 'Remove Adaeze Eze' }).click();
  await page.getByText('No members yet').waitFor();
  await page.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.waitForURL(/\/groups$/);
});
