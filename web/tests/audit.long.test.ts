import assert from 'node:assert/strict';
import { assertAccessible } from './axe.ts';
import { screenshot, startConsole, test, visit } from './console.ts';
import { assertFits, fact, inDays } from './page.ts';

/** People who sign in, and a project with a risk above its appetite. */
let ada: { user_id: string };
let bo: { user_id: string };

const console = startConsole({
  isEmpty: true,
  async fill() {
    ada = await console.post('/v1/personnel', { name: 'Ada Okafor', email: 'ada@example.com' });
    bo = await console.post('/v1/personnel', { name: 'Bo Lind', email: 'bo@example.com' });
    await console.post('/v1/personnel', { name: 'Robot', kind: 'agent', accountable_user_id: ada.user_id });
    await console.post('/v1/personnel', { name: 'Open seat', kind: 'placeholder' });
    await console.post('/v1/projects', { name: 'Apollo', key: 'APOLLO', appetite: 4 });
    for (const title of ['Supplier fails', 'Budget cut'])
      await console.post('/v1/projects/APOLLO/risks', {
        title,
        probability: 5,
        impact: 4,
        owner_user_id: ada.user_id,
      });
  },
});

test('the audit log says who signed in, failed and changed access, by kind and person', async (t) => {
  const page = await console.open(t, '/access', { user_id: ada.user_id });
  await console.createSignInLink(bo.user_id, ['projects.read', 'personnel.read']);
  const { url } = await console.post(`/v1/personnel/${bo.user_id}/invitation`);
  const headers = { origin: console.app.baseUrl, 'content-type': 'application/json' };
  const accepted = await fetch(`${console.app.baseUrl}/v1/invitations/accept`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ token: url.split('#')[1], password: 'nine sparrows on a warm roof' }),
  });
  assert.ok(accepted.ok, await accepted.text());
  const failed = await page.request.post('/v1/session', {
    data: { email: 'bo@example.com', password: 'not the right one at all' },
    headers: { origin: console.app.baseUrl },
  });
  assert.equal(failed.status(), 401);
  await page.getByRole('link', { name: 'Audit log' }).click();
  const log = page.getByRole('list', { name: 'Audit log' });
  await log.getByText('You signed in with a sign-in link').waitFor();
  const texts = async () => (await log.getByRole('listitem').allInnerTexts()).join('\n');
  const all = await texts();
  assert.match(all, /Someone failed to sign in as Bo Lind with a password Failed\n+.*127\.0\.0\.1/);
  assert.match(all, /created an invitation link for Bo Lind/);
  assert.match(all, /Bo Lind chose a password/);
  assert.match(all, /Muster gave Bo Lind access: Custom/);
  assert.match(all, /Muster gave you access: Administrator/);
  assert.match(all, /added key test/);

  await page.getByRole('button', { name: 'Kind' }).click();
  await page.getByText('Failed sign-ins').click();
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => document.querySelectorAll('.audit > li').length === 1);
  await visit(page, `/audit?person=${bo.user_id}`);
  const ofBo = await texts();
  assert.match(ofBo, /failed to sign in as Bo Lind/);
  assert.doesNotMatch(ofBo, /you|key test/);

  await visit(page, '/overview');
  assert.doesNotMatch(await page.locator('.activity').innerText(), /signed in|access/);
});

test('history, comments and activity tell people, own changes and keys apart', async (t) => {
  await console.post('/v1/projects/APOLLO/risks/APOLLO-R1/comments', { body: 'From a program' });
  const page = await console.open(t, '/risks/APOLLO-R1', { user_id: ada.user_id });
  const timeline = page.getByRole('region', { name: 'Activity' });
  await timeline.getByText('via test (API key)').first().waitFor();
  const byKey = timeline.getByRole('article', { name: 'Comment by test' });
  assert.match(await byKey.innerText(), /test\s+\(API key\)/);
  await page.getByRole('textbox', { name: 'Write a comment' }).fill('From a person');
  await page.getByRole('button', { name: 'Comment', exact: true }).click();
  const own = timeline.getByRole('article', { name: 'Comment by Ada Okafor' });
  assert.match(await own.innerText(), /Ada Okafor\s+\(you\)/);
  await visit(page, '/overview');
  await page.locator('.activity').getByText('You commented on risk').waitFor();

  const other = await console.open(t, '/risks/APOLLO-R1', {
    user_id: bo.user_id,
    scopes: ['projects.read', 'personnel.read'],
  });
  await other.getByRole('article', { name: 'Comment by Ada Okafor' }).getByRole('link').click();
  await other.getByRole('heading', { level: 1, name: 'Ada Okafor' }).waitFor();
  assert.equal(await other.getByRole('region', { name: 'Access', exact: true }).count(), 0);
});

test('a person accepts a risk in their own name, and not as its owner if the project says so', async (t) => {
  const page = await console.open(t, '/projects/APOLLO', { user_id: ada.user_id });
  const label = 'Who may accept a risk above the appetite';
  assert.equal(await fact(page, label).innerText(), 'Anybody who can change it');
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await page.getByRole('dialog').getByLabel(label).selectOption('Anybody but its owner');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await fact(page, label).getByText('Anybody but its owner').waitFor();

  await visit(page, '/risks/APOLLO-R1');
  await page.getByRole('button', { name: 'Accept…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Accepted by you, Ada Okafor.').waitFor();
  assert.equal(await dialog.getByText('Accepted by', { exact: true }).count(), 0);
  await dialog.getByLabel('Reason').fill('We can live with it');
  await dialog.getByLabel('Until').fill(inDays(30));
  await dialog.getByRole('button', { name: 'Accept risk' }).click();
  await dialog.getByText('Ask somebody else to accept it').waitFor();
  await console.patch('/v1/projects/APOLLO', { acceptance: 'any' });
  await dialog.getByRole('button', { name: 'Accept risk' }).click();
  await page.getByText('Moved APOLLO-R1 to Accepted').waitFor();
  await fact(page, 'Accepted by').getByRole('link', { name: 'Ada Okafor' }).waitFor();

  const program = await console.open(t, '/risks/APOLLO-R2');
  await program.getByRole('button', { name: 'Accept…' }).click();
  await program.getByRole('dialog').getByText('Accepted by', { exact: true }).waitFor();
});

test('nobody gives more access than they have, and only people can have any', async (t) => {
  const scopes = ['keys.manage', 'personnel.read', 'projects.read'] as const;
  const page = await console.open(t, `/personnel/${bo.user_id}`, { scopes });
  await page.getByRole('button', { name: 'Change access' }).click();
  const dialog = page.getByRole('dialog');
  assert.ok(await dialog.getByRole('radio', { name: 'Administrator' }).isDisabled());
  await dialog.getByText(/You can't give this, because you don't have: .*Manage people/).waitFor();
  await dialog.getByText('You can give only what you have yourself').waitFor();
  await page.keyboard.press('Escape');
  await visit(page, `/personnel/${ada.user_id}`);
  await page.getByText('Ada Okafor can do more than your key').waitFor();
  assert.equal(await page.getByRole('button', { name: 'End access' }).count(), 0);

  const people: { user_id: string; name: string }[] = (await console.get('/v1/personnel')).data;
  for (const [name, reason] of [
    ['Robot', 'Agents don’t sign in'.replace('’', "'")],
    ['Open seat', 'Only people can sign in'],
  ]) {
    await visit(page, `/personnel/${people.find((one) => one.name === name)?.user_id}`);
    await page.getByText(reason ?? '').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Give access' }).count(), 0);
  }
  const limited = await console.open(t, '/access', { scopes: ['keys.read'] });
  await limited.getByRole('heading', { level: 1, name: 'Access' }).waitFor();
  assert.equal(await limited.getByRole('button', { name: 'Give access' }).count(), 0);
  await visit(limited, '/audit');
  await limited.getByText("Page not found, or you don't have access").waitFor();
});

test('an administrator signs a person out of a browser; keys show whose they are', async (t) => {
  const theirs = await console.open(t, '/', { user_id: bo.user_id });
  const created = await theirs.request.post('/v1/me/keys', {
    data: { name: 'scripts of Bo' },
    headers: { origin: console.app.baseUrl },
  });
  assert.equal(created.status(), 201);
  const page = await console.open(t, '/keys', { user_id: ada.user_id });
  assert.match(await page.getByRole('row', { name: /scripts of Bo/ }).innerText(), /Bo Lind/);
  await visit(page, `/personnel/${bo.user_id}`);
  const sessions = page.getByRole('region', { name: 'Sessions' });
  const count = await sessions.getByRole('button').count();
  assert.ok(count > 0);
  await sessions.getByRole('button').first().click();
  await page.getByText('Signed out').waitFor();
  await page.waitForFunction(
    (before) => document.querySelectorAll('.sessions button').length < before,
    count,
  );
});

test('the pages of access meet WCAG 2.2 AA in both themes and on a phone', async (t) => {
  const page = await console.open(t, '/access', { user_id: ada.user_id });
  for (const path of ['/access', '/audit', `/personnel/${bo.user_id}`, `/personnel/${ada.user_id}`]) {
    await visit(page, path);
    for (const [width, colorScheme] of [
      [1440, 'light'],
      [1440, 'dark'],
      [390, 'light'],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      const name = `access${path.slice(0, 10).replaceAll('/', '-')}-${width}-${colorScheme}`;
      await screenshot(page, name, { isWhole: true });
      await assertAccessible(page, name);
      await assertFits(page, name);
    }
  }
  await visit(page, `/personnel/${bo.user_id}`);
  for (const name of ['Change access', 'Copy invitation link', 'End access']) {
    await page.getByRole('button', { name }).click();
    await page.getByRole('dialog').waitFor();
    await screenshot(page, `access-${name.replaceAll(' ', '-').toLowerCase()}`);
    await assertAccessible(page, name);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
});
