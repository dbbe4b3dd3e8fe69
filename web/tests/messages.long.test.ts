import assert from 'node:assert/strict';
import { startConsole, test, waitUntilLoaded } from './console.ts';
import { inDays } from './page.ts';

const console = startConsole();

test('the errors of a form name its fields by their labels', async (t) => {
  const page = await console.open(t, '/projects/APOLLO');
  await page.goto('/projects/APOLLO?tab=risks');
  await page.getByRole('button', { name: 'Create risk' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Create risk' });
  await dialog.getByLabel('Title').fill('   ');
  await dialog.getByRole('button', { name: 'Create risk' }).click();
  await dialog.getByText('Title is required.').waitFor();
  await dialog.getByLabel('Title').fill('Labelled');
  await dialog.getByLabel('Due').fill('2020-01-31');
  await dialog.getByRole('combobox', { name: 'Owner', exact: true }).fill('adaeze');
  await page.getByRole('option', { name: /Adaeze Eze/ }).click();
  await dialog.getByText('More', { exact: true }).click();
  const group = dialog.getByRole('combobox', { name: 'Owning group' });
  // Scrolling to it would close its list.
  await group.click();
  await group.fill('a');
  await page.getByRole('listbox').getByRole('option').first().click();
  await dialog.getByRole('button', { name: 'Create risk' }).click();
  await dialog.getByText('Due is before today, which is the default of Raised.').waitFor();
  await dialog.getByText('Set Owner or Owning group, not both.').waitFor();
});

test('the errors of a field on the page and of a filter name it by its label', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Renamed' });
  const page = await console.open(t, `/risks/${key}`);
  await page.getByRole('button', { name: 'Edit Title' }).click();
  await page.getByRole('textbox', { name: 'Title' }).fill(' ');
  await page.keyboard.press('Enter');
  await page.locator('.inline-editor').getByText('Title is required.').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Edit Due', exact: true }).click();
  await page.getByLabel('Due').fill('2020-01-31');
  await page.keyboard.press('Enter');
  await page.locator('.inline-editor').getByText('Due is before Raised').waitFor();
  await page.keyboard.press('Escape');

  await page.goto('/risks?level=huge&owner_user_id=myself');
  const notice = page.getByRole('alert').first();
  await notice.getByText("Level: This filter isn't valid.").waitFor();
  await notice.getByText("Owner: This filter isn't valid.").waitFor();
  await page.getByText('Heat map').waitFor();
  assert.equal(await page.getByRole('alert').count(), 1);
  assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0);
  await notice.getByRole('button', { name: 'Clear filters' }).click();
  await page.waitForURL(/\/risks$/);
  await page.locator('tbody tr').first().waitFor();
});

test('the days in the reasons of project health are in the format of the reader', async (t) => {
  await console.post('/v1/projects', { name: 'Late', key: 'LATE', status: 'active', due_on: '2026-02-28' });
  const page = await console.open(t, '/projects/LATE', { viewport: { width: 1600, height: 900 } });
  await page.getByRole('listitem').filter({ hasText: 'Was due on 28 Feb 2026' }).waitFor();
  for (const path of ['/projects?q=late', '/report?project=LATE']) {
    await page.goto(console.app.baseUrl + path);
    await page.getByText('Was due on 28 Feb 2026').locator('visible=true').first().waitFor();
    await waitUntilLoaded(page);
    assert.doesNotMatch((await page.locator('main').textContent()) ?? '', /2026-02-28/);
  }
});

test('the review date of a closed risk is not overdue, and who accepted a risk is shown', async (t) => {
  const closed = await console.post('/v1/projects/APOLLO/risks', {
    title: 'Review 4417',
    review_on: '2020-01-31',
  });
  await console.patch(`/v1/projects/APOLLO/risks/${closed.key}`, {
    status: 'closed',
    closure_reason: 'Over.',
  });
  const page = await console.open(t, '/risks?q=4417&status=closed', {
    viewport: { width: 1900, height: 900 },
    timezoneId: 'Pacific/Kiritimati',
  });
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Review', exact: true }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Updated', exact: true }).click();
  await page.keyboard.press('Escape');
  await page.getByRole('cell', { name: '31 Jan 2020' }).waitFor();
  assert.equal(await page.locator('td .overdue').count(), 0);
  const { updated_at } = await console.get(`/v1/projects/APOLLO/risks/${closed.key}`);
  // A time is shown in the zone of the organization, not of the browser.
  const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
  await page
    .getByRole('cell', { name: format.format(new Date(updated_at)), exact: true })
    .last()
    .waitFor();

  const person = await console.post('/v1/personnel', { name: 'Annika Accepter' });
  const accepted = await console.post('/v1/projects/APOLLO/risks', { title: 'Accepted' });
  await console.patch(`/v1/projects/APOLLO/risks/${accepted.key}`, {
    status: 'accepted',
    acceptance_reason: 'Insured.',
    accepted_until: inDays(9),
    accepted_by_user_id: person.user_id,
  });
  await page.goto(`/risks/${accepted.key}`);
  const fact = page.locator('.fact', { has: page.getByText('Accepted by', { exact: true }) });
  await fact.getByRole('link', { name: 'Annika Accepter' }).waitFor();
});

test('a failure after you edit your own key does not sign you out; a key without a rate limit says so', async (t) => {
  await console.post('/v1/keys', {
    name: 'No rate limit',
    scopes: ['projects.read'],
    rate_limit: 0,
  });
  const page = await console.open(t, '/keys', { viewport: { width: 1600, height: 900 } });
  await page
    .getByRole('row', { name: /No rate limit/ })
    .getByText('Unlimited requests')
    .waitFor();
  await page
    .getByRole('row', { name: /In use now/ })
    .getByRole('button', { name: /^Edit/ })
    .click();
  const dialog = page.getByRole('dialog', { name: /^Edit/ });
  await dialog.getByLabel('Name').fill('Mine');
  await page.route('**/v1/me', (route) => route.fulfill({ status: 500, body: '{}' }));
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved Mine').waitFor();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await page.getByLabel('API key').count(), 0);
});

test('adding a member after the session has ended asks to sign in again', async (t) => {
  const group = await console.post('/v1/groups', { name: 'Late joiners' });
  const page = await console.open(t, `/groups/${group.id}`);
  await page.getByRole('combobox', { name: 'Add member' }).fill('adaeze');
  await page.route('**/members/*', (route) => route.fulfill({ status: 401, body: '{}' }));
  await page.getByRole('option', { name: /Adaeze Eze/ }).click();
  await page.getByText('Your session has ended. Sign in again.').waitFor();
});

test('scopes have readable labels', async (t) => {
  await console.post('/v1/keys', { name: 'Labelled key', scopes: ['personnel.read', 'projects.manage'] });
  const page = await console.open(t, '/keys', { viewport: { width: 1600, height: 900 } });
  const row = page.getByRole('row', { name: /Labelled key/ });
  await row.getByText('Manage projects · Read people').waitFor();
  await row.getByRole('button', { name: 'Edit Labelled key' }).click();
  const box = page.getByRole('checkbox', { name: 'Manage projects' });
  assert.equal(await box.isChecked(), true);
  assert.equal(await box.getAttribute('title'), 'projects.manage');
});
