import assert from 'node:assert/strict';
import { assertAccessible } from './axe.ts';
import { screenshot, startConsole, test, visit } from './console.ts';
import { fact, pick } from './page.ts';

const console = startConsole({ isEmpty: true });

test('an administrator gives a person access, copies the invitation link and ends the access', async (t) => {
  const ada = await console.post('/v1/personnel', { name: 'Ada Okafor', email: 'ada@example.com' });
  await console.post('/v1/personnel', { name: 'Bo Lind', email: 'bo@example.com' });
  const page = await console.open(t, '/access', { permissions: ['clipboard-read', 'clipboard-write'] });
  await page.getByRole('heading', { name: 'Nobody has access yet' }).waitFor();

  await page.getByRole('button', { name: 'Give access' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Give access' }).click();
  await dialog.getByText('Choose a person.').waitFor();
  await pick(page, 'Person', 'ada', 'Ada Okafor');
  await dialog.getByText('Manage projects · Read people, events').waitFor();
  await dialog.getByRole('radio', { name: 'Editor' }).check();
  await assertAccessible(page, 'give access');
  await dialog.getByRole('button', { name: 'Give access' }).click();
  await page.getByRole('heading', { name: 'Invite Ada Okafor' }).waitFor();
  assert.deepEqual((await console.get(`/v1/personnel/${ada.user_id}/access`)).scopes.toSorted(), [
    'events.read',
    'personnel.read',
    'projects.manage',
    'projects.read',
  ]);

  await dialog.getByRole('button', { name: 'Create invitation link' }).click();
  await dialog.getByText(/It works once, until/).waitFor();
  await dialog.getByRole('button', { name: 'Copy' }).click();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(link, new RegExp(`^${console.app.baseUrl}/invitation#msl_`));
  await dialog.getByRole('button', { name: 'Done' }).click();

  const row = page.getByRole('row', { name: /Ada Okafor/ });
  assert.match(await row.innerText(), /ada@example\.com.*Editor.*All.*Nothing yet.*Not signed in/s);
  await page.getByRole('searchbox', { name: 'Search by name or email' }).fill('bo');
  await page.getByText('Nobody with access matches').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await screenshot(page, 'access-one');

  await row.getByRole('link', { name: 'Ada Okafor' }).click();
  await fact(page, 'Invited until').waitFor();
  assert.equal(await fact(page, 'Access').innerText(), 'Editor');
  await page.getByRole('button', { name: 'Change access' }).click();
  await dialog.getByRole('radio', { name: 'Custom' }).check();
  await dialog.getByLabel('Manage projects').uncheck();
  await dialog.getByRole('button', { name: 'Change access' }).click();
  await page.getByText('Changed access of Ada Okafor').waitFor();
  assert.equal(await fact(page, 'Access').innerText(), 'Viewer');
  await page
    .getByRole('region', { name: 'Access history' })
    .getByText('Read people, projects, events')
    .waitFor();

  await page.getByRole('button', { name: 'Change access' }).click();
  await dialog.getByRole('radio', { name: 'Administrator' }).check();
  await dialog.getByRole('button', { name: 'Change access' }).click();
  await page.getByText('The invitation link ended with this change').waitFor();

  await page.getByRole('button', { name: 'End access' }).click();
  await dialog.getByText(/password and passkeys are deleted/).waitFor();
  await dialog.getByRole('button', { name: 'End access' }).click();
  await page.getByRole('region', { name: 'Access', exact: true }).getByText('No access').waitFor();
  await visit(page, '/access');
  await page.getByRole('heading', { name: 'Nobody has access yet' }).waitFor();
});

test('the page says so if the only keys that can manage access end within 30 days', async (t) => {
  const page = await console.open(t, '/access');
  const notice = page.getByText('Soon nobody can manage access here');
  await page.getByRole('heading', { name: 'Nobody has access yet' }).waitFor();
  const isLoaded = page.waitForResponse((response) => response.url().includes('/v1/keys'));
  await page.reload();
  await isLoaded;
  assert.equal(await notice.count(), 0);
  const expires_at = new Date(Date.now() + 29 * 86_400_000).toISOString();
  await console.app.database.write((db) => db.updateTable('keys').set({ expires_at }).execute());
  await page.reload();
  await notice.waitFor();
  await assertAccessible(page, 'ending administrators');
});
