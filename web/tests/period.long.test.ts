import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { startConsole, test, visit, waitUntilLoaded } from './console.ts';
import { daysAgo } from './page.ts';

const console = startConsole();

type Risk = { key: string; score: number; movement: { score_then: number } };

const filter = (page: Page, name: string | RegExp) => page.getByRole('search').getByRole('button', { name });

const keysOf = (risks: readonly Risk[]) => risks.slice(0, 8).map(({ key }) => key);

test('the period is chosen once for overview, list and report', async (t) => {
  const page = await console.open(t, '/overview');
  await page.getByRole('button', { name: 'Change, 30 days' }).click();
  await page.getByRole('radio', { name: '90 days' }).check({ force: true });
  await page
    .locator('.headline')
    .getByText(/90 days/)
    .waitFor();
  await page.getByText('Score change in 90 days').waitFor();
  await page.keyboard.press('Escape');
  const { now, before } = await totals(daysAgo(90));
  const difference = now - before;
  const change = `${difference > 0 ? '+' : '−'}${Math.abs(difference)}`;
  await page.getByRole('link', { name: `${now} Active risks ${change} in 90 days` }).waitFor();

  await visit(page, '/risks');
  await page.getByRole('columnheader', { name: 'Change, 90 days' }).waitFor();
  await visit(page, '/report');
  const since = page.getByRole('textbox', { name: 'Changes since' });
  assert.equal(await since.inputValue(), daysAgo(90));

  // A day is chosen in the list, and the report has it in its URL.
  await visit(page, '/risks');
  await filter(page, 'Change, 90 days').click();
  await page.getByRole('textbox', { name: 'Since' }).fill(daysAgo(45));
  await page.getByRole('columnheader', { name: /^Change since / }).waitFor();
  await page.keyboard.press('Escape');
  await visit(page, '/report');
  assert.equal(await since.inputValue(), daysAgo(45));
  await since.fill(daysAgo(20));
  await page.waitForURL(new RegExp(`since=${daysAgo(20)}`));
  await page.getByRole('button', { name: /^Change since / }).click();
  await page.getByRole('radio', { name: '30 days' }).check({ force: true });
  await page.waitForURL((url) => !url.searchParams.has('since'));
  assert.equal(await since.inputValue(), daysAgo(30));
});

async function totals(day: string) {
  const total = async (path: string) =>
    (await console.get(`/v1/risks?kind=threat&limit=1&count=true${path}`)).page.total as number;
  return { now: await total(''), before: await total(`&as_of=${day}`) };
}

test('a list is filtered and sorted by the change of the score', async (t) => {
  const since = daysAgo(90);
  const page = await console.open(t, '/risks');
  const rows = page.locator('main .table tbody tr');
  // The table has only the rows near the visible ones.
  const firstKeys = async () => (await rows.locator('.key').allTextContents()).slice(0, 8);
  await filter(page, 'Change, 30 days').click();
  await page.getByRole('radio', { name: '90 days' }).check({ force: true });
  await page.getByRole('checkbox', { name: 'Moved up' }).check({ force: true });
  await page.keyboard.press('Escape');
  await page.waitForURL(/change=up/);
  await waitUntilLoaded(page);
  const up = await console.get(`/v1/risks?change=up&since=${since}&limit=100&count=true`);
  assert.ok(up.page.total > 3 && up.page.total < 100, `${up.page.total} have moved up`);
  await page.getByText(`${up.page.total} active risks`).waitFor();
  assert.deepEqual(await firstKeys(), keysOf(up.data));
  await page.locator('.movement.up').first().waitFor();

  await page.getByRole('columnheader', { name: 'Change, 90 days' }).getByRole('button').click();
  await page.waitForURL(/sort=-change/);
  await waitUntilLoaded(page);
  await page.locator('.movement.up').first().waitFor();
  const sorted = await console.get(`/v1/risks?change=up&since=${since}&sort=-change&limit=100`);
  assert.deepEqual(await firstKeys(), keysOf(sorted.data));

  // The walk through the list compares with the same day.
  await rows.first().getByRole('link').first().click();
  await page.getByText(`1 of ${up.page.total}`).waitFor();
  await page.goBack();

  await page.getByText('Heat map of threats').click();
  const cells = (await console.get(`/v1/risks/heatmap?kind=threat&change=up&since=${since}`)).data;
  const [cell] = cells.filter(({ count }: { count: number }) => count > 0);
  await page
    .getByRole('link', { name: `Probability ${cell.probability}, impact ${cell.impact}: ${cell.count} risk` })
    .waitFor();

  // A link with a day of its own shows that day, whatever was chosen.
  await visit(page, `/risks?change=new&since=${daysAgo(10)}`);
  const added = await console.get(`/v1/risks?change=new&since=${daysAgo(10)}&limit=1&count=true`);
  await page.getByText(`${added.page.total} active risk`).waitFor();
  await page.getByRole('button', { name: /^Remove filter: Compared with / }).click();
  const addedIn90 = await console.get(`/v1/risks?change=new&since=${since}&limit=1&count=true`);
  await page.getByText(`${addedIn90.page.total} active risks`).waitFor();
});

test('days in a URL that are none are explained', async (t) => {
  const page = await console.open(t, '/risks?as_of=yesterday');
  await page.getByText('`as_of`').or(page.getByText('yesterday')).first().waitFor();
  await visit(page, '/risks?change=up&since=yesterday');
  await page.getByRole('button', { name: 'Remove filter: Compared with yesterday' }).click();
  await page.locator('.movement.up').first().waitFor();
});

test('an export of a list that is filtered by change has its rows', async (t) => {
  const page = await console.open(t, '/risks?change=up');
  await waitUntilLoaded(page);
  const { page: counted } = await console.get(`/v1/risks?change=up&since=${daysAgo(30)}&limit=1&count=true`);
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('menuitem', { name: 'CSV, as shown' }).click();
  const download = await downloading;
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  const lines = Buffer.concat(chunks).toString().trim().split('\r\n');
  assert.equal(lines.length - 1, counted.total);
});

test('changes are shown since my last report, also after the next one', async (t) => {
  const page = await console.open(t, '/report');
  await console.post('/v1/reports', { title: 'Of today', since: daysAgo(30) });
  await page.reload();
  await page.getByRole('button', { name: 'Change, 30 days' }).click();
  await page.getByRole('radio', { name: /^Since (my|the) last report/ }).check({ force: true });
  await page.getByRole('button', { name: 'Change since report' }).waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'Changes since' }).inputValue(), daysAgo(0));
  // What the browser has chosen is of an earlier report.
  await page.evaluate((day) => localStorage.setItem('muster-period', `report ${day}`), daysAgo(70));
  await visit(page, '/risks');
  await page.getByRole('columnheader', { name: 'Change since report' }).waitFor();
  await filter(page, 'Change since report').click();
  await page.getByRole('radio', { name: /^Since (my|the) last report/, checked: true }).waitFor();
  await page.waitForFunction(
    (choice) => localStorage.getItem('muster-period') === choice,
    `report ${daysAgo(0)}`,
  );
});
