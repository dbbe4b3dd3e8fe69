import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { momentOf } from '../../src/core/clock.ts';
import { assertAccessible } from './axe.ts';
import { screenshot, startConsole, test, visit, waitUntilLoaded } from './console.ts';
import { hasFocus } from './focus.ts';
import { assertFits } from './page.ts';

let minutesLater = 0;
const console = startConsole({
  isEmpty: true,
  clock: () => momentOf(new Date(Date.now() + minutesLater * 60_000)),
});

const password = 'nine sparrows on a warm roof';

const addPerson = async (name: string, email: string): Promise<string> =>
  (await console.post('/v1/personnel', { name, email })).user_id;

/** A device that verifies its user and stores passkeys. */
async function addAuthenticator(page: Page): Promise<void> {
  const client = await page.context().newCDPSession(page);
  await client.send('WebAuthn.enable');
  await client.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

const accountMenu = (page: Page, name: string) => page.getByRole('button', { name: `${name}: account menu` });

test('a person accepts an invitation with a passkey, signs in with it, adds and removes one', async (t) => {
  const user_id = await addPerson('Pia Passkey', 'pia@example.com');
  await console.put(`/v1/personnel/${user_id}/access`, { scopes: ['projects.read'] });
  const { url } = await console.post(`/v1/personnel/${user_id}/invitation`);
  const page = await console.newPage(t, { signedIn: false });
  await addAuthenticator(page);
  await page.goto(new URL(url).pathname + new URL(url).hash);
  await page.getByRole('button', { name: 'Use a passkey instead' }).click();
  await accountMenu(page, 'Pia Passkey').click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await accountMenu(page, 'Pia Passkey').waitFor();

  await visit(page, '/account');
  const passkeys = page.getByRole('region', { name: 'Passkeys' });
  await passkeys.getByText(/last used/).waitFor();
  // The same device has one already.
  await passkeys.getByRole('button', { name: 'Add passkey' }).click();
  await page.getByText('You already have a passkey on this device.').waitFor();

  // A person who signed in with a passkey needs no password to choose one, and can remove it.
  await page.getByRole('button', { name: 'Choose password' }).click();
  const choice = page.getByRole('dialog', { name: 'Choose password' });
  await choice.getByLabel('New password', { exact: true }).fill(password);
  await choice.getByRole('button', { name: 'Choose password' }).click();
  await page.getByRole('button', { name: 'Remove password' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
  await page.getByText('Removed password').waitFor();
  await page.getByRole('button', { name: 'Remove password' }).waitFor({ state: 'detached' });
  assert.deepEqual((await console.get(`/v1/personnel/${user_id}/access`)).ways, ['passkey']);

  await passkeys.getByRole('button', { name: /^Remove passkey/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
  await passkeys.getByText('No passkeys yet').waitFor();

  minutesLater += 20;
  await page.getByRole('button', { name: 'Choose password' }).click();
  const dialog = page.getByRole('dialog', { name: 'Choose password' });
  await dialog.getByLabel('New password', { exact: true }).fill(password);
  await dialog.getByRole('button', { name: 'Choose password' }).click();
  const confirm = page.getByRole('dialog', { name: 'Sign in' });
  await confirm.getByRole('button', { name: 'Cancel' }).click();
  await confirm.waitFor({ state: 'detached' });
  await dialog.getByRole('alert').waitFor();
  assert.equal(await dialog.getByLabel('New password', { exact: true }).inputValue(), password);
});

test('a person changes the password, ends sessions and makes keys, after signing in again', async (t) => {
  const user_id = await addPerson('Ada Account', 'account@example.com');
  const other = await console.newPage(t, { user_id });
  const third = await console.newPage(t, { user_id });
  await visit(third, '/projects');
  const page = await console.newPage(t, { user_id });
  await visit(page, '/account');
  await assertAccessible(page, 'account');
  await screenshot(page, 'account', { isWhole: true });

  await page.getByRole('button', { name: 'Choose password' }).click();
  const dialog = page.getByRole('dialog', { name: 'Choose password' });
  const field = dialog.getByLabel('New password', { exact: true });
  await hasFocus(page, 'New password');
  await field.fill('short');
  await field.press('Enter');
  await dialog.getByText('Use at least 15').waitFor();
  await assertAccessible(page, 'account-password');
  await field.fill(password);
  await field.press('Enter');
  await page.getByText('Changed password').waitFor();
  const activity = page.getByRole('region', { name: 'Recent activity' });
  await activity.getByRole('listitem').filter({ hasText: 'New password' }).waitFor();
  await activity
    .getByText(/ · .+ · 127\.0\.0\.1$/)
    .first()
    .waitFor();
  // The other sessions have ended.
  const sessions = page.getByRole('region', { name: 'Sessions' });
  await sessions.getByRole('listitem').nth(1).waitFor({ state: 'detached' });

  await other.goto('/');
  await other.getByLabel('Email').fill('account@example.com');
  await other.getByLabel('Password', { exact: true }).fill(password);
  await other.getByRole('button', { name: 'Sign in', exact: true }).click();
  await accountMenu(other, 'Ada Account').waitFor();

  await visit(page, '/account');
  await sessions.getByText('This session').waitFor();
  await sessions.getByText(/^Password · /).waitFor();

  const changed = 'seven candles in the harbour';
  const current = dialog.getByLabel('Current password', { exact: true });
  await page.getByRole('button', { name: 'Choose password' }).click();
  await hasFocus(page, 'Current password');
  await field.fill(changed);
  await field.press('Enter');
  await dialog.getByText('Current password is required.').waitFor();
  await hasFocus(page, 'Current password');
  await current.fill('not the current password');
  await current.press('Enter');
  await dialog.getByText('This is not your current password.').waitFor();
  await assertAccessible(page, 'account-current-password');
  await current.fill(password);
  await current.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await other.goto('/');
  await other.getByLabel('Email').fill('account@example.com');
  await other.getByLabel('Password', { exact: true }).fill(changed);
  await other.getByRole('button', { name: 'Sign in', exact: true }).click();
  await accountMenu(other, 'Ada Account').waitFor();

  minutesLater += 20;
  await page.getByRole('button', { name: 'Create key' }).click();
  const form = page.getByRole('dialog', { name: 'Create personal key' });
  await form.getByLabel('Name').fill('my script');
  await form.getByRole('checkbox', { name: 'Read projects' }).check();
  await form.getByRole('button', { name: 'Create key' }).click();
  const confirm = page.getByRole('dialog', { name: 'Sign in' });
  await confirm.getByText('more than 15 minutes ago').waitFor();
  await assertAccessible(page, 'confirm-sign-in');
  await screenshot(page, 'confirm-sign-in');
  await confirm.getByLabel('Password', { exact: true }).fill('wrong wrong wrong wrong');
  await confirm.getByRole('button', { name: 'Sign in', exact: true }).click();
  await confirm.getByRole('alert').waitFor();
  await confirm.getByLabel('Password', { exact: true }).fill(changed);
  await confirm.getByRole('button', { name: 'Sign in', exact: true }).click();
  const secret = page.getByRole('dialog', { name: 'New key: my script' });
  await secret.locator('code').waitFor();
  assert.match((await secret.locator('code').textContent()) ?? '', /^mst_/);
  await secret.getByRole('button', { name: 'Done' }).click();
  const keys = page.getByRole('region', { name: 'Personal keys' });
  await keys.getByText('Read projects · never used').waitFor();
  await keys.getByRole('button', { name: 'Revoke my script' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
  await keys.getByText('No personal keys yet').waitFor();

  await page.getByRole('button', { name: 'Sign out all other sessions' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.getByText('Signed out 1 other session').waitFor();
  await other.reload();
  await other.getByRole('alert').getByText('You are signed out.').waitFor();

  await page.setViewportSize({ width: 360, height: 740 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await assertFits(page, 'the account page');
  await assertAccessible(page, 'account on a phone');
  await screenshot(page, 'account-phone', { isWhole: true });
  await page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
  await page.getByText('You are signed out.').waitFor();
  assert.deepEqual((await console.get(`/v1/sessions?user_id=${user_id}`)).data, []);
  assert.deepEqual(await page.context().cookies(), []);
});

test('a key has no account', async (t) => {
  const page = await console.open(t, '/account');
  await page.getByText('You are signed in with an API key').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
});

test('the sign-in page goes to the identity provider, except after a problem or sign-out', async (t) => {
  const page = await console.newPage(t, { signedIn: false });
  const starts: (string | null)[] = [];
  await page.route('**/v1/session/ways', (route) =>
    route.fulfill({
      json: { password: true, passkey: true, oidc: { label: 'Sign in with Okta', redirect: true } },
    }),
  );
  await page.route('**/v1/session/oidc/start*', (route) => {
    starts.push(new URL(route.request().url()).searchParams.get('return_to'));
    return route.fulfill({ contentType: 'text/html', body: '<h1>Provider</h1>' });
  });
  await page.goto('/risks?status=open');
  await page.getByRole('heading', { name: 'Provider' }).waitFor();
  assert.deepEqual(starts, ['/risks?status=open']);

  for (const [problem, text] of [
    ['unavailable', "can't be reached"],
    ['expired', 'took too long'],
    ['not_recent', 'did not ask you to sign in again'],
    ['refused', 'did not let you in'],
    ['failed', "didn't work"],
    ['not_verified', 'has not verified'],
    ['domain', 'domain that has no access'],
    ['unknown_person', 'Nobody on the roster'],
    ['no_access', 'have no access yet'],
    ['nonsense', "didn't work"],
  ]) {
    await page.goto(`/sign-in?problem=${problem}`);
    await page
      .getByRole('alert')
      .getByText(text ?? '')
      .waitFor();
  }
  // It still knows which page was asked for.
  await page.getByRole('link', { name: 'Sign in with Okta' }).click();
  await page.getByRole('heading', { name: 'Provider' }).waitFor();
  assert.deepEqual(starts.slice(1), ['/risks?status=open']);

  for (const evil of ['//evil.example', '/\\evil.example', 'https://evil.example', '/\t/evil.example']) {
    await page.goto(`/sign-in?stay&return_to=${encodeURIComponent(evil)}`);
    const link = page.getByRole('link', { name: 'Sign in with Okta' });
    assert.match((await link.getAttribute('href')) ?? '', /return_to=%2F$/, evil);
  }
  await page.goto('/sign-in?signed_out');
  await page.getByText('You are signed out.').waitFor();
  await assertAccessible(page, 'signed-out');
  assert.equal(await page.getByLabel('Email').count(), 0);
  await page.getByRole('link', { name: 'Sign in another way' }).click();
  await page.getByLabel('Email').waitFor();
  await page.getByRole('link', { name: 'Sign in with Okta' }).waitFor();
  await assertAccessible(page, 'all ways');
  await screenshot(page, 'sign-in-ways');
});

test('signing out continues at the identity provider, and a tab for signing in again says so', async (t) => {
  const page = await console.open(t, '/projects');
  await page.route('**/v1/session', (route) =>
    route.request().method() === 'DELETE'
      ? route.fulfill({ json: { redirect_to: `${console.app.baseUrl}/docs?post_logout` } })
      : route.continue(),
  );
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL(/docs\?post_logout/);
  await page.goto('/sign-in?done');
  await page.getByText('Close this tab').waitFor();
  await visit(page, '/projects');
  await waitUntilLoaded(page);
});
