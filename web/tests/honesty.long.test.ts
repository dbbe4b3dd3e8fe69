import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Console, startConsole, waitUntilLoaded } from './console.ts';

let console: Console;

before(async () => {
  console = await startConsole();
});

after(() => console.stop());

type Moved = {
  key: string;
  score: number | null;
  status: string;
  created_at: string;
  movement: { score_then: number | null };
};

test('an arrow shows a changed score, and a closed risk is never new', async (t) => {
  const since = new Date(Date.now() - 30 * 86_400_000).toISOString().slice(0, 10);
  const page = await console.open(t, '/risks', { viewport: { width: 1440, height: 900 } });
  if (!page) return;
  for (const filters of ['', 'level=critical', 'status=closed']) {
    const { data } = await console.get(`/v1/risks?${filters}&include=movement&since=${since}&limit=12`);
    await page.goto(`${console.app.baseUrl}/risks?${filters}`);
    await waitUntilLoaded(page);
    const texts: string[] = await page.locator('tbody .movement').allTextContents();
    for (const [index, { key, score, status, created_at, movement }] of (data as Moved[]).entries()) {
      const shown = texts[index] ?? '';
      const then = movement.score_then;
      const hasMoved = score !== null && then !== null && score !== then;
      assert.equal(/[↑↓]/.test(shown), hasMoved, `${key}: ${shown}`);
      if (hasMoved) assert.equal(shown, `${score > then ? '↑' : '↓'} from ${then}`, key);
      if (status === 'closed' || created_at < since) assert.notEqual(shown, 'New', key);
    }
  }
});

test('under a filter the rank is labeled as one within the filter', async (t) => {
  const page = await console.open(t, '/risks?project=APOLLO', { viewport: { width: 1440, height: 900 } });
  if (!page) return;
  await waitUntilLoaded(page);
  await page.getByRole('columnheader', { name: 'Rank here' }).waitFor();
  await page.getByText('Ranks are within these filters').waitFor();
  await page.goto(`${console.app.baseUrl}/risks`);
  await waitUntilLoaded(page);
  await page.getByRole('columnheader', { name: 'Rank', exact: true }).waitFor();
});

test('while filtered rows load, the old ones are marked and no count is shown', async (t) => {
  const page = await console.open(t, '/issues');
  if (!page) return;
  await waitUntilLoaded(page);
  const before = (await page.locator('.summary-line').textContent()) ?? '';
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/v1/issues?**overdue=true**', async (route) => {
    await held;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Overdue' }).click();
  await page.locator('.updating[aria-busy="true"] .summary-line').getByText('Updating…').waitFor();
  assert.notEqual(await page.locator('table').evaluate(opacityOf), '1');
  assert.ok(!(await page.locator('main').textContent())?.includes(before));
  release();
  const { page: counted } = await console.get('/v1/issues?overdue=true');
  await page.locator('.summary-line').getByText(`${counted.total} open issues`).waitFor();
  assert.equal(await page.locator('table').evaluate(opacityOf), '1');
});

const opacityOf = (element: Element) => getComputedStyle(element).opacity;

test('the list of risks says whether it counts only the active ones', async (t) => {
  const total = async (filters: string) =>
    (await console.get(`/v1/risks?${filters}&limit=1&count=true`)).page.total;
  const [active, all] = [await total(''), await total('status=all')];
  assert.ok(active < all);
  const page = await console.open(t, '/risks');
  if (!page) return;
  const summary = page.locator('.summary-line');
  await summary.getByText(new RegExp(`^${active} active risks, `)).waitFor();
  await page.goto(`${console.app.baseUrl}/risks?status=all`);
  await summary.getByText(new RegExp(`^${all} risks, `)).waitFor();
});
