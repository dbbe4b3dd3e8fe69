import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { assertAccessible } from './axe.ts';
import { startConsole, test, visit, waitUntilLoaded } from './console.ts';
import { press } from './focus.ts';

const console = startConsole();

const button = (page: Page) => page.getByRole('button', { name: 'Columns' });
const menu = (page: Page) => page.getByRole('menu', { name: 'Columns' });
const option = (page: Page, name: string) => menu(page).getByRole('menuitemcheckbox', { name, exact: true });
const header = (page: Page, name: string) => page.getByRole('columnheader', { name, exact: true });

const closeMenu = async (page: Page) => {
  await page.keyboard.press('Escape');
  await menu(page).waitFor({ state: 'hidden' });
};

/** Moves the focus in the menu with the arrow key. */
const moveTo = async (page: Page, label: string) => {
  for (let presses = 0; presses < 30; presses++) {
    if ((await page.locator('[role=menuitemcheckbox]:focus').innerText()) === label) return;
    await page.keyboard.press('ArrowDown');
  }
  assert.fail(`The arrow key does not reach ${label}`);
};

/** The columns in the URL. */
const chosen = (page: Page) => new URL(page.url()).searchParams.get('columns');

test('columns are chosen, in the URL, remembered for their list and reset', async (t) => {
  const page = await console.open(t, '/risks?level=critical');
  assert.equal(await header(page, 'Category').count(), 0);
  await button(page).click();
  assert.equal(await option(page, 'Risk').count(), 0);
  const reset = menu(page).getByRole('menuitem', { name: 'Reset columns' });
  assert.equal(await reset.getAttribute('aria-disabled'), 'true');
  await option(page, 'Category').click();
  await option(page, 'Owner').click();
  await option(page, 'Change, 30 days').click();
  await closeMenu(page);
  await header(page, 'Category').waitFor();
  assert.equal(await header(page, 'Owner').count(), 0);
  await header(page, 'Risk').waitFor();
  assert.equal(chosen(page), 'rank,score,title,status,due,category');
  assert.equal(new URL(page.url()).searchParams.get('level'), 'critical');
  const [risk] = (await console.get('/v1/risks?level=critical&limit=1')).data;
  assert.match(await page.locator('tbody tr').first().innerText(), new RegExp(risk.category, 'i'));

  // A link has its own columns, but does not change the remembered ones.
  await visit(page, '/risks?columns=title,due');
  assert.deepEqual(
    await page.getByRole('table', { name: 'Risks', exact: true }).getByRole('columnheader').allInnerTexts(),
    ['', 'Risk', 'Due'],
  );
  await page.goto('/risks');
  await header(page, 'Category').waitFor();
  assert.equal(await header(page, 'Owner').count(), 0);
  await visit(page, '/issues');
  await header(page, 'Assignee').waitFor();
  assert.equal(await header(page, 'Owner').count(), 0);

  await page.goto('/risks?columns=nonsense');
  await header(page, 'Category').waitFor();
  await button(page).click();
  await menu(page).getByRole('menuitem', { name: 'Reset columns' }).click();
  await header(page, 'Owner').waitFor();
  assert.equal(await header(page, 'Category').count(), 0);
  assert.equal(chosen(page), null);
  await page.reload();
  await waitUntilLoaded(page);
  await header(page, 'Change, 30 days').waitFor();
});

test('columns are chosen with the keyboard alone, on every list', async (t) => {
  const added = {
    risks: ['Review', 'review'],
    issues: ['Raised', 'raised'],
    tasks: ['Start', 'start'],
    personnel: ['Location', 'location'],
    projects: ['Risk appetite (score)', 'appetite'],
  };
  const page = await console.open(t, '/risks', {
    colorScheme: 'dark',
  });
  for (const [list, [label = '', name = '']] of Object.entries(added)) {
    await visit(page, `/${list}`);
    await press(page, 'Columns');
    await menu(page).waitFor();
    await moveTo(page, label);
    await page.keyboard.press('Space');
    await menu(page).getByRole('menuitemcheckbox', { name: label, checked: true }).waitFor();
    await closeMenu(page);
    await header(page, label).waitFor();
    assert.ok(chosen(page)?.split(',').includes(name), list);
    // The focus returns in the frame after the menu is gone.
    await page.locator('button:focus', { hasText: 'Columns' }).waitFor();
  }
});

test('a view keeps the columns', async (t) => {
  const page = await console.open(t, '/tasks');
  await button(page).click();
  await option(page, 'Kind').click();
  await option(page, 'Project').click();
  await closeMenu(page);
  await page.getByRole('button', { name: 'Views', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Save as view…' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('By project');
  await page.getByRole('button', { name: 'Save view' }).click();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Views By project' }).waitFor();
  await button(page).click();
  await menu(page).getByRole('menuitem', { name: 'Reset columns' }).click();
  await page.getByRole('button', { name: 'Views', exact: true }).waitFor();
  await header(page, 'Kind').waitFor();
  await page.getByRole('button', { name: 'Views', exact: true }).click();
  await page.getByRole('menuitemradio', { name: 'By project' }).click();
  await header(page, 'Project').waitFor();
  assert.equal(await header(page, 'Kind').count(), 0);
  assert.equal(chosen(page), 'due,title,status,assignee,project');
});

test('chosen columns have room: a table that is too wide scrolls, the page does not', async (t) => {
  const all =
    'rank,movement,score,title,status,owner,due,project,category,kind,residual,strategy,review,tasks,raised,updated';
  const page = await console.open(t, `/risks?columns=${all}`);
  await page.locator('.scrolling').waitFor();
  await assertAccessible(page, 'all columns');
  for (const width of [1440, 1024, 390]) {
    await page.setViewportSize({ width, height: 800 });
    const widths = await page.evaluate(() => ({
      page: document.documentElement.scrollWidth - innerWidth,
      title: document.querySelector('.table td:has(.row-link)')?.clientWidth ?? 0,
    }));
    assert.ok(widths.page <= 0, `the page is ${widths.page} too wide at ${width}`);
    assert.ok(widths.title >= 200, `the title has ${widths.title} at ${width}`);
    await page.getByRole('region', { name: 'Risks, all columns' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => (document.querySelector('.scrolling')?.scrollLeft ?? 0) > 0);
  }
});

test('a list is sorted by its columns in both directions, and its order is remembered', async (t) => {
  const page = await console.open(t, '/risks');
  const titles = () => page.locator('tbody .row-link').allTextContents();
  const assertSorted = async (sort: string) => {
    await page.waitForURL((url) => url.searchParams.get('sort') === sort);
    await waitUntilLoaded(page);
    const { data } = await console.get(`/v1/risks?sort=${sort}&limit=10`);
    const expected = data.map(({ title }: { title: string }) => title);
    assert.deepEqual((await titles()).slice(0, 10), expected, sort);
  };
  await header(page, 'Change, 30 days').waitFor();
  for (const [name, ...sorts] of [
    ['Score', '-score', 'score'],
    ['Risk', 'title', '-title'],
    ['Status', 'status', '-status'],
    ['Owner', 'owner_name', '-owner_name'],
    ['Due', 'due_on', '-due_on'],
  ] as const) {
    for (const sort of sorts) {
      await header(page, name).getByRole('button').click();
      await assertSorted(sort);
    }
  }
  // The movement belongs to the ranks.
  assert.equal(await header(page, 'Change, 30 days').count(), 0);
  await page.getByRole('link', { name: 'Issues', exact: true }).click();
  await page.waitForURL(/issues$/);
  await waitUntilLoaded(page);
  await page.getByRole('link', { name: 'Risks', exact: true }).click();
  await assertSorted('-due_on');
  // A link with filters is shown as it was sent.
  await visit(page, '/risks?level=critical');
  assert.doesNotMatch(page.url(), /sort/);
  await page.goto('/risks');
  await assertSorted('-due_on');
  await header(page, 'Rank').getByRole('button').click();
  await page.waitForURL(/risks$/);
  await page.reload();
  await waitUntilLoaded(page);
  await header(page, 'Change, 30 days').waitFor();
  assert.doesNotMatch(page.url(), /sort/);
});

test('a list is in the remembered order however it is opened, and keeps it without filters', async (t) => {
  const page = await console.open(t, '/risks');
  const { data } = await console.get('/v1/risks?sort=title&limit=10');
  const expected = data.map(({ title }: { title: string }) => title);
  const assertSorted = async () => {
    await page.waitForURL((url) => url.search === '?sort=title');
    await page.locator('th[aria-sort=ascending]', { hasText: 'Risk' }).waitFor();
    await waitUntilLoaded(page);
    const titles = await page.locator('tbody .row-link').allTextContents();
    assert.deepEqual(titles.slice(0, 10), expected);
  };
  await header(page, 'Risk').getByRole('button').click();
  await assertSorted();
  await page.getByRole('link', { name: 'Risks', exact: true }).click();
  await assertSorted();
  await page.goto('/risks?new=true');
  await page.getByRole('dialog', { name: 'Create risk' }).waitFor();
  await page.keyboard.press('Escape');
  await assertSorted();
  await page.goto('/risks?sort=title&level=critical&unowned=true');
  await page.getByRole('button', { name: 'Clear all' }).click();
  await assertSorted();
  // The previous page, not the list in another order.
  await page.getByRole('link', { name: 'Issues', exact: true }).click();
  await page.getByRole('link', { name: 'Risks', exact: true }).click();
  await assertSorted();
  await header(page, 'Risk').getByRole('button').click();
  await page.waitForURL(/sort=-title/);
  await page.goBack();
  await page.waitForURL(/issues$/);
  // An order that the list no longer has is ignored.
  await page.evaluate(() => localStorage.setItem('muster-sort risks', 'no_such_order'));
  await page.goto('/risks');
  await page.locator('tbody .row-link').first().waitFor();
  assert.equal(new URL(page.url()).search, '');
});

test('the change in 30 days is not offered in another order, but stays chosen', async (t) => {
  const page = await console.open(t, '/risks?sort=title');
  for (const path of ['/risks?sort=title', '/projects/APOLLO?tab=risks&sort=title&columns=movement,title']) {
    await visit(page, path);
    await page.locator('tbody .row-link').first().waitFor();
    assert.equal(await header(page, 'Change, 30 days').count(), 0, path);
    await button(page).click();
    await option(page, 'Category').click();
    assert.equal(await option(page, 'Change, 30 days').count(), 0, path);
    await closeMenu(page);
    await header(page, 'Category').waitFor();
    await page.locator('th[aria-sort=ascending]').getByRole('button').click();
    await page.locator('th[aria-sort=descending]').getByRole('button').click();
    await page.waitForURL((url) => !url.searchParams.has('sort'));
    await header(page, 'Change, 30 days').waitFor();
  }
});

test('the menu has a mark only at shown columns', async (t) => {
  const page = await console.open(t, '/risks');
  for (const width of [1280, 1100]) {
    await page.setViewportSize({ width, height: 800 });
    await visit(page, '/risks');
    await header(page, 'Due').waitFor({ state: width === 1280 ? 'visible' : 'hidden' });
    await button(page).click();
    await menu(page).waitFor();
    assert.equal(await option(page, 'Due').getAttribute('aria-checked'), String(width === 1280));
    assert.equal(await option(page, 'Owner').getAttribute('aria-checked'), 'true');
    await closeMenu(page);
  }
});
