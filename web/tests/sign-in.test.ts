import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { scopes } from '../../src/core/scopes.ts';
import { createLink } from '../../src/store/access/links.ts';
import { assertAccessible } from './axe.ts';
import { screenshot, startConsole, test, visit, waitUntilLoaded } from './console.ts';
import { assertFits, layoutShift, signIn } from './page.ts';

const console = startConsole({ isEmpty: true });

const password = 'nine sparrows on a warm roof';

/** The link that the first start prints. */
const createFirstLink = async () => {
  const { id } = await console.newKey();
  const link = { purpose: 'sign_in', user_id: null, key_id: id } as const;
  const now = new Date().toISOString();
  return (await console.app.database.write((db) => createLink(db, link, { now, hours: 1 }))).token;
};

/** A person with access and the path of the invitation. */
async function invite(name: string, email: string) {
  const { user_id } = await console.post('/v1/personnel', { name, email });
  await console.put(`/v1/personnel/${user_id}/access`, { scopes });
  const { url } = await console.post(`/v1/personnel/${user_id}/invitation`);
  return { user_id, path: new URL(url).pathname + new URL(url).hash };
}

const choosePassword = async (page: Page, text: string) => {
  await page.getByLabel('Password', { exact: true }).fill(text);
  await page.getByLabel('Password', { exact: true }).press('Enter');
};

const signInAs = async (page: Page, email: string, text = password) => {
  await page.getByLabel('Email').fill(email);
  await choosePassword(page, text);
};

const accountMenu = (page: Page, name: string) => page.getByRole('button', { name: `${name}: account menu` });

test('the link of the first start opens the console once, and the administrator sets up an account', async (t) => {
  const token = await createFirstLink();
  const page = await console.open(t, `/sign-in#${token}`, { signedIn: false });
  const open = page.getByRole('button', { name: 'Open Muster' });
  await open.waitFor();
  assert.equal(new URL(page.url()).hash, '');
  await open.click();
  await page.getByRole('heading', { name: 'Set up your account' }).waitFor();
  await assertAccessible(page, 'set-up');
  await screenshot(page, 'set-up');

  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByText('Name is required.').waitFor();
  await page.getByText('Enter an email address.').waitFor();
  await page.getByLabel('Name').fill('Ada Admin');
  await page.getByLabel('Email').fill('ada@example.com');
  await choosePassword(page, 'too short');
  await page.getByText('Use at least 15').waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('type')), 'password');
  // The person is on the roster by now, and is used again.
  await choosePassword(page, password);
  await accountMenu(page, 'Ada Admin').waitFor();
  const people = (await console.get('/v1/personnel')).data;
  assert.deepEqual(
    people.map(({ name, email }: Record<string, string>) => [name, email]),
    [['Ada Admin', 'ada@example.com']],
  );
  const access = (await console.get('/v1/access')).data;
  assert.deepEqual([access.length, access[0].scopes, access[0].ways], [1, [...scopes], ['password']]);
  const me = await page.evaluate(async () => (await fetch('/v1/me')).json());
  assert.deepEqual([me.type, me.user_id], ['person', people[0].user_id]);

  // The first page says what to do first.
  const guide = page.getByRole('region', { name: 'Get started' });
  await guide.getByRole('link').first().waitFor();
  assert.deepEqual(await guide.getByRole('link').allTextContents(), [
    'Drop your spreadsheet',
    'Add a project',
    'Invite a colleague',
  ]);
  await guide.getByText('npm run demo').waitFor();
  await assertAccessible(page, 'guide');
  await screenshot(page, 'guide');
  assert.ok((await layoutShift(page)) <= 0.01);

  const again = await console.open(t, `/sign-in#${token}`, { signedIn: false });
  await again.getByRole('button', { name: 'Open Muster' }).click();
  await again.getByText('That link has been used or has expired.').waitFor();
  await again.getByRole('button', { name: 'Sign in another way' }).click();
  // Nothing is left to set up, so the key opens the console.
  await signIn(again, (await console.newKey()).secret);
  await again.getByRole('heading', { level: 1 }).waitFor();
  assert.equal(await again.getByRole('heading', { name: 'Set up your account' }).count(), 0);
});

test('an invited person chooses a password, signs out and signs in again, also on a phone', async (t) => {
  const { path } = await invite('Grace Guest', 'grace@example.com');
  const page = await console.open(t, path, {
    signedIn: false,
    viewport: { width: 360, height: 740 },
    hasTouch: true,
  });
  await page.getByRole('heading', { name: 'Welcome, Grace Guest' }).waitFor();
  assert.equal(new URL(page.url()).hash, '');
  await assertFits(page, 'the invitation');
  await assertAccessible(page, 'invitation');
  await choosePassword(page, 'grace grace grace');
  await page.getByText('This password is easy to guess').waitFor();
  await page.getByRole('button', { name: 'Show password' }).click();
  assert.equal(await page.getByLabel('Password', { exact: true }).getAttribute('type'), 'text');
  await choosePassword(page, password);
  await page.getByRole('button', { name: 'Menu', exact: true }).click();
  await accountMenu(page, 'Grace Guest').click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByText('You are signed out.').waitFor();
  assert.equal(new URL(page.url()).pathname, '/sign-in');
  await assertFits(page, 'the sign-in page');
  await assertAccessible(page, 'sign-in');

  await page.goto('/risks?status=open');
  await signInAs(page, 'grace@example.com', 'not the right password');
  await page.getByRole('alert').waitFor();
  const refused = await page.getByRole('alert').textContent();
  await signInAs(page, 'nobody@example.com');
  await page.waitForFunction(() => !document.querySelector('button[data-pending]'));
  assert.equal(await page.getByRole('alert').textContent(), refused);
  await signInAs(page, 'Grace@Example.com');
  await page.getByRole('heading', { level: 1, name: 'Risks' }).waitFor();
  assert.equal(new URL(page.url()).search, '?status=open');

  const used = await console.open(t, path, { signedIn: false });
  await used.getByRole('alert').getByText('Ask your administrator for a new link').waitFor();
  await used.getByRole('link', { name: 'Sign in' }).click();
  await used.getByLabel('Email').waitFor();
});

test('a new way in offers to revoke the personal keys', async (t) => {
  const { user_id } = await invite('Kim Keys', 'kim@example.com');
  const guest = await console.newPage(t, { user_id });
  await visit(guest, '/account');
  await guest.getByRole('button', { name: 'Create key' }).click();
  await guest.getByLabel('Name').fill('my script');
  await guest.getByRole('checkbox', { name: 'Read projects' }).check();
  await guest.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
  await guest.getByRole('button', { name: 'Done' }).click();
  // Signing in with a link has ended the invitation.
  const { url } = await console.post(`/v1/personnel/${user_id}/invitation`);
  const page = await console.open(t, new URL(url).pathname + new URL(url).hash, { signedIn: false });
  await page.getByRole('checkbox', { name: 'Revoke my 1 personal key too' }).check();
  await assertAccessible(page, 'invitation-with-keys');
  await choosePassword(page, password);
  await accountMenu(page, 'Kim Keys').waitFor();
  const { data } = await console.get('/v1/keys?status=revoked');
  assert.ok(data.some((key: { name: string }) => key.name === 'my script'));
});

test('what was typed survives the end of a session; another person starts with nothing of it', async (t) => {
  const ada = await invite('Ida Typist', 'ida@example.com');
  const eve = await invite('Eve Other', 'eve@example.com');
  for (const [index, { path }] of [ada, eve].entries()) {
    const guest = await console.open(t, path, { signedIn: false });
    await choosePassword(guest, password);
    await accountMenu(guest, ['Ida Typist', 'Eve Other'][index] ?? '').waitFor();
  }
  const page = await console.newPage(t, { user_id: ada.user_id });
  await visit(page, '/projects');
  await page.getByRole('button', { name: 'Create project' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Create project' });
  await dialog.getByLabel('Name').fill('Kept');
  const endSession = async () => {
    const { data } = await console.get(`/v1/sessions?user_id=${ada.user_id}`);
    for (const { id } of data) await console.delete(`/v1/sessions/${id}`);
  };
  await endSession();
  const again = page.getByRole('dialog', { name: 'Sign in' });
  await again.getByText('What you entered is still here.').waitFor();
  assert.equal(await again.getByLabel('Email').inputValue(), 'ida@example.com');
  await choosePassword(page, password);
  await again.waitFor({ state: 'detached' });
  assert.equal(await dialog.getByLabel('Name').inputValue(), 'Kept');
  await dialog.getByRole('button', { name: 'Create project' }).click();
  await page.getByRole('heading', { level: 1, name: 'Kept' }).waitFor();

  await waitUntilLoaded(page);
  await endSession();
  await again.waitFor();
  const reloaded = page.waitForEvent('load');
  await signInAs(page, 'eve@example.com');
  await reloaded;
  await accountMenu(page, 'Eve Other').waitFor();
});
