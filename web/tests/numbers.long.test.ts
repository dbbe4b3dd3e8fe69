import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { assertAccessible } from './axe.ts';
import { startConsole, test, visit, waitUntilLoaded } from './console.ts';
import { daysAgo, hold, openHeatMap, weekIn } from './page.ts';

const console = startConsole();

const numberIn = (text: string | null) => Number(text?.replace(/\D/g, ''));

/** Opens a link and compares its number with the count of the list. */
async function assertLeadsToItsList(page: Page, link: Locator, filters: RegExp): Promise<void> {
  const expected = numberIn(await link.textContent());
  assert.ok(expected > 0);
  await link.click();
  const summary = page.locator('.summary-line').getByText(new RegExp(`^${expected} (active|open)? ?\\w+`));
  await summary.waitFor();
  const chips = await page.getByRole('search').locator('.filter.set').allTextContents();
  assert.match(chips.join('; '), filters);
  await page.goBack();
  await waitUntilLoaded(page);
}

const dueFilters = /Due after \d.*; Due before \d/;

test('the counts of the timeline lead to their lists', async (t) => {
  await console.post('/v1/projects', { name: 'Linked', key: 'LINKED' });
  const add = (list: string, item: object) => console.post(`/v1/projects/LINKED/${list}`, item);
  for (const day of [daysAgo(3), daysAgo(-9)]) {
    await add('risks', { title: 'Risk', raised_on: daysAgo(90), due_on: day, review_on: day });
    await add('issues', { title: 'Issue', raised_on: daysAgo(90), due_on: day });
    for (let count = 0; count < 8; count++) await add('tasks', { title: 'Task', due_on: day });
  }
  const page = await console.open(t, '/report?project=LINKED');
  const card = page.locator('[aria-labelledby=timeline]');
  // The columns are the due dates and reviews of risks, and the due dates of issues and tasks.
  const cell = (row: number, column: number) =>
    card.locator('tbody tr').nth(row).locator('td').nth(column).getByRole('link');
  const week = 1 + weekIn(9);
  await assertLeadsToItsList(page, cell(0, 0), /; Due before \d/);
  await assertLeadsToItsList(page, cell(0, 1), /; Review before \d/);
  await assertLeadsToItsList(page, cell(0, 2), /; Due before \d/);
  await assertLeadsToItsList(page, cell(0, 3), /; Due before \d/);
  await assertLeadsToItsList(page, cell(week, 0), dueFilters);
  await assertLeadsToItsList(page, cell(week, 1), /Review after \d.*; Review before \d/);
  await assertLeadsToItsList(page, cell(week, 2), dueFilters);
  await assertLeadsToItsList(page, cell(week, 3), dueFilters);
  const overdue = card.locator('section').filter({ has: page.getByRole('heading', { name: /^Overdue/ }) });
  await assertLeadsToItsList(page, overdue.getByRole('link', { name: /^Task due \d/ }), /; Due before \d/);
  assert.doesNotMatch((await card.textContent()) ?? '', /and \d+ more/);
});

test('the new and the resolved issues of the report lead to their lists', async (t) => {
  const issues = Array.from({ length: 10 }, (_, index) => `New ${index}`);
  await console.post('/v1/projects', { name: 'Changes', key: 'CHANGES' });
  for (const title of issues) {
    const { key } = await console.post('/v1/projects/CHANGES/issues', { title });
    await console.patch(`/v1/projects/CHANGES/issues/${key}`, { status: 'resolved', resolution: 'fixed' });
  }
  const page = await console.open(t, '/report?project=CHANGES');
  for (const [title, chip] of [
    ['New issues', /Raised since \d/],
    ['Resolved or closed issues', /^Resolved since \d/],
  ] as const) {
    const group = page.locator('section section').filter({ has: page.getByRole('heading', { name: title }) });
    await group.getByRole('link', { name: '2 more' }).click();
    await page.locator('.summary-line').getByText('10 issues', { exact: true }).waitFor();
    await page.getByRole('search').locator('.filter.set', { hasText: chip }).waitFor();
    await page.goBack();
    await waitUntilLoaded(page);
  }
});

test('a week of the overview opens the links to what is due in it', async (t) => {
  const page = await console.open(t, '/');
  const card = page.locator('.upcoming');
  await card.scrollIntoViewIfNeeded();
  const weeks = card.locator('.weeks').getByRole('button');
  await weeks.first().waitFor();
  await waitUntilLoaded(page);
  const open = async (week: number) => {
    await weeks.nth(week).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
  };
  for (const [week, name, chips] of [
    [0, /^Issue due/, /^Due before/],
    [0, /^Risk review/, /^Review before/],
    [2, /^Task due/, dueFilters],
  ] as const) {
    await open(week);
    if (week === 2) await assertAccessible(page, 'the links of a week');
    const link = page.getByRole('dialog').getByRole('link', { name });
    await assertLeadsToItsList(page, link, chips);
    await card.scrollIntoViewIfNeeded();
  }
  await open(1);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await card.locator('.weeks li:nth-child(2) button:focus').waitFor();
});

test('all owners of risks can be shown with their counts', async (t) => {
  const page = await console.open(t, '/risks');
  const { data } = await console.get('/v1/risks/summary?top=200');
  await openHeatMap(page);
  await page.getByText('By category and owner').click();
  const owners = page.locator('.risk-counts .bars').last().getByRole('link');
  await page
    .getByRole('button', { name: `Show ${data.by_owner.length - 8} others` })
    .last()
    .click();
  assert.equal(await owners.count(), data.by_owner.length);
  await page.getByRole('button', { name: 'Show fewer' }).click();
  assert.equal(await owners.count(), 8);
});

type Moved = {
  key: string;
  score: number | null;
  status: string;
  created_at: string;
  movement: { score_then: number | null };
};

test('an arrow shows a changed score, and a closed risk is never new', async (t) => {
  const since = daysAgo(30);
  const page = await console.open(t, '/risks');
  for (const filters of ['', 'level=critical', 'status=closed']) {
    const { data } = await console.get(`/v1/risks?${filters}&include=movement&since=${since}&limit=12`);
    await visit(page, `/risks?${filters}`);
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
  const page = await console.open(t, '/risks?project=APOLLO');
  await page.getByRole('columnheader', { name: 'Rank in filter' }).waitFor();
  await page.getByText('Ranks are within these filters').waitFor();
  await visit(page, '/risks');
  await page.getByRole('columnheader', { name: 'Rank', exact: true }).waitFor();
});

test('while filtered rows load, the old ones are marked and no count is shown', async (t) => {
  const page = await console.open(t, '/issues');
  const before = (await page.locator('.summary-line').textContent()) ?? '';
  const release = await hold(page, '**/v1/issues?**overdue=true**');
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
  const summary = page.locator('.summary-line');
  await summary.getByText(new RegExp(`^${active} active risks, `)).waitFor();
  await page.goto('/risks?status=all');
  await summary.getByText(new RegExp(`^${all} risks, `)).waitFor();
});

test('every number of the overview links to a list with as many rows', async (t) => {
  const page = await console.open(t, '/');
  const links = page.locator('.tiles a, .heat-cell, .bars a, #open-issues a, .issues header > a');
  const count = await links.count();
  assert.ok(count >= 4 + 25 + 8 + 2);
  // One or more of each kind; all 39 links would take a minute.
  for (const index of [0, 1, 4 + 7, 4 + 12, 29, 30, 31, 33, 35, 36, 37, 38]) {
    const link = links.nth(index);
    const shown = (await link.textContent()) ?? '';
    const number = Number((/\d+$/.exec(shown) ?? /^\d+/.exec(shown))?.[0] ?? 0);
    await link.click();
    await waitUntilLoaded(page);
    const found: string | null = (await page.locator('.summary-line').count())
      ? await page.locator('.summary-line').textContent()
      : '0';
    assert.equal(Number.parseInt(found ?? '', 10), number, `${shown} links to ${page.url()}`);
    await page.goBack();
    await waitUntilLoaded(page);
  }
});
