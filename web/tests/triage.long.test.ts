import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { fillPeople } from '../../test/people.ts';
import { screenshot, startConsole, test } from './console.ts';
import { hasFocus } from './focus.ts';
import { coveredByMessages, hold, pick, setHidden } from './page.ts';

const count = 50;
const project = '/v1/projects/TRIAGE';
const console = startConsole({
  fill: async () => {
    await console.post('/v1/projects', { name: 'Triage', key: 'TRIAGE' });
    for (let i = 1; i <= count; i++)
      await console.post(`${project}/risks`, { title: `Unowned ${i}`, probability: 1 + (i % 3), impact: 2 });
    for (const title of ['First', 'Second', 'Third'])
      await console.post(`${project}/tasks`, { title: `${title} task`, due_on: '2027-01-01' });
  },
});

test('fifty risks are assigned, rated and commented on with at most six keys each', async (t) => {
  const { data } = await console.get(`/v1/risks?project=TRIAGE&unowned=true&limit=${count}`);
  const page = await console.open(t, '/risks?project=TRIAGE&unowned=true');
  let keys = 0;
  // A key with Ctrl or Shift held down is one of them.
  const press = async (...names: string[]) => {
    for (const name of names) await page.keyboard.press(name);
    keys += names.length;
  };
  const preview = (key: string) => page.getByRole('complementary', { name: `Preview of ${key}` });
  await press('j', 'Space');
  for (const [index, { key, title }] of data.entries()) {
    await preview(key).waitFor();
    await hasFocus(page, title);
    if (index === 0) {
      await press('a', ...'adaez');
      await page.locator('[role=option][data-focused]', { hasText: 'Adaeze Eze' }).waitFor();
      await press('Enter');
      await preview(key).getByRole('button', { name: 'Edit Owner', exact: true }).waitFor();
    } else await press('o');
    await press('4', '5', 'c');
    await page.keyboard.type(`Agreed on ${key}.`);
    await press('Control+Shift+Enter');
  }
  const last = data.at(-1);
  await preview(last.key).getByText(`Agreed on ${last.key}.`).waitFor();
  await hasFocus(page, last.title);
  assert.ok(keys <= 6 * count, `${keys} keys`);
  await page.getByText(`Saved ${last.key}: Probability, Impact`).waitFor();
  const { data: risks } = await console.get(`/v1/risks?project=TRIAGE&limit=${count}`);
  assert.deepEqual(
    new Set(
      risks.map(({ owner_name, probability, impact, version }: Record<string, unknown>) =>
        [owner_name, probability, impact, version].join(),
      ),
    ),
    new Set(['Adaeze Eze,4,5,3']),
  );
  for (const { key } of [data[0], last]) {
    const comments = (await console.get(`${project}/risks/${key}/comments`)).data;
    assert.deepEqual(
      comments.map(({ body }: { body: string }) => body),
      [`Agreed on ${key}.`],
    );
  }
  await press('Escape');
  await page.getByText('No active risks match these filters').waitFor();
});

test('three saves leave one message, over no title, button or score, and Ctrl+Z undoes each', async (t) => {
  await console.post('/v1/projects', { name: 'Messages', key: 'MSG' });
  const path = '/v1/projects/MSG/risks';
  for (const title of ['One', 'Two', 'Three'])
    await console.post(path, { title: `${title} rated`, probability: 5, impact: 5 });
  for (const [width, height] of [
    [1440, 900],
    [1024, 700],
    [390, 844],
  ] as const) {
    const page = await console.open(t, '/risks?project=MSG&sort=title', { viewport: { width, height } });
    await page.keyboard.press('j');
    await page.keyboard.press('Space');
    for (const number of [1, 3, 2]) {
      await page.getByRole('complementary', { name: `Preview of MSG-R${number}` }).waitFor();
      await page.keyboard.press('1');
      await page.keyboard.press('2');
      await page.getByText(`Saved MSG-R${number}: Probability, Impact`).waitFor();
      assert.equal(await page.locator('.toast').count(), 1);
      assert.deepEqual(await coveredByMessages(page), [], `${width} wide`);
      await screenshot(page, `message-${width}-${number}`);
      await page.keyboard.press('j');
    }
    for (const number of [2, 3, 1]) {
      await page.keyboard.press('Control+z');
      await page.getByText(`Undone: Saved MSG-R${number}`).waitFor();
      assert.equal((await console.get(`${path}/MSG-R${number}`)).score, 25);
    }
  }
});

test('a rated row keeps its place with its new score, and no two rows have the same rank', async (t) => {
  const page = await console.open(t, '/risks');
  const rows = page.locator('.table tbody tr[data-row]');
  const first = rows.first();
  const rank = 'td:nth-child(2)';
  const title = await first.locator('.row-link').innerText();
  await page.keyboard.press('j');
  await page.keyboard.press('Space');
  await page.locator('.preview-panel h2').first().waitFor();
  await page.keyboard.press('1');
  await page.keyboard.press('1');
  await first.locator('td[data-edits=rating]', { hasText: /^1$/ }).waitFor();
  // The list has been read again: another risk ranks first.
  await rows.nth(1).locator(rank, { hasText: /^1$/ }).waitFor();
  assert.equal(await first.locator('.row-link').innerText(), title);
  const ranks = (await rows.locator(rank).allInnerTexts()).filter((text) => text !== '');
  assert.deepEqual(ranks, [...new Set(ranks)]);
  // The change can be undone once all that it affects has been read again.
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).waitFor();
  await page.keyboard.press('Control+z');
  await page.getByText('Undone').waitFor();
});

test('two digits rate a risk in the dialog of r', async (t) => {
  const { key } = await console.post(`${project}/risks`, { title: 'Digits 8812' });
  const page = await console.open(t, '/risks?q=8812');
  await page.keyboard.press('j');
  await page.keyboard.press('Space');
  await page.getByRole('complementary', { name: `Preview of ${key}` }).waitFor();
  await page.keyboard.press('r');
  const dialog = page.getByRole('dialog', { name: `Assess ${key}` });
  await dialog.locator('.heat-cell:focus').waitFor();
  await page.keyboard.press('4');
  await page.keyboard.press('9');
  await page.keyboard.press('5');
  await dialog.getByRole('button', { name: 'Current: 20' }).waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.type('2 of 4 agree.');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  const { probability, impact } = await console.get(`${project}/risks/${key}`);
  assert.deepEqual([probability, impact], [4, 5]);
});

test('Space opens and closes the preview of a row, and the focus stays in the list', async (t) => {
  const page = await console.open(t, '/tasks?project=TRIAGE&sort=title');
  const preview = (title: string) => page.locator('.preview-panel', { hasText: title });
  const release = await hold(page, /comments/);
  await page.getByRole('link', { name: 'First task' }).focus();
  await page.keyboard.press('Space');
  await preview('First task').waitFor();
  // The keys work before all parts have loaded.
  await page.keyboard.press('c');
  await page.getByRole('textbox', { name: 'Write a comment' }).and(page.locator(':focus')).waitFor();
  release();
  await page.keyboard.press('Escape');
  await hasFocus(page, 'First task');
  await page.keyboard.press('j');
  await preview('Second task').waitFor();
  await hasFocus(page, 'Second task');
  // From a field in the preview, j moves on too.
  await page.keyboard.press('d');
  const due = preview('Second task').getByLabel('Due');
  await due.fill('2027-02-03');
  await due.press('Enter');
  await preview('Second task').getByText('3 Feb 2027').first().waitFor();
  await hasFocus(page, 'Edit Due');
  await page.keyboard.press('k');
  await preview('First task').waitFor();
  await hasFocus(page, 'First task');
  await page.keyboard.press('c');
  await page.keyboard.type('Draft');
  await page.keyboard.press('Escape');
  await hasFocus(page, 'First task');
  await page.keyboard.press('Escape');
  await page.locator('.preview-panel').waitFor({ state: 'detached' });
  await hasFocus(page, 'First task');
  await page.keyboard.press('Space');
  await preview('First task').waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'Write a comment' }).inputValue(), 'Draft');
  // Another client completes the task, so it leaves the list; its row stays while it is previewed.
  const { data } = await console.get('/v1/tasks?project=TRIAGE&q=First');
  await console.patch(`${project}/tasks/${data[0].key}`, { status: 'done' });
  await preview('First task').locator('.chip', { hasText: 'Done' }).first().waitFor();
  await hasFocus(page, 'First task');
  await page.keyboard.press('j');
  await hasFocus(page, 'Second task');
  assert.equal(await page.getByRole('link', { name: 'First task' }).count(), 0);
  await page.keyboard.press('Space');
  await page.locator('.preview-panel').waitFor({ state: 'detached' });
  await hasFocus(page, 'Second task');
});

test('the preview of a key that only reads has nothing to edit', async (t) => {
  const { key } = await console.post(`${project}/issues`, { title: 'Read only 6610' });
  const page = await console.open(t, '/issues?q=6610', { scopes: ['projects.read', 'personnel.read'] });
  await page.keyboard.press('j');
  await page.keyboard.press('Space');
  const preview = page.getByRole('complementary', { name: `Preview of ${key}` });
  await preview.getByText('No comments yet').waitFor();
  for (const shortcut of ['a', 'o', 'r', 's', 'd', 'c']) await page.keyboard.press(shortcut);
  assert.deepEqual(await preview.getByRole('button').allTextContents(), ['']);
  assert.equal(await preview.locator('input, textarea, select').count(), 0);
  await page.setViewportSize({ width: 390, height: 844 });
  const { x, y, width, height } = (await preview.boundingBox()) ?? {};
  // Below the bar at the top, where messages are. The page behind it may have a scrollbar.
  assert.deepEqual([x, y, height, (width ?? 0) >= 370], [0, 44, 800, true]);
  await preview.getByRole('button', { name: 'Close preview' }).click();
  await hasFocus(page, 'Read only 6610');
});

test('cells are edited with the keyboard, and a conflict is offered to be resolved there', async (t) => {
  const keys: string[] = [];
  for (const name of ['One', 'Two'])
    keys.push((await console.post(`${project}/risks`, { title: `${name} of 6620` })).key);
  const [one, two] = keys;
  const read = (key = one) => console.get(`${project}/risks/${key}`);
  const page = await console.open(t, '/risks?q=6620&sort=title');
  await page.getByRole('link', { name: 'One of 6620' }).focus();
  const next = async (name: string) => {
    await page.keyboard.press('ArrowRight');
    await hasFocus(page, name);
    await page.keyboard.press('Enter');
  };
  await next(`Edit status of ${one}`);
  await hasFocus(page, 'Status');
  await page.keyboard.type('Mit');
  await page.keyboard.press('Enter');
  await hasFocus(page, `Edit status of ${one}`);
  assert.equal((await read()).status, 'mitigating');
  await next(`Edit owner of ${one}`);
  await hasFocus(page, 'Owner');
  await pick(page, 'Owner', 'adaeze', 'Adaeze Eze');
  await hasFocus(page, `Edit owner of ${one}`);
  assert.equal((await read()).owner_name, 'Adaeze Eze');
  await next(`Edit due of ${one}`);
  const due = page.getByLabel('Due', { exact: true });
  await due.fill('2027-05-06');
  await console.patch(`${project}/risks/${one}`, { due_on: '2027-01-02' });
  await due.press('Enter');
  await page.getByRole('alert').getByText('2 Jan 2027').waitFor();
  await page.keyboard.press('Enter');
  await hasFocus(page, `Edit due of ${one}`);
  assert.equal((await read()).due_on, '2027-05-06');
  await page.keyboard.press('ArrowDown');
  await hasFocus(page, `Edit due of ${two}`);
  for (let cell = 0; cell < 4; cell++) await page.keyboard.press('ArrowLeft');
  await hasFocus(page, `Edit score of ${two}`);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: `Assess ${two}` }).waitFor();
  await page.waitForFunction(() => document.activeElement?.textContent === '9');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Space');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await hasFocus(page, `Edit score of ${two}`);
  assert.equal((await read(two)).score, 12);
});

/** Pastes a text where the focus is. */
const paste = (page: Page, text: string) =>
  page.evaluate((text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', text);
    const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
    document.activeElement?.dispatchEvent(event);
  }, text);

test('a pasted column fills the rows below after a confirmation, and can be undone', async (t) => {
  const keys: string[] = [];
  for (const name of ['A', 'B', 'C'])
    keys.push((await console.post(`${project}/issues`, { title: `${name} of 6630`, severity: 'low' })).key);
  const read = async (field: string) => {
    const { data } = await console.get('/v1/issues?q=6630&sort=title');
    return data.map((issue: Record<string, unknown>) => issue[field]);
  };
  const page = await console.open(t, '/issues?q=6630&sort=title');
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: `Edit due of ${keys[0]}` }).focus();
  await paste(page, '2027-03-01\r\n31.03.2027\r\nsoon\r\nlate\r\n');
  await dialog.getByText('Write “soon” as year-month-day. Skipped.').waitFor();
  await dialog.getByText('1 line more than the list has rows').waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('Updated 2 issues').waitFor();
  await hasFocus(page, `Edit due of ${keys[0]}`);
  assert.deepEqual(await read('due_on'), ['2027-03-01', '2027-03-31', null]);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Undone').waitFor();
  assert.deepEqual(await read('due_on'), [null, null, null]);

  // Into the input of a cell, and into the button that assigns an issue.
  await page.getByRole('button', { name: `Edit severity of ${keys[1]}` }).press('Enter');
  await hasFocus(page, 'Severity');
  await paste(page, 'High\nlow');
  await dialog.getByText('No change').waitFor();
  await dialog.getByRole('button', { name: 'Change 1 issue' }).press('Enter');
  await page.getByText('Updated 1 issue').waitFor();
  assert.deepEqual(await read('severity'), ['low', 'high', 'low']);
  await page.getByRole('button', { name: `Assign…, ${keys[0]}` }).focus();
  await paste(page, 'adaeze eze\nNobody Known');
  await dialog.getByText('Nobody who can be assigned is called “Nobody Known”. Skipped.').waitFor();
  await dialog.getByRole('button', { name: 'Change 1 issue' }).press('Enter');
  await page.getByRole('button', { name: `Adaeze Eze, ${keys[0]}` }).waitFor();
});

test('a column of many pasted names is looked up with one request', async (t) => {
  await fillPeople(console.app.database, 60, { department: 'Pasted' });
  const { data } = await console.get('/v1/personnel?department=Pasted');
  const names = data.map(({ name }: { name: string }) => name);
  const page = await console.open(t, '/risks');
  await page.locator('.cell-edit[data-field=owner_user_id]').first().focus();
  const requests: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/v1/personnel')) requests.push(request.url());
  });
  await paste(page, names.join('\n'));
  await page.getByRole('dialog').getByText(names.at(-1), { exact: true }).waitFor();
  assert.equal(await page.getByRole('dialog').getByText('Skipped.').count(), 0);
  assert.equal(requests.length, 1, requests.join('\n'));
});

test('pasted values stay with the rows that they were pasted into', async (t) => {
  const keys: Record<string, string> = {};
  const add = async (name: string) => {
    keys[name] = (await console.post(`${project}/issues`, { title: `${name} of 6631`, severity: 'low' })).key;
  };
  for (const name of ['A', 'C']) await add(name);
  const days = async () => {
    const { data } = await console.get('/v1/issues?q=6631&sort=title');
    return data.map(({ due_on }: { due_on: string | null }) => due_on);
  };
  const page = await console.open(t, '/issues?q=6631&sort=title');
  const dialog = page.getByRole('dialog');
  const open = async (name: string, text: string) => {
    await page.getByRole('button', { name: `Edit due of ${keys[name]}` }).focus();
    await paste(page, text);
    await dialog.locator('tbody tr').first().waitFor();
  };
  // A row of somebody else comes between the two.
  await open('A', '2027-03-01\n2027-03-02');
  const behind = async (change: () => Promise<unknown>) => {
    await setHidden(page, true);
    await change();
    const read = page.waitForResponse((response) => /\/v1\/issues\?/.test(response.url()));
    await setHidden(page, false);
    await (await read).finished();
  };
  await behind(() => add('B'));
  await page.locator(`tbody tr a[href$="/issues/${keys.B}"]`).waitFor({ state: 'attached' });
  await dialog.getByRole('button', { name: 'Change 2 issues' }).click();
  await page.getByText('Updated 2 issues').waitFor();
  assert.deepEqual(await days(), ['2027-03-01', null, '2027-03-02']);

  // The same values again, for more rows than before.
  await open('C', '2027-04-01\n2027-04-02\n2027-04-03');
  await dialog.getByText('2 lines more than the list has rows').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  for (const name of ['D', 'E']) await add(name);
  await page.locator(`tbody tr a[href$="/issues/${keys.E}"]`).waitFor();
  await open('C', '2027-04-01\n2027-04-02\n2027-04-03');
  assert.equal(await dialog.locator('tbody tr').count(), 3);
  // Nothing is changed without a word.
  const path = `${project}/issues/${keys.C}`;
  await setHidden(page, true);
  await console.patch(path, { status: 'resolved', resolution: 'fixed' });
  await dialog.getByRole('button', { name: 'Change 3 issues' }).click();
  await dialog.getByText(`Nothing was changed. ${keys.C}: Someone else changed it meanwhile.`).waitFor();
  assert.equal((await console.get(path)).due_on, '2027-03-02');
  assert.deepEqual(await days(), ['2027-03-01', null, null, null]);
});

test('a key that only reads cannot edit cells, and the bar sets the category of selected risks', async (t) => {
  await console.post(`${project}/risks`, { title: 'Sorted 6640', category: 'cyber' });
  const reader = await console.open(t, '/risks?q=6640', { scopes: ['projects.read', 'personnel.read'] });
  assert.equal(await reader.locator('.cell-edit').count(), 0);
  const page = await console.open(t, '/risks?q=6640');
  await page.keyboard.press('j');
  await page.keyboard.press('Space');
  await page.locator('.preview-panel').getByText('Cyber', { exact: true }).waitFor();
  await page.keyboard.press('Space');
  await page.keyboard.press('x');
  await page.getByRole('button', { name: 'Set…', exact: true }).press('Enter');
  await page.getByRole('menuitem', { name: 'Category' }).press('Enter');
  await page.getByRole('dialog').getByLabel('Category').fill('Supply');
  await page.keyboard.press('Enter');
  await page.getByText('Updated 1 risk').waitFor();
  assert.equal((await console.get('/v1/risks?q=6640')).data[0].category.toLowerCase(), 'supply');
});
