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
