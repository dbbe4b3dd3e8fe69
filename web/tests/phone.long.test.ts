import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { startConsole, test, visit } from './console.ts';
import { coveredByMessages } from './page.ts';

const console = startConsole();
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true };

const row = (page: Page, title: string) => page.getByRole('row', { name: title });

const choose = async (page: Page, key: string, action: string) => {
  await page.getByRole('button', { name: `Actions for ${key}` }).click();
  await page.getByRole('menuitem', { name: action }).click();
};

test('on a phone each row shows status, owner, due date and change, and has a menu of actions', async (t) => {
  const { user_id } = await console.post('/v1/personnel', { name: 'Phone Owner With A Long Name' });
  const project = '/v1/projects/APOLLO';
  const risk = await console.post(`${project}/risks`, {
    title: 'On a phone 7719',
    probability: 2,
    impact: 2,
    owner_user_id: user_id,
    raised_on: '2020-01-01',
    due_on: '2020-05-01',
  });
  const issue = await console.post(`${project}/issues`, {
    title: 'On a phone 7719',
    assignee_user_id: user_id,
  });
  const task = await console.post(`${project}/tasks`, { title: 'On a phone 7719', due_on: '2020-05-01' });
  const page = await console.open(t, '/risks?q=7719', phone);
  const line = row(page, risk.title).locator('.phone-line');
  for (const text of ['Open', 'Phone Owner', 'Overdue: ', '1 May 2020', 'New'])
    await line.getByText(text).waitFor();
  const { right, height } = await line.evaluate((one) => {
    const inside = [...one.children].map((part) => part.getBoundingClientRect());
    const ends = inside.map((part) => part.right);
    return { right: Math.max(...ends), height: one.getBoundingClientRect().height };
  });
  assert.ok(right <= 390 && height < 24, `the line ends at ${right} and is ${height} high`);

  // The ranks are those of the list without filters, so the titles get their room.
  const title = await row(page, risk.title).locator('td:has(.row-link)').boundingBox();
  assert.ok((title?.width ?? 0) > 200, `the title has ${title?.width}`);

  await choose(page, risk.key, 'Rate…');
  await page.getByRole('button', { name: /^Probability 5 .*, impact 5 / }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await row(page, risk.title).getByText('25', { exact: true }).waitFor();
  await choose(page, risk.key, 'Assign…');
  await page
    .getByRole('dialog', { name: 'Assign 1 risk' })
    .getByRole('button', { name: 'Clear owner' })
    .click();
  await line.getByText('No owner').waitFor();

  await visit(page, '/issues?q=7719');
  await row(page, issue.title).locator('.phone-line').getByText('Phone Owner').waitFor();
  await choose(page, issue.key, 'Resolve…');
  await page.getByRole('dialog').getByRole('button', { name: 'Resolve' }).click();
  await page.getByText('No open issues match these filters').waitFor();
  assert.equal((await console.get(`${project}/issues/${issue.key}`)).status, 'resolved');

  for (const path of ['/tasks?q=7719', '/projects/APOLLO?tab=tasks&q=7719']) {
    await console.patch(`${project}/tasks/${task.key}`, { status: 'todo' });
    await visit(page, path);
    await choose(page, task.key, 'Mark as done');
    await page.locator('.toast', { hasText: `Marked ${task.key} as done` }).waitFor();
    assert.equal((await console.get(`${project}/tasks/${task.key}`)).status, 'done');
  }
});

test('a key that only reads has no menu on the rows', async (t) => {
  const page = await console.open(t, '/tasks', { ...phone, scopes: ['projects.read'] });
  await page.locator('.phone-line').first().waitFor();
  assert.equal(await page.getByRole('button', { name: /^Actions for/ }).count(), 0);
});

test('messages cover no button, title or score, on any screen and after scrolling', async (t) => {
  const { data } = await console.get('/v1/tasks?limit=3');
  const page = await console.open(t, '/tasks', phone);
  for (const [width, height] of [
    [390, 844],
    [1024, 700],
    [1440, 900],
  ] as const) {
    await page.setViewportSize({ width, height });
    await visit(page, '/tasks');
    const { key, title } = data[[390, 1024, 1440].indexOf(width)];
    if (width === 390) await choose(page, key, 'Mark as done');
    else
      await page
        .getByRole('button', { name: `Mark as done: ${title}` })
        .first()
        .click();
    await page.locator('.toast').first().waitFor();
    for (const top of [0, 333]) {
      await page.evaluate((top) => scrollTo(0, top), top);
      await page.mouse.move(0, 0);
      await page.evaluate(
        () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
      );
      assert.deepEqual(await coveredByMessages(page), [], `${width} wide, scrolled by ${top}`);
    }
  }
});
