import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Console, screenshot, startConsole, waitUntilLoaded } from './console.ts';

let console: Console;

before(async () => {
  console = await startConsole();
});

after(() => console.stop());

const failing = { status: 500, contentType: 'application/problem+json', body: '{"detail":"Out of order."}' };

test('the page of an item that someone else deletes says so', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Soon gone' });
  const page = await console.open(t, `/risks/${key}`);
  if (!page) return;
  await page.getByRole('heading', { level: 1, name: 'Soon gone' }).waitFor();
  await console.delete(`/v1/projects/APOLLO/risks/${key}`);
  await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor();
  await page.getByRole('link', { name: 'Go to risks' }).waitFor();
});

test('data that cannot be updated stays below the error, and is updated by trying again', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Before the failure' });
  const page = await console.open(t, `/risks/${key}`);
  if (!page) return;
  await waitUntilLoaded(page);
  await page.route(`**/v1/projects/APOLLO/risks/${key}?*`, (route) => route.fulfill(failing));
  await page.getByRole('button', { name: 'Edit Description' }).click();
  await page.getByRole('textbox', { name: 'Description' }).fill('Being written');
  await console.patch(`/v1/projects/APOLLO/risks/${key}`, { title: 'After the failure' });
  const notice = page.locator('main .notice', { hasText: 'Out of order.' });
  await notice.waitFor();
  await page.getByRole('heading', { level: 1, name: 'Before the failure' }).waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'Description' }).inputValue(), 'Being written');
  await screenshot(page, 'outdated-risk');
  await page.unroute(`**/v1/projects/APOLLO/risks/${key}?*`);
  await notice.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { level: 1, name: 'After the failure' }).waitFor();
  await notice.waitFor({ state: 'detached' });
});

test('a search that fails says so, beside the results of the searches that succeed', async (t) => {
  const page = await console.open(t, '/risks');
  if (!page) return;
  await waitUntilLoaded(page);
  await page.route('**/v1/risks?q=*', (route) => route.fulfill(failing));
  await page.keyboard.press('Control+k');
  const input = page.getByRole('searchbox', { name: 'Go to' });
  await input.fill('apollo');
  await page.getByRole('menuitem', { name: /^Apollo:.*APOLLO$/ }).waitFor();
  await page.getByRole('alert').getByText("Couldn't search everything. Out of order.").waitFor();
  await page.route('**/v1/*?q=*', (route) => route.fulfill(failing));
  await page.route('**/v1/issues/all?q=*', (route) => route.fulfill(failing));
  await input.fill('zzz');
  await page.getByRole('alert').getByText("Couldn't search. Out of order.").waitFor();
  assert.equal(await page.getByText('No results').count(), 0);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');

  await page.route('**/v1/projects?*', (route) => route.fulfill(failing));
  await page.getByRole('button', { name: 'Create risk' }).click();
  await page.getByRole('combobox', { name: 'Project' }).fill('apollo');
  await page.getByRole('alert').getByText("Couldn't search. Out of order.").waitFor();
  assert.equal(await page.getByText('No results').count(), 0);
});

test('Enter in the palette opens no result for an earlier text', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Found by key' });
  const page = await console.open(t, '/keys');
  if (!page) return;
  await waitUntilLoaded(page);
  await page.keyboard.press('Control+k');
  await page.getByRole('searchbox', { name: 'Go to' }).fill('apollo');
  await page.getByRole('menuitem', { name: /^Apollo:.*APOLLO$/ }).waitFor();
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/v1/*?q=apollo-*', async (route) => {
    await held;
    await route.continue();
  });
  await page.keyboard.type(key.slice('apollo'.length).toLowerCase());
  await page.getByText('Searching…').waitFor();
  await page.keyboard.press('Enter');
  assert.equal(new URL(page.url()).pathname, '/keys');
  release();
  await page.waitForURL(new RegExp(`/risks/${key}$`));
});
