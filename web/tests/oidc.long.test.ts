import assert from 'node:assert/strict';
import { after } from 'node:test';
import { settingsFor, startIssuer } from '../../test/issuer.ts';
import { startConsole, test, waitUntilLoaded } from './console.ts';

const issuer = await startIssuer({ after });
const provider = issuer.url;

const console = startConsole({
  isEmpty: true,
  environment: settingsFor(issuer, {
    MUSTER_OIDC_LABEL: 'Sign in with Example',
    MUSTER_OIDC_ACCESS: 'risk-office=editor',
    MUSTER_OIDC_ADD_PEOPLE: 'on',
  }),
  fill: () => issuer.register(console.app.baseUrl),
});

const ada = {
  sub: 'acc-1',
  email: 'ada@example.com',
  email_verified: true,
  name: 'Ada Lovelace',
  groups: ['risk-office'],
};

test('a person signs in at the identity provider, returns to the page, and signs out there too', async (t) => {
  issuer.use(ada);
  const page = await console.open(t, '/tasks', { signedIn: false, provider });
  await page.getByRole('link', { name: 'Sign in with Example' }).click();
  await page.waitForURL(/\/tasks$/);
  await waitUntilLoaded(page);
  await page.getByRole('button', { name: 'Ada Lovelace: account menu' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  // The provider asks before it ends its own session.
  await page.waitForURL(({ origin }) => origin === provider);
  await page.evaluate(() => {
    const form = document.querySelector('form');
    const answer = document.createElement('input');
    answer.name = 'logout';
    answer.value = 'yes';
    form?.append(answer);
    form?.submit();
  });
  await page.waitForURL(/\/sign-in\?signed_out/);
  await page.getByRole('link', { name: 'Sign in with Example' }).waitFor();
  const { data } = await console.get('/v1/access');
  assert.deepEqual([data[0].source, data[0].ways, data[0].last_seen_at], ['oidc', ['oidc'], null]);
});

test('who has to confirm that it is them signs in at the provider again', async (t) => {
  issuer.use(ada);
  const page = await console.open(t, '/account', { signedIn: false, provider });
  await page.getByRole('link', { name: 'Sign in with Example' }).click();
  await page.waitForURL(/\/account$/);
  const signIns = issuer.signIns();
  // As if the session were older than 15 minutes.
  await page.route('**/v1/me/keys', (route) =>
    route.request().method() === 'POST' && issuer.signIns() === signIns
      ? route.fulfill({
          status: 403,
          contentType: 'application/problem+json',
          json: { title: 'Sign in again', status: 403, code: 'sign_in_again', detail: 'Sign in again.' },
        })
      : route.continue(),
  );
  await page.getByRole('button', { name: 'Create key' }).click();
  const form = page.getByRole('dialog', { name: 'Create personal key' });
  await form.getByLabel('Name').fill('my script');
  await form.getByRole('checkbox', { name: 'Read projects' }).check();
  await form.getByRole('button', { name: 'Create key' }).click();
  const confirm = page.getByRole('dialog', { name: 'Sign in' });
  const opened = page.waitForEvent('popup');
  await confirm.getByRole('link', { name: 'Sign in with Example' }).click();
  const tab = await opened;
  await tab.getByText('Close this tab').waitFor();
  assert.equal(issuer.signIns(), signIns + 1, 'the session of the provider is not enough');
  await tab.close();
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await page.getByRole('dialog', { name: 'New key: my script' }).locator('code').waitFor();
});

test('who is refused learns why, on a phone too', async (t) => {
  issuer.use({ sub: 'acc-2', email: 'eve@example.com', email_verified: false });
  const viewport = { width: 360, height: 740 };
  const page = await console.open(t, '/risks', { signedIn: false, provider, viewport });
  await page.getByRole('link', { name: 'Sign in with Example' }).click();
  await page.waitForURL(/problem=not_verified/);
  await page.getByRole('alert').waitFor();
  issuer.use({ sub: 'acc-3', email: 'bob@example.com', email_verified: true, groups: [] });
  await page.context().clearCookies();
  await page.getByRole('link', { name: 'Sign in with Example' }).click();
  await page.waitForURL(/problem=no_access/);
  await page.getByRole('alert').waitFor();
});
