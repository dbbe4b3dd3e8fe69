import assert from 'node:assert/strict';
import type { Page, Request } from 'playwright-core';
import { startConsole, test, visit } from './console.ts';
import { hasFocus } from './focus.ts';
import { editorClosed, inDays, pick, setHidden } from './page.ts';

const console = startConsole();

const newPerson = (name: string) => console.post('/v1/personnel', { name });

const newRisk = async (fields: object = {}) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Contended', ...fields });
  return { key, path: `/v1/projects/APOLLO/risks/${key}` };
};

/** Saves a form after someone else has changed its item, and reviews the conflict. */
async function reviewChange(page: Page, path: string, change: object): Promise<void> {
  await console.patch(path, change);
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('button', { name: 'Review' }).click();
  await dialog.getByText('Changed by someone else:').waitFor();
}

test('after a conflict, a form shows the people that it saves', async (t) => {
  const [before, mine, theirs] = await Promise.all(
    ['Anna Before', 'Bela Mine', 'Cora Theirs'].map(newPerson),
  );
  const { key, path } = await newRisk({ owner_user_id: before.user_id });
  const page = await console.open(t, `/risks/${key}`);
  const dialog = page.getByRole('dialog');
  const owner = dialog.getByRole('combobox', { name: 'Owner' });
  const reviewAfter = (change: object) => reviewChange(page, path, change);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await pick(page, 'Owner', 'Bela Mine');
  await reviewAfter({ category: 'supply' });
  assert.equal(await owner.inputValue(), 'Bela Mine');
  await reviewAfter({ owner_user_id: theirs.user_id });
  await dialog.getByText('Owner: Cora Theirs (yours: Bela Mine)').waitFor();
  assert.equal(await owner.inputValue(), 'Bela Mine');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal((await console.get(path)).owner_user_id, mine.user_id);

  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await dialog.getByLabel('Category').fill('weather');
  await reviewAfter({ owner_user_id: theirs.user_id });
  assert.equal(await owner.inputValue(), 'Cora Theirs');

  // The API has no names beside these ids.
  const project = await console.post('/v1/projects', { name: 'Led', lead_user_id: before.user_id });
  await page.goto(`/projects/${project.key}`);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await dialog.getByLabel('Description').fill('Mine');
  await reviewChange(page, `/v1/projects/${project.key}`, { lead_user_id: theirs.user_id });
  await dialog.getByText('Lead: Cora Theirs').waitFor();
  assert.equal(await dialog.getByRole('combobox', { name: 'Lead' }).inputValue(), 'Cora Theirs');
});

test('Review focuses the field that both have changed, or else one that was changed', async (t) => {
  const { key, path } = await newRisk({ category: 'supply' });
  const page = await console.open(t, `/risks/${key}`);
  const dialog = page.getByRole('dialog');
  const reviewAfter = (change: object) => reviewChange(page, path, change);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await dialog.getByLabel('Category').fill('weather');
  await reviewAfter({ description: 'Theirs', category: 'staff' });
  await hasFocus(page, 'Category');
  await reviewAfter({ description: 'Theirs again' });
  await hasFocus(page, 'Description');
});

test('a person who was picked in place is shown after a conflict and after a reload', async (t) => {
  const [before, mine, theirs] = await Promise.all(
    ['Dora Before', 'Emil Mine', 'Fred Theirs'].map(newPerson),
  );
  const { key, path } = await newRisk({ owner_user_id: before.user_id });
  const page = await console.open(t, `/risks/${key}`, { scopes: ['projects.manage', 'personnel.read'] });
  await page.getByRole('button', { name: 'Edit Owner', exact: true }).click();
  await console.patch(path, { owner_user_id: theirs.user_id });
  await pick(page, 'Owner', 'Emil Mine');
  await page.getByText('Owner: Fred Theirs (yours: Emil Mine)').waitFor();
  await page.reload();
  const owner = page.getByRole('combobox', { name: 'Owner' });
  await owner.waitFor();
  assert.equal(await owner.inputValue(), 'Emil Mine');
  await page.locator('.inline-editor').getByRole('button', { name: 'Save' }).click();
  await editorClosed(page);
  assert.equal((await console.get(path)).owner_user_id, mine.user_id);
});

test('a dialog keeps its text when someone else has changed the item, and can be sent again', async (t) => {
  const page = await console.open(t, '/risks', {
    scopes: ['projects.manage', 'personnel.manage', 'keys.manage'],
  });
  const dialog = page.getByRole('dialog');
  const stale = dialog.getByText('Someone else changed this. Check it, then try again.');
  const sendTwice = async (action: string, change: () => Promise<unknown>) => {
    await change();
    await dialog.getByRole('button', { name: action, exact: true }).click();
    await stale.waitFor();
    await dialog.getByRole('button', { name: action, exact: true }).click();
    // A question can be above a form.
    await dialog.first().waitFor({ state: 'detached' });
  };

  const risk = await newRisk();
  await visit(page, `/risks/${risk.key}`);
  await page.getByRole('button', { name: 'Close…' }).click();
  await dialog.getByLabel('Reason').fill('No longer possible');
  await sendTwice('Close risk', () => console.patch(risk.path, { category: 'supply' }));
  const closed = await console.get(risk.path);
  assert.deepEqual([closed.closure_reason, closed.category], ['No longer possible', 'supply']);

  await page.getByRole('button', { name: 'Add custom field' }).click();
  await dialog.getByLabel('Name').fill('Contract');
  await dialog.getByLabel('Value').fill('C-17');
  await sendTwice('Add custom field', () => console.patch(risk.path, { category: 'weather' }));
  assert.deepEqual((await console.get(risk.path)).attributes, { Contract: 'C-17' });

  const task = await console.post('/v1/projects/APOLLO/tasks', { title: 'Old', risk_id: closed.id });
  await visit(page, `/risks/${risk.key}`);
  await page.getByRole('button', { name: 'Edit: Old' }).click();
  await dialog.getByRole('button', { name: 'Delete task' }).click();
  await sendTwice('Delete', () => console.patch(`/v1/projects/APOLLO/tasks/${task.key}`, { title: 'New' }));
  await page.getByText('No tasks yet').waitFor();

  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await sendTwice('Delete', () => console.patch(risk.path, { category: 'sea' }));
  await page.waitForURL(/\/risks$/);

  const issue = await console.post('/v1/projects/APOLLO/issues', { title: 'Contended 5571' });
  await visit(page, '/issues?q=5571');
  await page.getByRole('button', { name: `Resolve ${issue.key}` }).click();
  await dialog.getByLabel('Comment').fill('Restarted the pump');
  await sendTwice('Resolve', () =>
    console.patch(`/v1/projects/APOLLO/issues/${issue.key}`, { title: '5571' }),
  );
  assert.equal((await console.get(`/v1/projects/APOLLO/issues/${issue.key}`)).status, 'resolved');

  const person = await newPerson('Gina Leaving');
  await visit(page, `/personnel/${person.user_id}`);
  await page.getByRole('button', { name: 'Deactivate…' }).click();
  await sendTwice('Deactivate', () => console.patch(`/v1/personnel/${person.user_id}`, { title: 'Welder' }));
  assert.equal((await console.get(`/v1/personnel/${person.user_id}`)).status, 'inactive');

  const key = await console.post('/v1/keys', { name: 'contended', scopes: ['personnel.read'] });
  await visit(page, '/keys');
  await page.getByRole('button', { name: 'Revoke contended' }).click();
  await sendTwice('Revoke', () => console.patch(`/v1/keys/${key.id}`, { name: 'renamed' }));
  assert.notEqual((await console.get(`/v1/keys/${key.id}`)).revoked_at, null);
});

/** Makes a change by somebody else while the tab is left, and waits until the page has read it. */
async function changeBehind(page: Page, path: RegExp, change: () => Promise<unknown>): Promise<void> {
  await setHidden(page, true);
  await change();
  const read = page.waitForResponse((response) => path.test(response.url()) && response.status() === 200);
  await setHidden(page, false);
  await (await read).finished();
}

test('a rating that was begun for another version is not sent with the latest one', async (t) => {
  const { key, path } = await newRisk({ probability: 2, impact: 2 });
  const page = await console.open(t, `/risks/${key}`);
  const dialog = page.getByRole('dialog', { name: `Assess ${key}` });
  await page.getByRole('button', { name: 'Reassess', exact: true }).click();
  await dialog.getByRole('button', { name: /^Current: 4/ }).waitFor();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Space');
  await dialog.getByRole('button', { name: /^Current: 6/ }).waitFor();
  await changeBehind(page, new RegExp(`${path}(\\?|$)`), () =>
    console.patch(path, { probability: 5, impact: 5 }),
  );
  await page.locator('.score', { hasText: '25' }).first().waitFor();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('Someone else changed this. Check it, then try again.').waitFor();
  await dialog.getByText('Probability: 5 (yours: 3)').waitFor();
  await dialog.getByText('Impact: 5 (yours: 2)').waitFor();
  assert.equal((await console.get(path)).score, 25);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal((await console.get(path)).score, 6);
});

test('a form for access does not lift a limit that was set meanwhile', async (t) => {
  const { user_id } = await newPerson('Hana Limited');
  const path = `/v1/personnel/${user_id}/access`;
  const scopes = ['personnel.read', 'projects.read', 'events.read'];
  await console.put(path, { scopes });
  const { id } = await console.get('/v1/projects/APOLLO');
  const page = await console.open(t, `/personnel/${user_id}`);
  await page.getByRole('button', { name: 'Change access' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change access of Hana Limited' });
  await dialog.getByRole('radio', { name: 'Editor' }).check();
  await changeBehind(page, new RegExp(`${path}(\\?|$)`), () =>
    console.put(path, { scopes, project_ids: [id] }),
  );
  const change = dialog.getByRole('button', { name: 'Change access' });
  await change.click();
  await dialog.getByText('Someone else changed this. Check it, then try again.').waitFor();
  await dialog.getByText('Projects: APOLLO (yours: –)').waitFor();
  assert.deepEqual((await console.get(path)).project_ids, [id]);
  await change.click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal((await console.get(path)).project_ids, null);
});

test('Undo does not overwrite what someone else has changed since, and says so', async (t) => {
  const { key, path } = await newRisk();
  const page = await console.open(t, `/risks/${key}`, { scopes: ['projects.manage'] });
  await page.getByRole('button', { name: 'Move to Mitigating' }).click();
  const undo = page.locator('.toasts').getByRole('button', { name: 'Undo' });
  await undo.waitFor();
  await console.patch(path, { category: 'supply' });
  await undo.click();
  await page.getByText('Someone else changed this since, so it was not undone.').waitFor();
  await page.locator('.fact', { hasText: 'Category' }).getByText('Supply').waitFor();
  assert.equal((await console.get(path)).status, 'mitigating');
});

test('a value is restored from the history, unless someone changes it meanwhile', async (t) => {
  const { key } = await newRisk({ title: 'First title', category: 'Supply' });
  const path = `/v1/projects/APOLLO/risks/${key}`;
  await console.patch(path, { title: 'Second title' });
  await console.patch(path, { title: 'Third title', category: null });
  const page = await console.open(t, `/risks/${key}`);
  const restore = (value: string) =>
    page.getByRole('button', { name: `Restore this value: ${value}`, exact: true });
  await restore('Category Supply').focus();
  await page.keyboard.press('Enter');
  await page.getByText(`Restored ${key}: Category`).waitFor();
  // The item has this value now.
  await restore('Category Supply').waitFor({ state: 'detached' });
  assert.equal((await console.get(path)).category, 'Supply');
  const history = await console.get(`${path}/history`);
  assert.equal(history.data.at(-1).reason, 'Restored from the history');

  // Before the request arrives, someone changes another field, and then the same one.
  let theirs: object = { due_on: inDays(3) };
  await page.route(`**${path}`, async (route) => {
    if (route.request().method() === 'PATCH' && theirs) {
      const body = theirs;
      theirs = {};
      if (Object.keys(body).length > 0) await console.patch(path, body);
    }
    await route.continue();
  });
  await restore('Title First title').click();
  await page.getByText(`Restored ${key}: Title`).waitFor();
  await page.getByRole('heading', { level: 1, name: 'First title' }).waitFor();
  assert.equal((await console.get(path)).due_on, inDays(3));
  theirs = { title: 'Their title' };
  await restore('Title Second title').click();
  await page.getByText('Title has changed meanwhile, so it was not restored.').waitFor();
  assert.equal((await console.get(path)).title, 'Their title');
  const reader = await console.open(t, `/risks/${key}`, { scopes: ['projects.read'] });
  await reader.locator('.timeline .change').first().waitFor();
  assert.equal(await reader.getByText('Restore this value').count(), 0);
});

test('Undo restores the exact status, and is not offered where it cannot', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/issues', { title: 'Resolved too early' });
  const path = `/v1/projects/APOLLO/issues/${key}`;
  const page = await console.open(t, `/issues/${key}`, { scopes: ['projects.manage', 'personnel.read'] });
  const undo = page.locator('.toasts').getByRole('button', { name: 'Undo' });
  const resolve = async () => {
    await page.getByRole('button', { name: 'Resolve…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resolve', exact: true }).click();
  };
  for (const before of [
    { status: 'open', blocked_reason: null },
    { status: 'blocked', blocked_reason: 'No crane' },
    { status: 'in_progress', blocked_reason: null },
  ]) {
    await console.patch(path, before);
    await page.reload();
    await resolve();
    await undo.waitFor();
    const sent: string[] = [];
    const record = (request: Request) => {
      if (request.method() !== 'GET') sent.push(request.method());
    };
    page.on('request', record);
    await undo.click();
    await page.getByText('Undone').waitFor();
    page.off('request', record);
    assert.deepEqual(sent, ['POST']);
    const { status, blocked_reason, resolution } = await console.get(path);
    assert.deepEqual({ status, blocked_reason, resolution }, { ...before, resolution: null });
  }
  await console.patch(path, { status: 'open' });
  await page.reload();
  await resolve();
  await undo.waitFor();
  await console.patch(path, { priority: 'low' });
  await undo.click();
  await page.getByText(`Changed since: ${key}.`).waitFor();
  assert.equal((await console.get(path)).status, 'resolved');

  const risk = await newRisk({ status: 'monitoring' });
  await page.goto(`/risks/${risk.key}`);
  await page.getByRole('button', { name: 'Accept…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill('Insured');
  await dialog.getByLabel('Until').fill(inDays(30));
  await dialog.getByRole('button', { name: 'Accept risk' }).click();
  await page.getByText(`Moved ${risk.key} to Accepted`).waitFor();
  assert.equal(await undo.count(), 0);
});
