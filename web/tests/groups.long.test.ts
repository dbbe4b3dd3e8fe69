import assert from 'node:assert/strict';
import { startConsole, test, visit } from './console.ts';
import { hasFocus, press, tabTo } from './focus.ts';

const console = startConsole();

test('groups are links: a middle click, Ctrl and a click, and Ctrl+Enter are left to the browser', async (t) => {
  const page = await console.open(t, '/groups');
  const { data } = await console.get('/v1/groups?q=Cyber%20Security');
  const row = page.getByRole('row', { name: 'Cyber Security' });
  const link = row.getByRole('link', { name: 'Cyber Security' });
  const clicks = await page.evaluateHandle(() => {
    const paths: string[] = [];
    const record = (event: Event) => {
      const { pathname = '' } = (event.target as Element).closest('a') ?? {};
      // After all handlers of the page.
      setTimeout(() => paths.push(event.defaultPrevented ? 'handled by the page' : pathname));
    };
    for (const type of ['click', 'auxclick']) addEventListener(type, record, { capture: true });
    return paths;
  });
  await row.click({ button: 'middle' });
  await link.click({ modifiers: ['Control'] });
  await link.press('Control+Enter');
  await page.waitForFunction((paths) => paths.length === 3, clicks);
  assert.deepEqual(await clicks.jsonValue(), Array(3).fill(`/groups/${data[0].id}`));
  assert.equal(new URL(page.url()).pathname, '/groups');
});

test('the open work of a group and of a person is in lines that are easy to read', async (t) => {
  const risks = '/v1/projects/APOLLO/risks';
  const title = 'The interface between the server and the engine is understood differently by both sides';
  const group = await console.post('/v1/groups', { name: 'Lines 8841' });
  await console.post(risks, { title, owner_group_id: group.id });
  const page = await console.open(t, `/groups/${group.id}`);
  const link = page.getByRole('region', { name: 'Open work' }).getByRole('link', { name: title });
  const width = (await link.boundingBox())?.width ?? 0;
  assert.ok(width > 180, `the title has ${width}`);

  const { user_id } = await console.post('/v1/personnel', { name: 'Lines 8842' });
  for (const due_on of ['2027-05-01', null])
    await console.post(risks, { title, owner_user_id: user_id, due_on });
  await visit(page, `/personnel/${user_id}`);
  const chips = page.getByRole('region', { name: /^Assigned work/ }).locator('.chip');
  const starts = await chips.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().x));
  assert.equal(starts.length, 2);
  assert.equal(starts[0], starts[1]);
});

test('arrow keys move through the links of the tree and collapse groups; Tab leaves it', async (t) => {
  const page = await console.open(t, '/groups');
  const focused = () => page.locator(':focus');
  const hasRing = (name: string) => page.locator('a:focus-visible', { hasText: name }).waitFor();
  await tabTo(page, 'Create group');
  await page.keyboard.press('Tab');
  await page.locator('.group-tree a:focus-visible').waitFor();
  await page.keyboard.type('techn');
  await hasRing('Technology');
  assert.equal(
    await focused().evaluate((link) => getComputedStyle(link, '::after').outlineStyle),
    'solid',
    'a focus ring',
  );
  const child = page.getByRole('row', { name: 'Cyber Security' });
  await page.keyboard.press('ArrowLeft');
  await child.waitFor({ state: 'detached' });
  await hasRing('Technology');
  await page.keyboard.press('ArrowRight');
  await child.waitFor();
  await page.keyboard.press('ArrowDown');
  const name = await focused().innerText();
  assert.notEqual(name, 'Technology');
  await page.keyboard.press('ArrowLeft');
  await hasRing('Technology');
  await page.keyboard.press('Tab');
  assert.equal(await page.locator('.group-tree :focus').count(), 0);
  await page.keyboard.press('Shift+Tab');
  await hasRing('Technology');
  await page.getByRole('row', { name: 'Technology' }).locator('.chevron').click();
  await child.waitFor({ state: 'detached' });
  assert.equal(new URL(page.url()).pathname, '/groups');
  await page.keyboard.press('ArrowRight');
  await child.waitFor();
  // With nothing to expand, the row gets the focus in place of its link.
  await page.keyboard.press('ArrowRight');
  await page.locator('.group-item:focus').waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Technology' }).waitFor();
});

test('a person is added to a group on their page and removed from it; both can be undone', async (t) => {
  const person = await console.post('/v1/personnel', { name: 'Joining Jo' });
  const group = await console.post('/v1/groups', { name: 'Joined Juniors' });
  const page = await console.open(t, `/personnel/${person.user_id}`);
  const card = page.getByRole('region', { name: 'Groups' });
  const link = card.getByRole('link', { name: group.name });
  const undo = (text: string) =>
    page.locator('.toast', { hasText: text }).getByRole('button', { name: 'Undo' });
  await card.getByText('Not in any groups.').waitFor();
  const add = async () => {
    await card.getByRole('button', { name: 'Add to group' }).click();
    await page.getByRole('combobox', { name: 'Group' }).fill('joined');
    await page.getByRole('option', { name: group.name }).click();
    await link.waitFor();
  };
  await add();
  await undo('Added Joining Jo to Joined Juniors').click();
  await card.getByText('Not in any groups.').waitFor();
  await add();
  await card.getByRole('button', { name: 'Add to group' }).click();
  await page.getByRole('combobox', { name: 'Group' }).fill('joined');
  await page.getByText('No results').waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await card.getByRole('button', { name: 'Remove from Joined Juniors' }).click();
  await undo('Removed Joining Jo from Joined Juniors').click();
  await link.click();
  await page.getByRole('heading', { name: '1 member' }).waitFor();
  await page.getByRole('combobox', { name: 'Add member' }).fill('joining');
  await page.getByText('No results').waitFor();
});

test('the keyboard adds a person to a group and removes them, and the focus stays in place', async (t) => {
  const person = await console.post('/v1/personnel', { name: 'Keyed Kim' });
  const group = await console.post('/v1/groups', { name: 'Keyed Keepers' });
  const page = await console.open(t, `/personnel/${person.user_id}`);
  const card = page.getByRole('region', { name: 'Groups' });
  await press(page, 'Add to group');
  await hasFocus(page, 'Group');
  await page.keyboard.type('keyed keep');
  await page.locator('[role=option][data-focused]', { hasText: group.name }).waitFor();
  await page.keyboard.press('Enter');
  await card.getByRole('link', { name: group.name }).waitFor();
  await hasFocus(page, 'Add to group');
  await page.keyboard.press('Shift+Tab');
  await hasFocus(page, 'Remove from Keyed Keepers');
  await page.keyboard.press('Enter');
  await page.getByText('Removed Keyed Kim from Keyed Keepers').waitFor();
  await hasFocus(page, 'Add to group');
  const toast = page.locator('.toast', { hasText: 'Removed Keyed Kim' });
  await toast.getByRole('button', { name: 'Undo' }).press('Enter');
  await card.getByRole('link', { name: group.name }).waitFor();
  await toast.waitFor({ state: 'detached' });
  await hasFocus(page, 'Add to group');
});

test('a group links to all groups above it, and its blank details are edited in place', async (t) => {
  const top = await console.post('/v1/groups', { name: 'Top tier' });
  const middle = await console.post('/v1/groups', { name: 'Middle tier', parent_id: top.id });
  const bottom = await console.post('/v1/groups', { name: 'Bottom tier', parent_id: middle.id });
  const page = await console.open(t, `/groups/${bottom.id}`);
  const breadcrumbs = page.locator('.breadcrumbs');
  await breadcrumbs.getByRole('link', { name: 'Top tier' }).waitFor();
  assert.equal(await breadcrumbs.innerText(), 'Groups / Top tier / Middle tier / Bottom tier');
  const details = page.getByRole('region', { name: 'Details' });
  for (const field of ['Lead', 'External ID']) {
    await details.locator('.fact', { hasText: field }).getByText('Not set').waitFor();
  }
  await details.getByRole('button', { name: 'Edit Description' }).click();
  await details.getByRole('textbox', { name: 'Description' }).fill('The lowest one');
  await page.keyboard.press('Control+Enter');
  await details.getByRole('button', { name: 'Edit Description' }).waitFor();
  assert.equal((await console.get(`/v1/groups/${bottom.id}`)).description, 'The lowest one');

  await details.getByRole('link', { name: 'Middle tier' }).click();
  await page.getByRole('heading', { level: 1, name: 'Middle tier' }).waitFor();
  await details.getByRole('button', { name: 'Edit Parent group' }).click();
  await page.getByRole('combobox', { name: 'Parent group' }).fill('bottom');
  await page.getByRole('option', { name: 'Bottom tier' }).click();
  await page
    .getByText('This would create a cycle: Middle tier → Bottom tier → Middle tier.', { exact: true })
    .waitFor();
});

test('the history names who was added to a group and who was removed', async (t) => {
  const { user_id } = await console.post('/v1/personnel', { name: 'Coming Cora' });
  const group = await console.post('/v1/groups', { name: 'Comers' });
  await console.post(`/v1/groups/${group.id}/members`, { user_ids: [user_id] });
  await console.delete(`/v1/groups/${group.id}/members/${user_id}`);
  const page = await console.open(t, `/groups/${group.id}`);
  const history = page.getByRole('region', { name: 'History' });
  await history.getByText('Added member Coming Cora').waitFor();
  await history.getByText('Removed member Coming Cora').waitFor();
  await page.goto(`/personnel/${user_id}`);
  await history.getByText('Added to group Comers').waitFor();
  await history.getByText('Removed from group Comers').waitFor();
});

test('a key that only reads people sees groups without buttons', async (t) => {
  const person = await console.post('/v1/personnel', { name: 'Read Only' });
  const page = await console.open(t, `/personnel/${person.user_id}`, { scopes: ['personnel.read'] });
  const card = page.getByRole('region', { name: 'Groups' });
  await card.getByText('Not in any groups.').waitFor();
  assert.equal(await card.getByRole('button').count(), 0);
});
