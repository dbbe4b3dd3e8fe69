import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { startConsole, test, visit, waitUntilLoaded } from './console.ts';
import { hasFocus, press, tabTo } from './focus.ts';
import { hold, inDays } from './page.ts';

const console = startConsole();

test('a user signs in, creates a risk and accepts it', async (t) => {
  const page = await console.open(t, '/', { signedIn: false });
  const { secret } = await console.newKey();
  await hasFocus(page, 'Email');
  await tabTo(page, 'Use an API key');
  await page.keyboard.press('Enter');
  await hasFocus(page, 'API key');
  await page.keyboard.type(secret);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Set up your account' }).waitFor();
  await press(page, 'Later');
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await waitUntilLoaded(page);

  await palette(page, 'Risks');
  await page.getByRole('heading', { level: 1, name: 'Risks' }).waitFor();
  await waitUntilLoaded(page);
  await press(page, 'Create risk');
  await page.getByRole('dialog', { name: 'Create risk' }).waitFor();
  await tabTo(page, 'Project');
  await page.keyboard.type('apollo');
  await highlighted(page, /Apollo: passenger/);
  await page.keyboard.press('Enter');
  await tabTo(page, 'Title');
  await page.keyboard.type('Typed, not clicked');
  await page.keyboard.press('Tab');
  await page.keyboard.type('45');
  await press(page, 'Create risk');
  await page.getByRole('heading', { level: 1, name: 'Typed, not clicked' }).waitFor();
  await waitUntilLoaded(page);

  await press(page, 'Accept…');
  await focusedInside(page, 'Accept');
  await tabTo(page, 'Reason');
  await page.keyboard.type('Insured.');
  await tabTo(page, 'Until');
  await page.getByLabel('Until').fill(inDays(30));
  // The score is above the appetite of the project, and a key is nobody who could accept it.
  await choose(page, 'Accepted by', 'Adaeze Eze');
  await press(page, 'Accept risk');
  await page.locator('#status .chip').getByText('Accepted').waitFor();
});

test('a risk is assessed with the arrow keys, with its residual rating and a reason', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Assessed with keys' });
  const page = await console.open(t, `/risks/${key}`);
  await press(page, 'Assess');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: /^Probability 3 \w+, impact 3 .*score 9$/ }).waitFor();
  const isFocused = (score: string) =>
    page.waitForFunction((text) => document.activeElement?.textContent === text, score);
  await isFocused('9');
  await dialog.getByText('Probability', { exact: true }).waitFor();
  for (const step of ['ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowLeft']) await page.keyboard.press(step);
  await isFocused('10');
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Current: 10' }).waitFor();
  await press(page, 'Residual: –');
  // A response does not raise a threat.
  const tooHigh = dialog.getByRole('button', { name: /score 12$/ }).first();
  assert.equal(await tooHigh.getAttribute('aria-disabled'), 'true');
  // The grid is one stop of Tab.
  await page.keyboard.press('Tab');
  await isFocused('10');
  for (const step of ['ArrowDown', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(step);
  await page.keyboard.press('Space');
  await dialog.getByRole('button', { name: 'Residual: 4' }).waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.type('The second supplier has failed.');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  const risk = await console.get(`/v1/projects/APOLLO/risks/${key}`);
  assert.deepEqual(
    [risk.probability, risk.impact, risk.residual_probability, risk.residual_impact],
    [5, 2, 2, 2],
  );
  const reason = 'The second supplier has failed.';
  await page.locator('.score-history li').getByText(reason).waitFor();
  await page.locator('.timeline .change').getByText(reason).waitFor();
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Not assessed, so unranked.').waitFor();
  assert.equal((await console.get(`/v1/projects/APOLLO/risks/${key}`)).residual_score, null);
});

test('arrow keys move through a filtered list, and Enter opens a row', async (t) => {
  const page = await console.open(t, '/risks');
  await press(page, 'Level');
  await page.getByRole('checkbox', { name: 'Critical' }).waitFor({ state: 'attached' });
  await tabTo(page, 'Critical');
  await page.keyboard.press('Space');
  await page.waitForURL(/level=critical/);
  await page.keyboard.press('Escape');
  await waitUntilLoaded(page);
  const { data } = await console.get('/v1/risks?level=critical&limit=3');
  await tabTo(page, data[0].title);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await hasFocus(page, data[2].title);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: data[1].title }).waitFor();
});

test('Back focuses the row that was opened, and J and K on the page follow the list across its pages', async (t) => {
  const list = '/risks?status=all&sort=title';
  const { data, page: paging } = await console.get(`/v1${list}&limit=103&count=true`);
  const page = await console.open(t, list);
  const heading = (index: number) =>
    page.getByRole('heading', { level: 1, name: data[index].title, exact: true }).waitFor();
  const position = (index: number) =>
    page.getByText(`${index + 1} of ${paging.total}`, { exact: true }).waitFor();
  await page.keyboard.press('j');
  for (let row = 1; row < 99; row++) await page.keyboard.press('j');
  await hasFocus(page, data[98].title);
  await page.keyboard.press('Enter');
  await heading(98);
  await position(98);
  // The list is read a hundred rows at a time.
  for (const index of [99, 100, 101]) {
    await page.keyboard.press('Shift+J');
    await heading(index);
    await position(index);
  }
  await page.getByRole('button', { name: 'Previous', exact: true }).press('Enter');
  await heading(100);
  await hasFocus(page, 'Previous');
  await page.goBack();
  await hasFocus(page, data[100].title);
  await page.locator('.row-link:focus').evaluate((link) => {
    const { top, bottom } = link.getBoundingClientRect();
    if (top < 40 || bottom > innerHeight) throw new Error('the row is out of view');
  });
  await page.keyboard.press('j');
  await hasFocus(page, data[101].title);
  await page.keyboard.press('k');
  await page.keyboard.press('k');
  await hasFocus(page, data[99].title);

  // Opened in another way, an item has no list.
  await visit(page, `/risks/${data[99].key}`);
  assert.equal(await page.getByRole('navigation', { name: 'List' }).count(), 0);
});

test('the page of an item that has left its list leads to the rows around it, and Back to the next one', async (t) => {
  for (const name of ['One', 'Two', 'Three'])
    await console.post('/v1/projects/APOLLO/issues', { title: `${name} of 4713`, severity: 'low' });
  const page = await console.open(t, '/projects/APOLLO?tab=issues&q=4713&sort=-title');
  await page.getByRole('link', { name: 'Three of 4713' }).press('Enter');
  await page.getByText('2 of 3', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Resolve…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Resolve', exact: true }).click();
  await page.getByText('No longer in this list').waitFor();
  await page.keyboard.press('Shift+J');
  await page.getByRole('heading', { level: 1, name: 'One of 4713' }).waitFor();
  await page.getByText('2 of 2', { exact: true }).waitFor();
  await page.keyboard.press('Shift+K');
  await page.getByRole('heading', { level: 1, name: 'Two of 4713' }).waitFor();
  await page.reload();
  await page.getByText('1 of 2', { exact: true }).waitFor();
  await page.keyboard.press('Shift+J');
  await page.getByRole('heading', { level: 1, name: 'One of 4713' }).waitFor();
  await page.goBack();
  await hasFocus(page, 'One of 4713');
});

test('an issue is assigned and resolved', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/issues', { title: 'Keyed 4712' });
  const page = await console.open(t, '/issues?q=4712');
  await press(page, `Assign…, ${key}`);
  await hasFocus(page, 'Assign to');
  await page.keyboard.type('adaeze');
  await highlighted(page, /Adaeze Eze/);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: `Adaeze Eze, ${key}` }).waitFor();
  await press(page, `Resolve ${key}`);
  await page.getByRole('dialog').waitFor();
  await press(page, 'Resolve');
  await page.getByText('No open issues match these filters').waitFor();
});

test('arrow keys move through the tree of groups; a project, a person and a key are created', async (t) => {
  const page = await console.open(t, '/groups');
  await page.getByRole('row').first().focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/groups\/grp_/);
  for (const [where, button, name] of [
    ['Projects', 'Create project', 'Keyboard project'],
    ['People', 'Add person', 'Keyboard Person'],
  ] as const) {
    await palette(page, where);
    await page.getByRole('heading', { level: 1, name: where }).waitFor();
    await waitUntilLoaded(page);
    await press(page, button);
    await page.getByRole('dialog').waitFor();
    await tabTo(page, 'Name');
    await page.keyboard.type(name);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name }).waitFor();
  }
  await palette(page, 'Keys');
  await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
  await waitUntilLoaded(page);
  await press(page, 'Create key');
  await tabTo(page, 'Name');
  await page.keyboard.type('keyboard');
  await tabTo(page, 'Read projects');
  await page.keyboard.press('Space');
  await page.keyboard.press('Enter');
  await page.getByText("you won't see it again").waitFor();
  await press(page, 'Done');
  await press(page, 'Revoke keyboard');
  await page.getByRole('dialog').waitFor();
  await press(page, 'Revoke');
  await page.getByRole('row', { name: /keyboard.*Revoked/ }).waitFor();
});

test('a risk is edited, gets a task and becomes an issue; the list is exported', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', {
    title: 'By hand',
    probability: 3,
    impact: 3,
  });
  const page = await console.open(t, `/risks/${key}`);
  await press(page, 'Edit');
  await page.getByRole('dialog').waitFor();
  await tabTo(page, 'Title');
  await page.keyboard.type(' and keyboard');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: /and keyboard/ }).waitFor();
  await press(page, 'Add task');
  await page.getByRole('dialog').waitFor();
  await tabTo(page, 'Title');
  await page.keyboard.type('Press the keys');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Mark as done: Press the keys' }).waitFor();
  await press(page, 'Mark as done: Press the keys');
  await page.locator('.lines .chip').getByText('Done').waitFor();
  await press(page, 'Mark as occurred…');
  await page.getByRole('dialog').waitFor();
  await press(page, 'Create issue');
  await page.waitForURL(/\/issues\/APOLLO-I\d+/);
  await palette(page, 'Risks');
  await page.getByRole('heading', { level: 1, name: 'Risks' }).waitFor();
  await waitUntilLoaded(page);
  const download = page.waitForEvent('download');
  await press(page, 'Export');
  await page.getByRole('menuitem', { name: 'CSV, as shown' }).waitFor();
  await page.keyboard.press('Enter');
  assert.match((await download).suggestedFilename(), /\.csv$/);
});

test('a person is deactivated, a member is added and removed, and the user signs out', async (t) => {
  const leaver = await console.post('/v1/personnel', { name: 'Keyed Leaver' });
  await console.post('/v1/personnel', { name: 'Keyed Heir' });
  await console.post('/v1/projects/APOLLO/risks', { title: 'Inherited', owner_user_id: leaver.user_id });
  const group = await console.post('/v1/groups', { name: 'Keyed group' });
  const page = await console.open(t, `/personnel/${leaver.user_id}`);
  await press(page, 'Deactivate…');
  await page.getByRole('dialog').waitFor();
  await choose(page, 'Hand over to', 'Keyed Heir');
  await page.getByRole('row', { name: 'Risks 1 1' }).waitFor();
  await press(page, 'Deactivate');
  await page.getByRole('button', { name: 'Reactivate' }).waitFor();
  await visit(page, `/groups/${group.id}`);
  await choose(page, 'Add member', 'Keyed Heir');
  await page.getByRole('heading', { name: '1 member' }).waitFor();
  await press(page, 'Remove Keyed Heir');
  await page.getByText('No members yet').waitFor();
  await press(page, 'Sign out');
  await page.getByLabel('API key').waitFor();
});

test('the first Tab reaches the skip link, and a closed dialog returns the focus', async (t) => {
  const page = await console.open(t, '/projects');
  await page.keyboard.press('Tab');
  await hasFocus(page, 'Skip to main content');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'main');
  await press(page, 'Create project');
  await focusedInside(page, 'Create project');
  await page.keyboard.press('Escape');
  await hasFocus(page, 'Create project');
});

test('a dialog that loads when it first opens returns the focus too', async (t) => {
  const page = await console.open(t, '/personnel?status=active');
  const closeAndLook = async (title: string, opener: string) => {
    await page.getByRole('dialog', { name: title }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await hasFocus(page, opener);
  };
  for (let opened = 1; opened <= 2; opened++) {
    await press(page, 'Views');
    await page.getByRole('menuitem', { name: 'Save as view…' }).press('Enter');
    await closeAndLook('Save view', 'Views');
  }
  for (let opened = 1; opened <= 2; opened++) {
    await press(page, 'Import');
    await closeAndLook('Import people', 'Import');
  }
  // The palette loads half a second after the page, or when it opens.
  const release = await hold(page, /palette/);
  await page.reload();
  for (let opened = 1; opened <= 2; opened++) {
    await page.getByRole('button', { name: 'Views' }).focus();
    await page.keyboard.press('Control+k');
    await page.locator('.overlay .loading').waitFor({ state: opened === 1 ? 'visible' : 'detached' });
    release();
    await page.getByRole('searchbox', { name: 'Go to' }).waitFor();
    await closeAndLook('Go to', 'Views');
  }
});

test('a skip link leads to the first row of a list', async (t) => {
  const page = await console.open(t, '/risks');
  for (const path of ['/risks', '/issues', '/tasks', '/projects', '/personnel', '/groups', '/keys']) {
    await visit(page, path);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await hasFocus(page, 'Skip to list');
    await page.keyboard.press('Enter');
    const row = page.locator('tbody tr:not(.spacer), [role=treegrid] [role=row]').first();
    assert.ok(await row.evaluate((one) => one.contains(document.activeElement)), path);
  }
  await visit(page, '/');
  assert.equal(await page.getByRole('link', { name: 'Skip to list' }).count(), 0);
});

/** Selects an option of a combo box by typing its name. */
async function choose(page: Page, label: string, name: string): Promise<void> {
  await tabTo(page, label);
  await page.keyboard.type(name);
  await highlighted(page, name);
  await page.keyboard.press('Enter');
}

/** A search highlights its first option once it has the response. */
const highlighted = (page: Page, name: RegExp | string) =>
  page.locator('[role=option][data-focused]', { hasText: name }).waitFor();

/** Opens a page with the palette. */
async function palette(page: Page, name: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await hasFocus(page, 'Go to');
  await page.keyboard.type(name);
  // The palette focuses the first result.
  await page.locator('[role="menuitem"][data-focused]', { hasText: name }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

/** Waits until the focus is in the dialog. */
async function focusedInside(page: Page, title: string): Promise<void> {
  await page.getByRole('dialog', { name: title }).waitFor();
  await page.waitForFunction(() => document.activeElement?.closest('[role="dialog"]') !== null);
}
