import assert from 'node:assert/strict';
import { screenshot, startConsole, test } from './console.ts';
import { inDays, pick } from './page.ts';

const console = startConsole();

test('the secret of a new key is shown until Done and copied; a revoked key is rejected', async (t) => {
  const page = await console.open(t, '/keys', { permissions: ['clipboard-read', 'clipboard-write'] });
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('nightly export');
  await dialog.getByLabel('Read people').check();
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await dialog.getByRole('button', { name: 'Copy' }).click();
  await dialog.getByText('Copied').waitFor();
  const secret = await page.evaluate(() => navigator.clipboard.readText());
  const status = async () =>
    (
      await fetch(`${console.app.baseUrl}/v1/personnel?limit=1`, {
        headers: { authorization: `Bearer ${secret}` },
      })
    ).status;
  assert.equal(await status(), 200);
  await page.keyboard.press('Escape');
  await page.mouse.click(5, 300);
  assert.equal(await dialog.getByText(secret).isVisible(), true);
  await dialog.getByRole('button', { name: 'Done' }).click();
  assert.ok(!(await page.content()).includes(secret));
  await page.getByRole('button', { name: 'Revoke nightly export' }).click();
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('row', { name: /nightly export.*Revoked/ }).waitFor();
  assert.equal(await status(), 401);
});

test('a key is limited to projects and a rate, which the list shows', async (t) => {
  const page = await console.open(t, '/keys');
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('two projects');
  await dialog.getByLabel('Read projects').check();
  await pick(page, 'Limited to projects', 'apollo');
  await pick(page, 'Limited to projects', 'saltmarsh');
  await pick(page, 'Limited to projects', 'kestrel');
  // The list of projects stays open after a selection.
  await page.keyboard.press('Tab');
  await dialog.getByRole('button', { name: 'Remove KESTREL' }).click();
  await dialog.getByLabel('Rate limit per minute').fill('120');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await dialog.getByText("you won't see it again").waitFor();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('row', { name: /two projects.*APOLLO, SALTMARSH · 120 per minute/ }).waitFor();
  const created = (await console.get('/v1/keys')).data.find(
    ({ name }: { name: string }) => name === 'two projects',
  );
  assert.deepEqual([created.project_ids.length, created.rate_limit], [2, 120]);
});

test('editing a key changes only the edited fields and does not overwrite a change made meanwhile', async (t) => {
  const { id } = await console.post('/v1/keys', {
    name: 'weekly export',
    scopes: ['personnel.read'],
    project_ids: ['APOLLO', 'SALTMARSH'],
    expires_at: '2031-02-03T04:05:06Z',
    rate_limit: 60,
  });
  const apollo = await console.get('/v1/projects/APOLLO');
  const page = await console.open(t, '/keys');
  const dialog = page.getByRole('dialog');
  const edit = (name: string) => page.getByRole('button', { name: `Edit ${name}`, exact: true }).click();
  const save = () => dialog.getByRole('button', { name: 'Save' }).click();
  await edit('weekly export');
  await dialog.getByLabel('Name').fill('monthly export');
  await dialog.getByLabel('Read projects').check();
  await dialog.getByRole('button', { name: 'Remove SALTMARSH' }).click();
  await dialog.getByLabel('Rate limit per minute').fill('');
  await save();
  await page.getByRole('row', { name: /monthly export.*Until 3 Feb 2031 · APOLLO Rotate/ }).waitFor();
  const changed = await console.get(`/v1/keys/${id}`);
  assert.deepEqual(
    [changed.scopes, changed.project_ids, changed.expires_at, changed.rate_limit],
    [['personnel.read', 'projects.read'], [apollo.id], '2031-02-03T04:05:06.000Z', null],
  );

  await edit('monthly export');
  await dialog.getByLabel('Expires').fill(inDays(30));
  await dialog.getByRole('button', { name: 'Remove APOLLO' }).click();
  await save();
  await dialog.waitFor({ state: 'detached' });
  const { expires_at, project_ids } = await console.get(`/v1/keys/${id}`);
  assert.deepEqual([expires_at, project_ids], [`${inDays(30)}T23:59:59.000Z`, null]);

  await edit('monthly export');
  await dialog.getByLabel('Expires').fill('');
  await console.patch(`/v1/keys/${id}`, { name: 'theirs' });
  await save();
  await dialog.getByRole('alert').getByText('Someone else changed this').waitFor();
  assert.notEqual((await console.get(`/v1/keys/${id}`)).expires_at, null);
});

test('an expired key can be renamed and stays expired', async (t) => {
  const { id } = await console.newKey(['personnel.read'], '2020-01-01T00:00:00.000Z');
  const page = await console.open(t, '/keys?status=expired');
  const row = page.getByRole('row', { name: /Read people/ });
  await row.getByRole('button', { name: 'Edit test' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('long gone');
  await dialog.getByLabel('Expires').fill('2021-01-01');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.locator('.field-error').getByText('must be in the future').waitFor();
  await dialog.getByLabel('Expires').fill('2020-01-01');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('row', { name: /long gone.*Expired/ }).waitFor();
  assert.equal((await console.get(`/v1/keys/${id}`)).expires_at, '2020-01-01T00:00:00.000Z');
});

test('a key shows the browsers that signed in with it, and signs them out', async (t) => {
  const { id, secret } = await console.post('/v1/keys', { name: 'kiosk', scopes: ['projects.read'] });
  const signedIn = await fetch(`${console.app.baseUrl}/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify({ key: secret }),
  });
  assert.equal(signedIn.status, 204);
  const page = await console.open(t, '/keys');
  await page.getByRole('button', { name: 'Edit kiosk' }).click();
  await page.getByRole('button', { name: 'Sessions' }).click();
  const dialog = page.getByRole('dialog', { name: 'Sessions of kiosk' });
  await dialog.getByRole('button', { name: /^Sign out/ }).waitFor();
  await screenshot(page, 'key-sessions');
  await dialog.getByRole('button', { name: /^Sign out/ }).click();
  await dialog.getByText('Not signed in anywhere').waitFor();
  assert.deepEqual((await console.get(`/v1/sessions?key_id=${id}`)).data, []);
});

test('removing scopes from the key in use hides their pages', async (t) => {
  const page = await console.open(t, '/keys');
  const { key_id } = await page.evaluate(async () => (await fetch('/v1/me')).json());
  const mine = await console.get(`/v1/keys/${key_id}`);
  const row = page.getByRole('row').filter({ hasText: mine.last_four });
  await row.getByRole('button', { name: 'Edit test' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('You are signed in with this key').waitFor();
  await dialog.getByLabel('Read people').uncheck();
  await dialog.getByLabel('Manage people').uncheck();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'People' }).waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Projects' }).waitFor();
});

test('a key grants only scopes that it has, and edits no key with more scopes and no revoked one', async (t) => {
  await console.post('/v1/keys', { name: 'holds more', scopes: ['projects.read'] });
  await console.post('/v1/keys', { name: 'holds less', scopes: ['personnel.read'] });
  const revoked = await console.post('/v1/keys', { name: 'holds nothing', scopes: ['personnel.read'] });
  await console.revoke(revoked.id);
  const page = await console.open(t, '/keys?q=holds', { scopes: ['keys.manage', 'personnel.read'] });
  await page.getByRole('row', { name: /holds more/ }).waitFor();
  assert.deepEqual(await page.getByRole('button', { name: /^Edit/ }).allTextContents(), ['holds less']);
  await page.getByRole('button', { name: 'Create key' }).click();
  const boxes = await page.getByRole('dialog').getByRole('checkbox').all();
  assert.deepEqual(await Promise.all(boxes.map((box) => box.getAttribute('aria-label'))), [
    'Read people',
    'Read keys',
    'Manage keys',
  ]);
});
