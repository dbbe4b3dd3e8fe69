import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { screenshot, startConsole, test, visit } from './console.ts';
import { daysAgo, inDays, pick } from './page.ts';

let user_id: string;
const project = '/v1/projects/MINE';

const console = startConsole({
  async fill() {
    ({ user_id } = await console.post('/v1/personnel', { name: 'Mia Work', email: 'mia@example.com' }));
    await console.post('/v1/personnel', { name: 'Sam Successor' });
    await console.post('/v1/projects', { name: 'Mine', key: 'MINE' });
    const assigned = { assignee_user_id: user_id };
    const owned = { owner_user_id: user_id };
    await console.post(`${project}/tasks`, { title: 'Call the port', ...assigned, due_on: daysAgo(3) });
    await console.post(`${project}/tasks`, { title: 'Some day', ...assigned });
    await console.post(`${project}/issues`, { title: 'Crane stopped', ...assigned, due_on: inDays(2) });
    await console.post(`${project}/risks`, { title: 'Strike', ...owned, review_on: daysAgo(1) });
    const { key } = await console.post(`${project}/risks`, { title: 'Storm', ...owned });
    const acceptance = { acceptance_reason: 'Insured.', accepted_until: inDays(20) };
    await console.patch(`${project}/risks/${key}`, { status: 'accepted', ...acceptance });
    const body = `Please look at this, @${user_id}`;
    await console.post(`${project}/risks/${key}/comments`, { body });
  },
});

const section = (page: Page, name: string | RegExp) => page.getByRole('region', { name });
const message = (page: Page, text: string) => page.locator('.toast', { hasText: text });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** Opens the menu of an item and chooses an action in it. */
async function choose(page: Page, key: string, action: string): Promise<void> {
  await button(page, `More actions for ${key}`).click();
  await page.getByRole('menuitem', { name: action }).click();
}

test('a person starts with what waits for them, and deals with it in place', async (t) => {
  const page = await console.open(t, '/', { user_id });
  await page.getByRole('heading', { name: 'My work' }).waitFor();
  assert.deepEqual(
    await page
      .locator('nav[aria-label=Pages] a')
      .allTextContents()
      .then((all) => all.slice(0, 3)),
    ['My work', 'Overview', 'Risks'],
  );
  const overdue = section(page, /^Overdue/);
  assert.deepEqual(await overdue.locator('.work-item a').allTextContents(), ['Call the port', 'Strike']);
  assert.deepEqual(await overdue.locator('.work-day').allTextContents(), [
    '3 days overdue',
    'Review 1 day overdue',
  ]);
  const soon = section(page, /^Due soon/);
  assert.deepEqual(await soon.locator('.work-item a').allTextContents(), ['Crane stopped', 'Storm']);
  assert.deepEqual(
    await section(page, /^Tasks/)
      .locator('.work-item a')
      .allTextContents(),
    ['Some day'],
  );
  await screenshot(page, 'my-work');
  const totals = await page.locator('.work-totals').textContent();
  assert.match(
    totals ?? '',
    /^2 tasks · 1 issue \(assigned, owned\) · 2 risks · 1 review due · 1 acceptance/,
  );

  await button(page, 'Done MINE-T1').click();
  await overdue.getByText('Call the port').waitFor({ state: 'detached' });
  assert.equal((await console.get(`${project}/tasks/MINE-T1`)).status, 'done');
  // The next row has the focus of the one that is gone.
  await page.waitForFunction(() => document.activeElement?.textContent === 'Strike');
  await message(page, 'Marked MINE-T1 as done').getByRole('button', { name: 'Undo' }).click();
  await overdue.getByText('Call the port').waitFor();

  await button(page, 'Still valid… MINE-R1').click();
  const review = page.getByRole('dialog', { name: 'Is MINE-R1 still valid?' });
  assert.equal(await review.getByLabel('Next review').inputValue(), '90');
  await review.getByLabel('Reason').fill('Talks go on.');
  await review.getByRole('button', { name: 'Still valid' }).click();
  await overdue.getByText('Strike').waitFor({ state: 'detached' });
  assert.equal((await console.get(`${project}/risks/MINE-R1`)).review_on, inDays(90));
  const { data: history } = await console.get(`${project}/risks/MINE-R1/history`);
  assert.deepEqual([history.at(-1).reason, history.at(-1).actor.name], ['Talks go on.', 'Mia Work']);
  await section(page, /^Risks/)
    .getByText('Strike')
    .waitFor();

  await button(page, 'Resolve… MINE-I1').click();
  const resolve = page.getByRole('dialog', { name: 'Resolve MINE-I1' });
  await resolve.getByLabel('Resolution').selectOption('fixed');
  await resolve.getByRole('button', { name: 'Resolve' }).click();
  await soon.getByText('Crane stopped').waitFor({ state: 'detached' });

  await button(page, 'Extend… MINE-R2').click();
  const extend = page.getByRole('dialog', { name: 'Extend the acceptance of MINE-R2' });
  await extend.getByLabel('Accept until').fill(inDays(200));
  await extend.getByRole('button', { name: 'Extend' }).click();
  await message(page, 'Accepted MINE-R2 until').waitFor();
  const extended = await console.get(`${project}/risks/MINE-R2`);
  assert.deepEqual([extended.accepted_until, extended.accepted_by_user_id], [inDays(200), user_id]);

  await button(page, 'Reassess… MINE-R1').click();
  await page.getByRole('button', { name: /^Probability 5 .*, impact 5 / }).click();
  await button(page, 'Save').click();
  await message(page, 'Assessed MINE-R1: score 25').waitFor();

  await choose(page, 'MINE-T2', 'Hand over…');
  const handOver = page.getByRole('dialog', { name: 'Hand over MINE-T2' });
  await pick(page, 'Hand over to', 'Sam Succ');
  await handOver.getByRole('button', { name: 'Hand over' }).click();
  await message(page, 'Handed over MINE-T2 to Sam Successor').waitFor();
  await page.getByText('Some day').waitFor({ state: 'detached' });

  await section(page, /^Mentions/)
    .getByRole('link')
    .click();
  await page.getByRole('heading', { name: 'Storm' }).waitFor();
  await page.waitForFunction(() => document.activeElement?.matches('.comment.linked'));
  assert.match(page.url(), /\/risks\/MINE-R2#cmt_\w+$/);
});

test('a person is a choice in filters and forms, and views are about whoever opens them', async (t) => {
  const page = await console.open(t, '/risks', { user_id });
  await page.locator('.filters').getByRole('button', { name: 'Owner', exact: true }).click();
  await page.getByRole('option').first().waitFor();
  assert.equal(await page.getByRole('option').first().textContent(), 'Me');
  await page.getByRole('option').first().click();
  await page.waitForURL('**/risks?owner_user_id=me');
  await page
    .locator('.summary-line')
    .getByText(/2 .*risks/)
    .waitFor();
  await page.getByRole('button', { name: 'Owner Me' }).waitFor();

  await visit(page, '/risks?new=true');
  const owner = page.getByRole('combobox', { name: 'Owner', exact: true });
  await owner.click();
  await owner.press('ArrowDown');
  const first = page.locator('[role=option]').first();
  await first.waitFor();
  assert.match((await first.textContent()) ?? '', /^Me \(Mia Work\)/);
  await pick(page, 'Owner', 'me', 'Me (Mia Work)');
  assert.equal(await owner.inputValue(), 'Me (Mia Work)');

  // The key of a program is nobody.
  const program = await console.open(t, '/risks?owner_user_id=me');
  await program.getByText('Owner: This filter is “Me”, but you signed in with a key.').first().waitFor();
  await program.getByRole('button', { name: 'Clear filters' }).first().click();
  await program.locator('.summary-line').waitFor();
  await visit(program, '/');
  await program.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  assert.equal(await program.getByRole('link', { name: 'My work' }).count(), 0);
  await visit(program, '/overview');
  await program.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  assert.equal(await program.locator('nav [aria-current=page]').textContent(), 'Overview');
});
