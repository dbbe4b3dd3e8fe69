import assert from 'node:assert/strict';
import { startConsole, test, waitUntilLoaded } from './console.ts';
import { press, tabTo } from './focus.ts';
import { daysAgo, openHeatMap } from './page.ts';

const console = startConsole();

const shown = (day: string) =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(day));

/** Before the first data of the demo. */
const longAgo = '2001-02-03';

test('the risks are shown as of an earlier day, which is in the URL, and nothing can be changed', async (t) => {
  const day = daysAgo(100);
  const page = await console.open(t, '/risks');
  assert.equal(await page.getByRole('textbox', { name: 'As of' }).inputValue(), daysAgo(0));
  await tabTo(page, 'As of');
  await page.getByRole('textbox', { name: 'As of' }).fill(day);
  await page.waitForURL(new RegExp(`as_of=${day}`));
  const notice = page.locator('.as-of');
  await notice.getByText(`As of ${shown(day)}.`).waitFor();
  await waitUntilLoaded(page);
  const then = await console.get(`/v1/risks?as_of=${day}&limit=5&count=true`);
  const now = await console.get('/v1/risks?limit=1&count=true');
  assert.notEqual(then.page.total, now.page.total, 'the register of the demo has changed since');
  await page.getByText(`${then.page.total} active risks`).waitFor();
  const titles = (await page.locator('main .table tbody a').allTextContents()).join();
  for (const { title } of then.data) assert.ok(titles.includes(title), title);
  await page.getByRole('columnheader', { name: 'Rank', exact: true }).waitFor();
  assert.equal(await page.getByRole('columnheader', { name: 'Change, 30 days' }).count(), 0);
  const cells = (await console.get(`/v1/risks/heatmap?kind=threat&as_of=${day}`)).data;
  await openHeatMap(page);
  for (const { probability, impact, count } of cells.slice(0, 5)) {
    const name = `Probability ${probability}, impact ${impact}: ${count} risk`;
    await page.getByRole('link', { name }).waitFor();
  }

  assert.equal(await page.getByRole('button', { name: 'Create risk' }).count(), 0);
  assert.equal(await page.getByRole('checkbox').count(), 0, 'nothing can be selected');
  await page.keyboard.press('c');
  assert.equal(await page.getByRole('dialog').count(), 0);
  await page.emulateMedia({ media: 'print' });
  assert.equal(await notice.isVisible(), true, 'the printout says which day it shows');
  await page.emulateMedia({ media: 'screen' });

  await page.goto(`${page.url()}&level=low&category=none`);
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByText(`${then.page.total} active risks`).waitFor();
  assert.equal(new URL(page.url()).searchParams.get('as_of'), day, 'the day is no filter');
  await press(page, 'Back to today');
  await notice.waitFor({ state: 'detached' });
  await page.waitForFunction(() => document.activeElement?.id === 'main');
  assert.equal(new URL(page.url()).searchParams.has('as_of'), false);
  await page.getByRole('button', { name: 'Create risk' }).waitFor();
  await page.goBack();
  await notice.waitFor();
});

test('before the first data there is an empty state', async (t) => {
  const page = await console.open(t, `/risks?as_of=${longAgo}`);
  await page.getByRole('heading', { name: `No risks on ${shown(longAgo)}` }).waitFor();
  await page.goto(`/report?as_of=${longAgo}`);
  await page.getByRole('heading', { name: `No risks on ${shown(longAgo)}` }).waitFor();
  await waitUntilLoaded(page);
  await page.getByRole('button', { name: 'Back to today' }).click();
  await page.getByRole('heading', { name: 'Decisions needed' }).waitFor();
  for (const day of ['tomorrow', daysAgo(-3)]) {
    await page.goto(`/risks?as_of=${day}`);
    await page.getByRole('alert').first().waitFor();
    await page.getByRole('button', { name: 'Back to today' }).click();
    await page.getByRole('button', { name: 'Create risk' }).waitFor();
  }
});

test('the risks of a project are shown as of an earlier day', async (t) => {
  const day = daysAgo(100);
  const page = await console.open(t, '/projects/APOLLO?tab=risks');
  await page.getByRole('button', { name: 'Create risk' }).waitFor();
  await page.getByRole('textbox', { name: 'As of' }).fill(day);
  const { page: then } = await console.get(`/v1/risks?as_of=${day}&project=APOLLO&limit=1&count=true`);
  await page.getByText(new RegExp(`^${then.total} active risks?$`)).waitFor();
  for (const name of ['Create risk', 'Import', 'Edit', 'Archive', 'Edit Name'])
    assert.equal(await page.getByRole('button', { name, exact: true }).count(), 0, name);
  assert.equal(await page.getByRole('checkbox').count(), 0);
  await page.getByRole('button', { name: 'Back to today' }).click();
  await page.getByRole('button', { name: 'Archive' }).waitFor();
  await page.goto(`/projects/APOLLO?tab=risks&as_of=${longAgo}`);
  await page.getByText(`No active risks on ${shown(longAgo)}`).waitFor();
});

test('a day that does not exist is shown as it was entered', async (t) => {
  const page = await console.open(t, '/risks?as_of=2026-02-30');
  await page.getByRole('alert').first().waitFor();
  assert.match((await page.locator('.as-of').textContent()) ?? '', /^As of 2026-02-30\./);
});

test('the last point of the trend leads to the current register, the others to that of their day', async (t) => {
  const page = await console.open(t, '/');
  const points = page.locator('.trend a');
  assert.match((await points.first().getAttribute('href')) ?? '', /\?kind=threat&as_of=\d{4}-\d\d-\d\d$/);
  assert.equal(await points.last().getAttribute('href'), '/risks?kind=threat');
  await points.last().focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Create risk' }).waitFor();
});
