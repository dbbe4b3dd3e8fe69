import assert from 'node:assert/strict';
import { startConsole, test, visit } from './console.ts';
import { openHeatMap } from './page.ts';

const console = startConsole({ isEmpty: true });

test('counts, charts and marks say what they mean without colors and with one item', async (t) => {
  await console.post('/v1/projects', { name: 'Apollo', key: 'APOLLO' });
  const base = '/v1/projects/APOLLO';
  const rating = {
    probability: 5,
    impact: 5,
    raised_on: '2020-01-01',
    category: 'supply',
    due_on: '2020-02-01',
  };
  const first = await console.post(`${base}/risks`, { title: 'Only one', ...rating });
  const page = await console.open(t, `/risks/${first.key}`, { forcedColors: 'active' });
  await page.locator('.rank-explanation').getByText('Rank 1 of 1 active risk in').waitFor();
  await page.locator('.title-summary').getByText('Overdue, due 1 Feb 2020').waitFor();
  await visit(page, '/projects/APOLLO');
  await page.getByRole('link', { name: '1 Active risk', exact: true }).waitFor();
  const color = await page
    .locator('.title-summary .health')
    .evaluate((health) => getComputedStyle(health, '::before').backgroundColor);
  assert.notEqual(color, 'rgba(0, 0, 0, 0)');
  const canvas = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.notEqual(color, canvas);

  await visit(page, '/risks');
  const due = page.getByRole('cell', { name: /^Overdue: / });
  await due.waitFor();
  const mark = await due.locator('.overdue').evaluate((one) => getComputedStyle(one, '::before').content);
  assert.match(mark, /!/);

  // One category has far more risks than the others.
  await console.post(`${base}/risks`, { title: 'Of another', category: 'law' });
  for (let i = 0; i < 12; i += 1)
    await console.post(`${base}/risks`, { title: `Of many ${i}`, category: 'supply' });
  await visit(page, '/risks');
  await openHeatMap(page);
  await page.getByText('By category and owner').click();
  const bars = page.locator('.risk-counts .bars').first().getByRole('link');
  await bars.first().waitFor();
  const widths = await bars
    .locator('.fill')
    .evaluateAll((all) => all.map((one) => one.getAttribute('width')));
  assert.deepEqual(widths, ['100', '50']);
  assert.match((await bars.first().getAttribute('title')) ?? '', /not to scale/);
  assert.equal(await bars.locator('.cut').count(), 1);
});

test('checkboxes stay while a list updates, but select nothing of the former rows', async (t) => {
  const page = await console.open(t, '/risks');
  const boxes = page.locator('tbody').getByRole('checkbox');
  await boxes.first().waitFor();
  let isHeld = true;
  const held: (() => void)[] = [];
  await page.route(/\/v1\/risks\?/, async (route) => {
    if (isHeld) await new Promise<void>((release) => held.push(release));
    await route.continue();
  });
  await page.getByRole('searchbox').or(page.getByPlaceholder('Search by title or key')).first().fill('Only');
  await page.getByText('Updating…').waitFor();
  assert.ok((await boxes.count()) > 1);
  await boxes.first().click({ force: true });
  assert.equal(await page.locator('.bulk-bar').count(), 0);
  isHeld = false;
  for (const release of held) release();
  await page.getByText('1 active risk', { exact: false }).waitFor();
  await boxes.first().click();
  await page.getByText('1 selected').waitFor();
});

test('a page that was never loaded does not claim to show older data', async (t) => {
  const page = await console.newPage(t);
  await page.clock.install();
  await visit(page, '/risks');
  await page.route('**/livez', (route) => route.abort());
  await page.route('**/v1/**', (route) => route.abort());
  await page.getByRole('link', { name: 'Groups' }).click();
  await page.clock.runFor(20_000);
  await page.getByRole('status').getByText("Can't reach the service. Trying again…").waitFor();
  assert.equal(await page.getByText('Showing data from').count(), 0);
});

test('the activity of a project contains the changes of its risks, issues and tasks', async (t) => {
  await console.post('/v1/projects', { name: 'Mercury', key: 'MERCURY' });
  await console.post('/v1/projects/MERCURY/risks', { title: 'In this project' });
  await console.post('/v1/projects', { name: 'Gemini', key: 'GEMINI' });
  await console.post('/v1/projects/GEMINI/issues', { title: 'In another project' });
  const page = await console.open(t, '/projects/MERCURY?tab=activity');
  const items = page.getByRole('region', { name: 'Risks, issues and tasks' });
  await items
    .getByText(/added risk/)
    .first()
    .waitFor();
  assert.equal(await items.getByText('In another project').count(), 0);
  const task = await console.post('/v1/projects/MERCURY/tasks', { title: 'Seen at once' });
  await items.getByRole('link', { name: new RegExp(task.key) }).waitFor();
  const limited = await console.open(t, '/projects/MERCURY?tab=activity', { scopes: ['projects.read'] });
  await limited.getByRole('heading', { name: 'Activity' }).first().waitFor();
  assert.equal(await limited.getByRole('region', { name: 'Risks, issues and tasks' }).count(), 0);
});
