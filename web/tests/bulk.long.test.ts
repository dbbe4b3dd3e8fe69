import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible } from './axe.ts';
import { startConsole, test, visit, waitUntilLoaded } from './console.ts';
import { assertFits, hold, inDays, setHidden } from './page.ts';

const console = startConsole();

type Item = { key: string; id: string };

/** A project with four items of one kind and the page that lists them. */
async function openList(t: TestContext, kind: 'risks' | 'issues' | 'tasks', options: object = {}) {
  const { key: project } = await console.post('/v1/projects', { name: `Bulk ${kind} ${Math.random()}` });
  const items: Item[] = [];
  for (let i = 1; i <= 4; i++) {
    const input = { title: `Item ${i}`, due_on: `2999-01-0${i}` };
    items.push(await console.post(`/v1/projects/${project}/${kind}`, input));
  }
  const page = await console.open(t, `/${kind}?project=${project}`, {
    ...options,
  });
  if (page) await waitUntilLoaded(page);
  const read = async (field: string) => {
    const { data } = await console.get(`/v1/projects/${project}/${kind}?status=all`);
    const values = new Map(data.map((item: Record<string, string>) => [item.key, item[field]]));
    return items.map(({ key }) => values.get(key));
  };
  return { page, project, items, read };
}

const bar = (page: Page) => page.getByRole('region', { name: 'Selected rows' });

const checkbox = (page: Page, { key }: Item | { key: string }) =>
  page.getByRole('checkbox', { name: `Select ${key}`, exact: true });

const answer = async (page: Page, dialog: string, action: string) => {
  await page.getByRole('dialog', { name: dialog }).getByRole('button', { name: action, exact: true }).click();
  await page.getByRole('dialog', { name: dialog }).waitFor({ state: 'detached' });
};

test('selected issues are assigned, given a status and a due date, and restored by Undo', async (t) => {
  const { user_id } = await console.post('/v1/personnel', { name: 'Bulk Assignee' });
  const { page, items, read } = await openList(t, 'issues');
  const [first, second, third, fourth] = items as [Item, Item, Item, Item];
  await checkbox(page, first).click();
  await checkbox(page, third).click({ modifiers: ['Shift'] });
  await bar(page).getByText('3 selected').waitFor();
  assert.equal(await checkbox(page, second).isChecked(), true);
  await checkbox(page, second).click();
  await bar(page).getByText('2 selected').waitFor();
  await assertAccessible(page, 'the bar of selected rows');
  await bar(page).getByRole('button', { name: 'Assign…' }).click();
  await page.getByRole('combobox', { name: 'Assignee' }).fill('Bulk Ass');
  await page.getByRole('option', { name: 'Bulk Assignee' }).click();
  await answer(page, 'Assign 2 issues', 'Assign');
  await page.getByText('Assigned 2 issues to Bulk Assignee').waitFor();
  assert.deepEqual(await read('assignee_user_id'), [user_id, null, user_id, null]);
  await bar(page).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Undone').waitFor();
  assert.deepEqual(await read('assignee_user_id'), [null, null, null, null]);

  await page.getByRole('checkbox', { name: 'Select all loaded rows' }).click();
  await bar(page).getByRole('button', { name: 'Set status…' }).click();
  await page.getByRole('menuitem', { name: 'In progress' }).click();
  await page.getByText('Updated 4 issues').waitFor();
  assert.deepEqual(await read('status'), Array(4).fill('in_progress'));

  await checkbox(page, fourth).click();
  await bar(page).getByRole('button', { name: 'Set due date…' }).click();
  await page.getByLabel('Due', { exact: true }).fill('2998-02-03');
  await answer(page, 'Set due date', 'Update 1 issue');
  await page.getByText('Updated 1 issue', { exact: true }).waitFor();
  assert.deepEqual(await read('due_on'), ['2999-01-01', '2999-01-02', '2999-01-03', '2998-02-03']);
});

test('after a bulk change by mouse, the focus is at the top of the rows', async (t) => {
  const { page, items } = await openList(t, 'issues');
  const [first, second] = items as [Item, Item];
  const isAtRows = () =>
    page.waitForFunction(() => document.activeElement?.ariaLabel === 'Select all loaded rows');
  await checkbox(page, first).click();
  await bar(page).getByRole('button', { name: 'Set due date…' }).click();
  await page.getByLabel('Due', { exact: true }).fill('2998-02-03');
  await answer(page, 'Set due date', 'Update 1 issue');
  await isAtRows();
  await checkbox(page, second).click();
  await bar(page).getByRole('button', { name: 'Set status…' }).click();
  await page.getByRole('menuitem', { name: 'In progress' }).click();
  await bar(page).waitFor({ state: 'detached' });
  await isAtRows();
});

test('selected risks are given to a group', async (t) => {
  const { id } = await console.post('/v1/groups', { name: 'Bulk Owners' });
  const { page, items, read } = await openList(t, 'risks');
  const [first, second] = items as [Item, Item];
  await checkbox(page, first).click();
  await checkbox(page, second).click();
  await bar(page).getByText('2 selected').waitFor();
  await bar(page).getByRole('button', { name: 'Assign…', exact: true }).click();
  await page.getByRole('combobox', { name: 'Owning group', exact: true }).fill('Bulk Own');
  await page.getByRole('option', { name: 'Bulk Owners', exact: true }).click();
  await answer(page, 'Assign 2 risks', 'Assign');
  await page.getByText('Assigned 2 risks to Bulk Owners', { exact: true }).waitFor();
  assert.deepEqual(await read('owner_group_id'), [id, id, null, null]);
});

test('a refused bulk change lists each reason with a link, and keeps what was entered for the rest', async (t) => {
  const { page, items, read, project } = await openList(t, 'issues');
  const [first, second] = items as [Item, Item];
  await console.patch(`/v1/projects/${project}/issues/${first.key}`, { raised_on: '2026-01-01' });
  await visit(page, `/issues?project=${project}`);
  await page.getByRole('checkbox', { name: 'Select all loaded rows' }).click();
  await bar(page).getByRole('button', { name: 'Set due date…' }).click();
  await page.getByLabel('Due', { exact: true }).fill('2026-02-01');
  await page.getByRole('button', { name: 'Update 4 issues' }).click();
  const dialog = page.getByRole('dialog', { name: 'Nothing was changed' });
  await dialog.getByText("3 issues can't be changed.").waitFor();
  assert.equal(await dialog.getByRole('link', { name: second.key }).count(), 1);
  assert.equal(await dialog.getByText('Due is before Raised.').count(), 3);
  assert.equal((await read('due_on'))[0], '2999-01-01');
  await dialog.getByRole('button', { name: 'Deselect 3' }).click();
  const form = page.getByRole('dialog', { name: 'Set due date' });
  await form.getByText('Nothing was changed.').waitFor();
  assert.equal(await form.getByLabel('Due').inputValue(), '2026-02-01');
  await answer(page, 'Set due date', 'Update 1 issue');
  assert.equal((await read('due_on'))[0], '2026-02-01');
});

test('risks are closed together with a reason; Undo restores what nobody has changed since', async (t) => {
  const { page, items, read, project } = await openList(t, 'risks');
  await visit(page, `/risks?project=${project}&status=all`);
  await page.getByRole('checkbox', { name: 'Select all loaded rows' }).click();
  await bar(page).getByRole('button', { name: 'Set status…' }).click();
  assert.equal(await page.getByRole('menuitem', { name: 'Occurred' }).count(), 0);
  await page.getByRole('menuitem', { name: 'Closed' }).click();
  await page.getByLabel('Reason').fill('The project ended');
  await answer(page, 'Set status to Closed', 'Update 4 risks');
  await page.getByText('Updated 4 risks').waitFor();
  assert.deepEqual(await read('closure_reason'), Array(4).fill('The project ended'));
  await console.patch(`/v1/projects/${project}/risks/${items[2]?.key}`, { lessons: 'Ask earlier' });
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText(`Restored 3 of 4. Changed since: ${items[2]?.key}.`).waitFor();
  assert.deepEqual(await read('status'), ['open', 'open', 'closed', 'open']);
});

test('the activity shows a bulk change once, and undoes all of it but what was changed since', async (t) => {
  const { page, items, read, project } = await openList(t, 'risks');
  await page.getByRole('checkbox', { name: 'Select all loaded rows' }).click();
  await bar(page).getByRole('button', { name: 'Set due date…' }).click();
  await page.getByLabel('Due', { exact: true }).fill('2998-07-01');
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /4 risks/ })
    .click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const [, second] = items as [Item, Item];
  await console.patch(`/v1/projects/${project}/risks/${second.key}`, { title: 'Changed since' });
  await visit(page, '/overview');
  const entry = page.locator('.activity li').filter({ hasText: 'of 4 risks' });
  await entry.getByText(/changed the due date of 4 risks: .* and 1 more/).waitFor();
  await assertAccessible(page, 'a bulk change in the activity');
  await entry.getByRole('button', { name: /^Undo all/ }).click();
  await page.getByText(`Restored 3 of 4. Changed since: ${second.key}.`).waitFor();
  assert.deepEqual(await read('due_on'), ['2999-01-01', '2998-07-01', '2999-01-03', '2999-01-04']);
  // The undo is a bulk change too.
  const undone = page.locator('.activity li').filter({ hasText: 'of 3 risks' });
  await undone.getByRole('button', { name: /^Undo all/ }).click();
  await page.getByText('Undone: 3 risks').waitFor();
  assert.deepEqual(await read('due_on'), Array(4).fill('2998-07-01'));
});

test('a refused change of statuses names them as the console does', async (t) => {
  const { page, items, project } = await openList(t, 'risks');
  const accepted_until = inDays(30);
  const acceptance = { status: 'accepted', acceptance_reason: 'Small', accepted_until };
  await console.patch(`/v1/projects/${project}/risks/${items[0]?.key}`, acceptance);
  await page.reload();
  await waitUntilLoaded(page);
  await page.getByRole('checkbox', { name: 'Select all loaded rows' }).click();
  await bar(page).getByRole('button', { name: 'Set status…' }).click();
  await page.getByRole('menuitem', { name: 'Monitoring' }).click();
  const reason = 'cannot change from Accepted to Monitoring. Allowed: Open, Mitigating, Occurred, Closed.';
  await page.getByRole('dialog', { name: 'Nothing was changed' }).getByText(reason).waitFor();
});

test('rows are selected and changed with the keyboard alone', async (t) => {
  const { page, read } = await openList(t, 'tasks');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await bar(page).getByText('1 selected').waitFor();
  await page.keyboard.press('Shift+ArrowDown');
  await page.keyboard.press('Shift+ArrowDown');
  await bar(page).getByText('3 selected').waitFor();
  await page.keyboard.press('x');
  await bar(page).getByText('2 selected').waitFor();
  await page.keyboard.press('s');
  await page.getByRole('menu', { name: 'Status' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByText('Updated 2 tasks').waitFor();
  const changed = (await read('status')).filter((status) => status !== 'todo');
  assert.equal(changed.length, 2);
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
  assert.equal(await focused(), 'Select all loaded rows');
  await page.keyboard.press('Space');
  await bar(page)
    .getByText(/\d selected/)
    .waitFor();
  await page.keyboard.press('d');
  await page.getByRole('dialog', { name: 'Set due date' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog', { name: 'Set due date' }).waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await bar(page).waitFor({ state: 'detached' });
});

test('other filters start with nothing selected; a key that cannot write selects nothing', async (t) => {
  const { page, items, project } = await openList(t, 'tasks');
  await checkbox(page, items[0] as Item).click();
  await bar(page).waitFor();
  await page.getByRole('button', { name: 'Overdue' }).click();
  await bar(page).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Overdue' }).click();
  await checkbox(page, items[0] as Item).waitFor();
  assert.equal(await checkbox(page, items[0] as Item).isChecked(), false);
  const reader = await console.open(t, `/tasks?project=${project}`, { scopes: ['projects.read'] });
  assert.equal(await reader.getByRole('checkbox').count(), 0);
});

test('the bar fits a phone and the dark theme', async (t) => {
  const { page, items } = await openList(t, 'risks', { colorScheme: 'dark' });
  await checkbox(page, items[0] as Item).click();
  await bar(page).waitFor();
  await assertAccessible(page, 'the bar', 'colors');
  for (const width of [390, 1024]) {
    await page.setViewportSize({ width, height: 800 });
    const box = await bar(page).boundingBox();
    assert.ok(box && box.x >= 0 && box.x + box.width <= width, JSON.stringify(box));
    await assertFits(page, 'the bar');
  }
});

test('500 rows change in one request, and the console says that it is working', async (t) => {
  const { key: project } = await console.post('/v1/projects', { name: 'Bulk many' });
  const rows = `title\n${Array.from({ length: 501 }, (_, i) => `Task ${i}\n`).join('')}`;
  const { secret } = await console.newKey();
  await fetch(`${console.app.baseUrl}/v1/projects/${project}/tasks/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'text/csv' },
    body: rows,
  });
  const page = await console.open(t, `/tasks?project=${project}`);
  const all = page.getByRole('checkbox', { name: 'Select all loaded rows' });
  await all.click();
  await bar(page).getByText('100 of 501 selected').waitFor();
  await bar(page).getByRole('button', { name: 'Select the first 500' }).click();
  await bar(page).getByText('500 selected').waitFor();
  await bar(page).getByRole('button', { name: 'Clear' }).click();
  while ((await page.locator('.spacer').count()) > 0 && (await loadedRows(page)) < 501) {
    await page.mouse.wheel(0, 100_000);
    await page.waitForTimeout(50);
  }
  await all.click();
  await bar(page).getByText('501 selected (up to 500 at once)').waitFor();
  assert.equal(await bar(page).getByRole('button', { name: 'Set status…' }).isDisabled(), true);
  await page.keyboard.press('Home');
  await page.locator('tbody .select input').first().click();
  await bar(page).getByText('500 selected').waitFor();
  const release = await hold(page, '**/v1/bulk/tasks');
  await bar(page).getByRole('button', { name: 'Set status…' }).click();
  await page.getByRole('menuitem', { name: 'Done' }).click();
  await bar(page).getByText('Updating 500 tasks…').waitFor();
  assert.equal(await bar(page).getByRole('progressbar').count(), 1);
  release();
  await page.getByText('Updated 500 tasks').waitFor();
  const { page: counted } = await console.get(`/v1/projects/${project}/tasks?status=done&count=true&limit=1`);
  assert.equal(counted.total, 500);
});

/** A project with many open issues, the page that lists them with all selected, and one of them that is far below. */
async function selectMany(t: TestContext) {
  const { key: project } = await console.post('/v1/projects', { name: `Bulk far ${Math.random()}` });
  const { secret } = await console.newKey();
  await fetch(`${console.app.baseUrl}/v1/projects/${project}/issues/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'text/csv' },
    body: `title\n${Array.from({ length: 248 }, (_, i) => `Issue ${i}\n`).join('')}`,
  });
  const page = await console.open(t, `/issues?project=${project}`);
  await page.getByRole('checkbox', { name: 'Select all loaded rows' }).click();
  await bar(page).getByRole('button', { name: 'Select all 248' }).click();
  await bar(page).getByText('248 selected', { exact: true }).waitFor();
  const { data } = await console.get(`/v1/issues?project=${project}`);
  const far = data[200];
  const path = `/v1/projects/${project}/issues/${far.key}`;
  const resolve = () =>
    console.patch(path, { status: 'resolved', resolution: 'fixed', resolution_note: 'By somebody else' });
  const assertResolved = async () => {
    const { status, resolution_note } = await console.get(path);
    assert.deepEqual([status, resolution_note], ['resolved', 'By somebody else']);
  };
  const start = async () => {
    await bar(page).getByRole('button', { name: 'Set status…' }).click();
    await page.getByRole('menuitem', { name: 'In progress' }).click();
  };
  const countIn = async (status: string) =>
    (await console.get(`/v1/projects/${project}/issues?status=${status}`)).data.length;
  return { page, far, resolve, start, assertResolved, countIn };
}

test('a selected row that leaves the list far below is not changed, and the result names it', async (t) => {
  const { page, far, resolve, start, assertResolved, countIn } = await selectMany(t);
  await resolve();
  await bar(page).getByText(`247 selected (${far.key} left the list)`).waitFor();
  await start();
  await page
    .getByText(`Updated 247 issues. Not changed, because they have left the list: ${far.key}`)
    .waitFor();
  await assertResolved();
  assert.equal(await countIn('in_progress'), 247);
});

test('a bulk change is refused for rows that have changed since they were shown, by name', async (t) => {
  const { page, far, resolve, start, assertResolved, countIn } = await selectMany(t);
  // The page learns nothing while the tab is hidden.
  await setHidden(page, true);
  await resolve();
  await start();
  const dialog = page.getByRole('dialog', { name: 'Nothing was changed' });
  await dialog.getByText("1 issue can't be changed.").waitFor();
  await dialog
    .getByRole('listitem')
    .filter({ hasText: far.key })
    .getByText('Someone else changed it')
    .waitFor();
  await assertResolved();
  assert.equal(await countIn('in_progress'), 0);
  await dialog.getByRole('button', { name: 'Deselect 1' }).click();
  await start();
  await page.getByText('Updated 247 issues').waitFor();
  await assertResolved();
});

test('a dialog for selected rows keeps what it was opened for', async (t) => {
  const { page, items, read, project } = await openList(t, 'issues');
  const [first, second] = items as [Item, Item];
  for (const one of [first, second]) await checkbox(page, one).click();
  await bar(page).getByRole('button', { name: 'Set due date…' }).click();
  const form = page.getByRole('dialog', { name: 'Set due date' });
  await form.getByLabel('Due', { exact: true }).fill('2998-02-03');
  await setHidden(page, true);
  await console.patch(`/v1/projects/${project}/issues/${second.key}`, { due_on: '2997-01-01' });
  const readAgain = page.waitForResponse((response) => /\/v1\/issues\?/.test(response.url()));
  await setHidden(page, false);
  await readAgain;
  await form.getByRole('button', { name: 'Update 2 issues' }).click();
  const dialog = page.getByRole('dialog', { name: 'Nothing was changed' });
  await dialog.getByRole('listitem').filter({ hasText: second.key }).waitFor();
  assert.equal((await read('due_on'))[1], '2997-01-01');
  await dialog.getByRole('button', { name: 'Deselect 1' }).click();
  await answer(page, 'Set due date', 'Update 1 issue');
  assert.deepEqual((await read('due_on')).slice(0, 2), ['2998-02-03', '2997-01-01']);
});

const loadedRows = (page: Page) =>
  page.evaluate(() => {
    const last = [...document.querySelectorAll('tbody tr[aria-rowindex]')].at(-1);
    return Number(last?.getAttribute('aria-rowindex')) - 1;
  });
