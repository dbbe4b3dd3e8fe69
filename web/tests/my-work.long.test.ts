import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible } from './axe.ts';
import { screenshot, startConsole, test, visit, waitUntilLoaded } from './console.ts';
import { assertFits, daysAgo, inDays, layoutShift } from './page.ts';

const console = startConsole();

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const message = (page: Page, text: string) => page.locator('.toast', { hasText: text });
const section = (page: Page, name: RegExp) => page.getByRole('region', { name });

async function choose(page: Page, key: string, action: string): Promise<void> {
  await button(page, `More actions for ${key}`).click();
  await page.getByRole('menuitem', { name: action }).click();
}

let projects = 0;

/** A person with a project of their own, and what creates items in it. */
async function withPerson(name: string) {
  const { user_id } = await console.post('/v1/personnel', { name });
  projects += 1;
  const key = `MINE${projects}`;
  await console.post('/v1/projects', { name: `Project of ${name}`, key });
  const path = `/v1/projects/${key}`;
  const create = (list: string, body: object) => console.post(`${path}/${list}`, body);
  return { user_id, key, path, create };
}

const open = (t: TestContext, user_id: string, options: object = {}) =>
  console.open(t, '/', { user_id, ...options });

test('what waits is accessible and fits, with each of its dialogs, on a desktop and a phone in both themes', async (t) => {
  const { user_id, key, path, create } = await withPerson('Ada Accessible');
  const title = 'A very long title of an item that does not fit on one line of a phone or of a small laptop';
  await create('tasks', { title, assignee_user_id: user_id, due_on: daysAgo(400) });
  await create('issues', { title, assignee_user_id: user_id, severity: 'critical', due_on: inDays(1) });
  await create('risks', { title, owner_user_id: user_id, probability: 5, impact: 5, review_on: daysAgo(40) });
  await create('risks', { title, owner_user_id: user_id });
  await console.patch(`${path}/risks/${key}-R2`, {
    status: 'accepted',
    acceptance_reason: 'Insured.',
    accepted_until: inDays(9),
  });
  await create('risks', { title, owner_user_id: user_id, probability: 2, impact: 2 });
  const body = `${'Please look at this. '.repeat(20)} @${user_id}`;
  await console.post(`${path}/risks/${key}-R3/comments`, { body });
  const page = await open(t, user_id);
  const dialogs: [button: string, action?: string][] = [
    [`Resolve… ${key}-I1`],
    [`Still valid… ${key}-R1`],
    [`Extend… ${key}-R2`],
    [`Reassess… ${key}-R3`],
    [`More actions for ${key}-I1`],
    [`More actions for ${key}-R2`, 'Reopen…'],
    [`More actions for ${key}-T1`, 'Hand over…'],
    [`More actions for ${key}-I1`, 'Mark as blocked…'],
  ];
  for (const [width, colorScheme] of [
    [1440, 'light'],
    [1440, 'dark'],
    [1024, 'light'],
    [390, 'light'],
    [390, 'dark'],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    const where = `my work at ${width} in ${colorScheme}`;
    await assertFits(page, where);
    await assertAccessible(page, where);
    await screenshot(page, `my-work-${width}-${colorScheme}`, { isWhole: true });
    if (width === 1024) continue;
    for (const [name, action] of dialogs) {
      await button(page, name).click();
      if (action) await page.getByRole('menuitem', { name: action }).click();
      const layer = page.locator(action || !name.startsWith('More') ? '.overlay' : '.popover');
      await layer.waitFor();
      await assertFits(page, `${where}: ${name}`);
      await assertAccessible(page, `${where}: ${name} ${action}`);
      await page.keyboard.press('Escape');
      await layer.waitFor({ state: 'detached' });
    }
  }
  // The page does not move once it has its contents.
  const fresh = await open(t, user_id);
  const shift = await layoutShift(fresh);
  assert.ok(shift <= 0.01, `the layout shifted by ${shift}`);
});

test('the status of an issue changes in place, and an acceptance ends', async (t) => {
  const { user_id, key, path, create } = await withPerson('Ines Issue');
  await create('issues', { title: 'Crane', assignee_user_id: user_id, owner_user_id: user_id });
  await create('risks', { title: 'Storm', owner_user_id: user_id });
  const acceptance = { acceptance_reason: 'Insured.', accepted_until: inDays(3) };
  await console.patch(`${path}/risks/${key}-R1`, { status: 'accepted', ...acceptance });
  const page = await open(t, user_id);
  const status = section(page, /^Issues/)
    .locator('.chip')
    .last();
  await choose(page, `${key}-I1`, 'Start work');
  await status.getByText('In progress').waitFor();
  await message(page, `Moved ${key}-I1 to In progress`).getByRole('button', { name: 'Undo' }).click();
  await status.getByText('Open').waitFor();
  await choose(page, `${key}-I1`, 'Mark as blocked…');
  await page.getByLabel('Blocker').fill('No spare part.');
  await button(page, 'Mark as blocked').click();
  await status.getByText('Blocked').waitFor();

  await button(page, `Extend… ${key}-R1`).click();
  const extend = page.getByRole('dialog', { name: `Extend the acceptance of ${key}-R1` });
  await extend.getByRole('button', { name: 'Extend' }).click();
  await extend.getByText('Choose another end date.').waitFor();
  await extend.getByRole('button', { name: 'Cancel' }).click();
  await choose(page, `${key}-R1`, 'Reopen…');
  await page.getByLabel('Reason').fill('No longer insured.');
  await button(page, 'Reopen').click();
  await message(page, `Reopened ${key}-R1`).waitFor();
  await section(page, /^Risks/)
    .getByText('Storm')
    .waitFor();

  // Both parts of the person go to the other one, and come back.
  const { user_id: other } = await console.post('/v1/personnel', { name: 'Ulla Unique' });
  await choose(page, `${key}-I1`, 'Hand over…');
  const picker = page.getByRole('combobox', { name: 'Hand over to' });
  await picker.press('ArrowDown');
  await page.locator('[role=option]').first().waitFor();
  assert.equal(await page.locator('[role=option]', { hasText: 'Me (' }).count(), 0);
  await picker.fill('Ulla');
  await page.locator('[role=option][data-focused]', { hasText: 'Ulla Unique' }).waitFor();
  await picker.press('Enter');
  await button(page, 'Hand over').click();
  await message(page, `Handed over ${key}-I1 to Ulla Unique`).waitFor();
  const people = async () => {
    const { assignee_user_id, owner_user_id } = await console.get(`${path}/issues/${key}-I1`);
    return [assignee_user_id, owner_user_id];
  };
  assert.deepEqual(await people(), [other, other]);
  await message(page, 'Handed over').getByRole('button', { name: 'Undo' }).click();
  await message(page, 'Undone').waitFor();
  assert.deepEqual(await people(), [user_id, user_id]);
});

test('others see their changes in my work at once, and a change in between is reported', async (t) => {
  const { user_id, key, path, create } = await withPerson('Liv Live');
  const page = await open(t, user_id);
  await page.getByRole('heading', { name: "You're all caught up" }).waitFor();
  await assertAccessible(page, 'nothing to do');
  await create('risks', { title: 'Strike', owner_user_id: user_id, review_on: daysAgo(1) });
  await section(page, /^Overdue/)
    .getByText('Strike')
    .waitFor();
  await button(page, `Still valid… ${key}-R1`).click();
  await console.patch(`${path}/risks/${key}-R1`, { category: 'Labor' });
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Next review').selectOption('30');
  await dialog.getByRole('button', { name: 'Still valid' }).click();
  // The first attempt fails, because somebody else has changed the risk, and loads it again.
  await dialog.getByRole('alert').waitFor();
  await dialog.getByRole('button', { name: 'Still valid' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal((await console.get(`${path}/risks/${key}-R1`)).review_on, inDays(30));
});

test('a mention opens an old comment and one on a project', async (t) => {
  const { user_id, key, path, create } = await withPerson('Mo Mention');
  await create('risks', { title: 'Discussed' });
  const comment = (at: string, body: string) => console.post(`${at}/comments`, { body });
  await comment(`${path}/risks/${key}-R1`, `Early, @${user_id}`);
  for (let i = 0; i < 25; i += 1) await comment(`${path}/risks/${key}-R1`, `Comment ${i}`);
  await comment(path, `On the project, @${user_id}`);
  const page = await open(t, user_id);
  const isAtComment = (text: string) =>
    page.waitForFunction((text) => {
      const { activeElement } = document;
      const top = activeElement?.getBoundingClientRect().top ?? -1;
      return (
        activeElement?.matches('.comment.linked') &&
        activeElement.textContent?.includes(text) &&
        top > 0 &&
        top < innerHeight
      );
    }, text);
  await page.getByRole('link', { name: 'On the project, @Mo Mention' }).click();
  await isAtComment('On the project');
  await page.goBack();
  await page.getByRole('link', { name: 'Early, @Mo Mention' }).click();
  await isAtComment('Early');
  assert.equal(await button(page, 'Show 6 earlier').count(), 0);
});

test('a person who can only read sees no actions, and without people only "Me" as a filter', async (t) => {
  const { user_id, create } = await withPerson('Rea Reader');
  await create('tasks', { title: 'Read only', assignee_user_id: user_id });
  await create('risks', { title: 'Read only', owner_user_id: user_id });
  const page = await open(t, user_id, { scopes: ['projects.read'] });
  await page.getByRole('link', { name: 'Read only' }).first().waitFor();
  assert.equal(await page.locator('.work button').count(), 0);
  await visit(page, '/risks');
  await button(page, 'Owner: Me').click();
  await page.waitForURL('**/risks?owner_user_id=me');
  await page.getByRole('link', { name: 'Read only' }).waitFor();
  assert.deepEqual(await page.locator('tbody .row-link').allTextContents(), ['Read only']);
  await button(page, 'Owner: Me').click();
  await page.waitForURL((url) => url.search === '');
});

test('a shared view of "Me" is about whoever opens it', async (t) => {
  const [one, other] = [await withPerson('Vera View'), await withPerson('Otto Other')];
  await one.create('tasks', { title: 'Of Vera', assignee_user_id: one.user_id });
  await other.create('tasks', { title: 'Of Otto', assignee_user_id: other.user_id });
  const page = await console.open(t, '/tasks?assignee_user_id=me', { user_id: one.user_id });
  await page.getByRole('link', { name: 'Of Vera' }).waitFor();
  await button(page, 'Views').click();
  await page.getByRole('menuitem', { name: 'Save as view…' }).click();
  await page.getByLabel('Name').fill('Assigned to me');
  await page.getByLabel('Visible to').selectOption('everyone');
  await button(page, 'Save view').click();
  await page.locator('.overlay').waitFor({ state: 'detached' });
  const second = await console.open(t, '/tasks', { user_id: other.user_id });
  await button(second, 'Views').click();
  await second.getByRole('menuitemradio', { name: /Assigned to me/ }).click();
  await second.waitForURL('**/tasks?assignee_user_id=me');
  await waitUntilLoaded(second);
  assert.deepEqual(await second.locator('tbody .row-link').allTextContents(), ['Of Otto']);
  await second.getByRole('button', { name: 'Assignee Me' }).waitFor();
});

test('the keyboard goes from item to item, and to the page of each', async (t) => {
  const { user_id, create } = await withPerson('Kim Keyboard');
  await create('tasks', { title: 'First', assignee_user_id: user_id, due_on: daysAgo(2) });
  await create('tasks', { title: 'Second', assignee_user_id: user_id, due_on: daysAgo(1) });
  const page = await open(t, user_id);
  const focused = () => page.evaluate(() => document.activeElement?.textContent);
  await page.keyboard.press('j');
  assert.equal(await focused(), 'First');
  await page.keyboard.press('j');
  assert.equal(await focused(), 'Second');
  await page.keyboard.press('k');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.activeElement?.textContent === 'Second');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Second' }).waitFor();
});
