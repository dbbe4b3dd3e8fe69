import assert from 'node:assert/strict';
import { screenshot, startConsole, test, waitUntilLoaded } from './console.ts';
import { assertFits, inDays, openHeatMap, pick } from './page.ts';

const console = startConsole();

const focusedLabel = () => {
  const element = document.activeElement as HTMLInputElement | null;
  return (
    element?.getAttribute('aria-label') ??
    element?.labels?.[0]?.textContent ??
    element?.id ??
    element?.tagName
  );
};

/** Sends a text and the Escape key without a pause, as a fast user or a slow machine does. */
const typeThenEscape = async (input: HTMLElement, text: string) => {
  (input as HTMLInputElement).select();
  document.execCommand('insertText', false, text);
  await null;
  input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
};

test('an open combo box leaves the form readable, and closing its list does not send the form', async (t) => {
  const page = await console.open(t, '/groups');
  await page.getByRole('button', { name: 'Create group' }).click();
  const dialog = page.getByRole('dialog', { name: 'Create group' });
  await dialog.getByLabel('Name').fill('Not sent');
  await dialog.getByRole('combobox', { name: 'Lead' }).fill('a');
  await page.getByRole('listbox').getByRole('option').first().waitFor();
  await dialog.getByRole('textbox', { name: 'Name' }).waitFor();
  const close = page.locator('.popover').getByRole('button', { name: 'Dismiss' });
  await close.dispatchEvent('click');
  await page.getByRole('listbox').waitFor({ state: 'detached' });
  assert.equal(await dialog.getByLabel('Name').inputValue(), 'Not sent');
  assert.deepEqual((await console.get('/v1/groups?q=not sent')).data, []);
});

test('a form focuses its first field, asks before it loses text, and drops corrected errors', async (t) => {
  const page = await console.open(t, '/personnel', { viewport: { width: 1024, height: 560 } });
  await page.getByRole('button', { name: 'Add person' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add person' });
  await dialog.waitFor();
  assert.equal(await page.evaluate(focusedLabel), 'Name *');
  assert.ok(
    await dialog.getByRole('button', { name: 'Add person' }).evaluate((button) => {
      const { bottom } = button.getBoundingClientRect();
      return bottom <= innerHeight;
    }),
    'the button is in view although the form is taller than the window',
  );
  await dialog.getByLabel('Name').evaluate(typeThenEscape, 'Ida Unsaved');
  const question = page.getByRole('alertdialog', { name: 'Discard changes?' });
  await question.getByRole('button', { name: 'Keep editing' }).click();
  assert.equal(await dialog.getByLabel('Name').inputValue(), 'Ida Unsaved');
  await page.mouse.click(5, 300);
  await question.getByRole('button', { name: 'Keep editing' }).click();

  await dialog.getByLabel('Email').fill('no address');
  await dialog.getByRole('button', { name: 'Add person' }).click();
  await dialog.locator('.field-error').waitFor();
  await dialog.getByLabel('Email').fill('ida@example.com');
  await dialog.locator('.field-error').waitFor({ state: 'detached' });

  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await question.getByRole('button', { name: 'Discard' }).click();
  await dialog.waitFor({ state: 'detached' });
  const { data } = await console.get('/v1/personnel?q=ida%20unsaved');
  assert.deepEqual(data, []);
});

test('dialogs focus their first field', async (t) => {
  const person = await console.post('/v1/personnel', { name: 'Focused Person' });
  const { key } = await console.post('/v1/projects/APOLLO/issues', { title: 'Focused' });
  const page = await console.open(t, '/risks');
  for (const [path, button, label] of [
    ['/risks', 'Create risk', 'Project'],
    [`/issues/${key}`, 'Resolve…', 'Resolution *'],
    [`/personnel/${person.user_id}`, 'Deactivate…', 'Hand over to'],
  ] as const) {
    await page.goto(path);
    await page.getByRole('button', { name: button, exact: true }).click();
    const field = page.getByRole('dialog').locator('input, select, textarea').first();
    await field.waitFor();
    assert.equal(await page.evaluate(focusedLabel), label, button);
    // A list of suggestions would cover the other fields.
    assert.equal(await page.getByRole('listbox').count(), 0, button);
  }
});

test('a key that can only read sees why a risk is accepted or closed', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Explained' });
  const acceptance_reason = 'Insured up to the deductible.';
  const accepted_until = inDays(30);
  await console.patch(`/v1/projects/APOLLO/risks/${key}`, {
    status: 'accepted',
    acceptance_reason,
    accepted_until,
  });
  const reader = await console.open(t, `/risks/${key}`, { scopes: ['projects.read'] });
  await reader.locator('.facts').getByText(acceptance_reason).waitFor();

  const closed = { status: 'closed', closure_reason: 'The contract has ended.', lessons: 'Insure earlier.' };
  await console.patch(`/v1/projects/APOLLO/risks/${key}`, closed);
  await reader.reload();
  await reader.locator('.facts').getByText(closed.closure_reason).waitFor();
  await reader.locator('.facts').getByText(closed.lessons).waitFor();
});

test('the focus stays on the page after a row is removed and after a row is opened', async (t) => {
  for (const title of ['Focus 8812 one', 'Focus 8812 two']) {
    await console.post('/v1/projects/APOLLO/issues', { title });
  }
  const page = await console.open(t, '/issues?q=8812');
  await page
    .getByRole('button', { name: /^Resolve / })
    .first()
    .press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Resolve' }).press('Enter');
  await page.getByText('1 open issue').waitFor();
  await page.waitForFunction(() => document.activeElement?.closest('tbody tr') != null);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: /Focus 8812/ }).waitFor();
  await page.waitForFunction(() => document.activeElement?.id === 'main');

  const group = await console.post('/v1/groups', { name: 'Focus group' });
  await page.goto(`/groups/${group.id}`);
  const input = page.getByRole('combobox', { name: 'Add member' });
  await input.fill('adaeze');
  await page.getByRole('option', { name: /Adaeze Eze/ }).click();
  await page.getByRole('heading', { name: '1 member' }).waitFor();
  assert.equal(await page.evaluate(focusedLabel), 'Add member');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Remove Adaeze Eze' }).press('Enter');
  await page.getByText('No members yet').waitFor();
  await page.waitForFunction(() => document.activeElement !== document.body);
});

test('Back undoes a filter or a cell of the heat map, and does not open the dialog for a new project again', async (t) => {
  const page = await console.open(t, '/issues');
  await page.getByRole('button', { name: 'Overdue' }).click();
  await page.waitForURL(/overdue=true/);
  await page.getByRole('button', { name: 'Unassigned' }).click();
  await page.waitForURL(/unassigned=true/);
  await page.goBack();
  await page.waitForURL((url) => url.search === '?overdue=true');
  await page.goto('/risks?level=critical');
  await openHeatMap(page);
  await page.getByRole('link', { name: /^Probability 5, impact 4/ }).click();
  await page.waitForURL(/probability=5&impact=4/);
  await page.goBack();
  await page.waitForURL((url) => url.search === '?level=critical');

  await page.goto('/projects?new=true');
  const dialog = page.getByRole('dialog', { name: 'Create project' });
  await dialog.getByLabel('Name').fill('No way back');
  assert.equal(new URL(page.url()).search, '');
  await dialog.getByRole('button', { name: 'Create project' }).click();
  await page.getByRole('heading', { level: 1, name: 'No way back' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor();
  await waitUntilLoaded(page);
  assert.equal(await dialog.count(), 0);
  await page.goBack();
  await page.waitForURL((url) => url.search === '?level=critical');
});

test('Back undoes a search as one step, and keeps the filter that was set before it', async (t) => {
  const page = await console.open(t, '/issues');
  await page.getByRole('button', { name: 'Overdue' }).click();
  await page.waitForURL(/overdue=true$/);
  const search = page.getByRole('searchbox', { name: 'Search by title or key' });
  const shows = (text: string) =>
    page.waitForFunction(
      (expected) => document.querySelector<HTMLInputElement>('.filters .search input')?.value === expected,
      text,
    );
  await search.pressSequentially('ga');
  await page.waitForURL(/q=ga$/);
  await search.pressSequentially('te');
  await page.waitForURL(/q=gate$/);
  await search.clear();
  await page.waitForURL(/overdue=true$/);
  await page.goBack();
  await page.waitForURL(/overdue=true&q=gate$/);
  await shows('gate');
  await page.goBack();
  await page.waitForURL(/overdue=true$/);
  await shows('');
  await page.goBack();
  await page.waitForURL(/\/issues$/);
});

test('Back, Forward and the palette do not lose what was entered in a dialog', async (t) => {
  const page = await console.open(t, '/risks', { viewport: { width: 1024, height: 700 } });
  const menu = page.getByRole('navigation', { name: 'Pages' });
  for (const name of ['Projects', 'Groups', 'Keys']) {
    await menu.getByRole('link', { name }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
  }
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Groups' }).waitFor();
  await page.getByRole('button', { name: 'Create group' }).click();
  const dialog = page.getByRole('dialog', { name: 'Create group' });
  await dialog.getByLabel('Name').fill('Kept');
  const question = page.getByRole('alertdialog', { name: 'Discard changes?' });
  for (const steps of [-1, 1, -2]) {
    await page.evaluate((by) => history.go(by), steps);
    await question.getByRole('button', { name: 'Keep editing' }).click();
    assert.equal(await dialog.getByLabel('Name').inputValue(), 'Kept');
    assert.equal(new URL(page.url()).pathname, '/groups');
  }
  // The question returns the focus; a press on a field without it would move the caret to its start.
  await dialog.getByLabel('Name').and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('!');
  assert.equal(await dialog.getByLabel('Name').inputValue(), 'Kept!');
  await page.evaluate(() => history.back());
  await question.getByRole('button', { name: 'Discard' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor();
});

test('Cancel in the question before a task is deleted returns to its form, with what was entered', async (t) => {
  const risk = await console.post('/v1/projects/APOLLO/risks', { title: 'With a task' });
  const task = await console.post('/v1/projects/APOLLO/tasks', { title: 'Spared', risk_id: risk.id });
  const page = await console.open(t, `/risks/${risk.key}`);
  await page.getByRole('button', { name: 'Edit: Spared' }).click();
  const form = page.getByRole('dialog', { name: `Edit ${task.key}` });
  await form.getByLabel('Description').fill('A long text');
  await form.getByRole('button', { name: 'Delete task' }).click();
  const question = page.getByRole('dialog', { name: `Delete ${task.key}?` });
  await question.getByRole('button', { name: 'Cancel' }).click();
  await question.waitFor({ state: 'detached' });
  assert.equal(await form.getByLabel('Description').inputValue(), 'A long text');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.waitFor({ state: 'detached' });
  const { description } = await console.get(`/v1/projects/APOLLO/tasks/${task.key}`);
  assert.equal(description, 'A long text');
});

test('an empty form names every required field, focuses the first one and sends nothing', async (t) => {
  const page = await console.open(t, '/risks');
  const writes: string[] = [];
  page.on('request', (request) => {
    if (request.method() !== 'GET') writes.push(request.url());
  });
  await page.getByRole('button', { name: 'Create risk' }).click();
  const dialog = page.getByRole('dialog', { name: 'Create risk' });
  await dialog.getByRole('button', { name: 'Create risk' }).click();
  await dialog.getByText('Title is required.').waitFor();
  assert.deepEqual(await dialog.locator('.field-error').allTextContents(), [
    'Project is required.',
    'Title is required.',
  ]);
  const project = dialog.getByRole('combobox', { name: 'Project' });
  assert.ok(await project.evaluate((element) => element === document.activeElement));
  assert.equal(await project.getAttribute('aria-invalid'), 'true');
  await dialog.getByLabel('Title').fill('Corrected');
  await dialog.getByText('Title is required.').waitFor({ state: 'detached' });

  await page.goto('/keys?new=true');
  const keys = page.getByRole('dialog', { name: 'Create key' });
  await keys.getByRole('button', { name: 'Create key' }).click();
  await keys.getByText('Name is required.').waitFor();
  await keys.getByText('Select at least one scope.').waitFor();
  // Half a date has no value, so it would be lost without a word.
  await keys.getByLabel('Expires').press('1');
  await keys.getByRole('button', { name: 'Create key' }).click();
  await keys.getByText('Enter a complete date.').waitFor();
  assert.deepEqual(writes, []);
});

test('a new risk is rated in the grid, an opportunity in its own words, and the rest is under More', async (t) => {
  for (const width of [1440, 390]) {
    const page = await console.open(t, '/risks?project=APOLLO', { viewport: { width, height: 900 } });
    await page.getByRole('button', { name: 'Create risk' }).click();
    const dialog = page.getByRole('dialog', { name: /^Create risk/ });
    const shown = () => dialog.locator('.field:visible').locator('> :is(label, legend)').allInnerTexts();
    assert.deepEqual(await shown(), ['Kind *', 'Title *', 'Rating', 'Owner', 'Due']);
    // Typing begins with the title, as the kind has a value.
    await page.keyboard.type(`Rebate ${width}`);
    await screenshot(page, `create-risk-${width}`);
    await dialog.getByRole('button', { name: /^Probability 3 .*, impact 3 .*: score 9$/ }).waitFor();
    await dialog.getByLabel('Kind').selectOption('opportunity');
    const grid = dialog.getByRole('grid');
    await grid.getByRole('button', { name: /^Likelihood 3 .*, benefit 3 .*: score 9$/ }).focus();
    await page.keyboard.type('25');
    await grid.locator('[aria-pressed=true]').getByText('10').waitFor();
    // The same cell again leaves the risk without a rating.
    await page.keyboard.press('Enter');
    await grid.locator('[aria-pressed=true]').waitFor({ state: 'detached' });
    await page.keyboard.type('24');
    await dialog.getByText('More', { exact: true }).click();
    await dialog.getByLabel('Residual benefit').waitFor();
    const strategies = () => dialog.getByLabel('Strategy').locator('option').allInnerTexts();
    assert.deepEqual(await strategies(), ['–', 'Accept', 'Escalate', 'Exploit', 'Enhance', 'Share']);
    await dialog.getByLabel('Strategy').selectOption('exploit');
    await dialog.getByLabel('Response plan').fill('Ask early.');
    await screenshot(page, `create-risk-more-${width}`);
    await assertFits(page, `the form at ${width}`);
    await dialog.getByRole('button', { name: 'Create risk' }).click();
    await page.getByRole('heading', { level: 1, name: `Rebate ${width}` }).waitFor();
    const { data } = await console.get(`/v1/risks?kind=opportunity&q=rebate ${width}`);
    assert.deepEqual(
      [data.length, data[0].score, data[0].strategy, data[0].response_plan],
      [1, 8, 'exploit', 'Ask early.'],
    );
  }
});

test('a strategy of threats is not saved in an opportunity, and a folded field with an error is shown', async (t) => {
  const page = await console.open(t, '/risks?project=APOLLO');
  await page.getByRole('button', { name: 'Create risk' }).click();
  const dialog = page.getByRole('dialog', { name: /^Create risk/ });
  await dialog.getByLabel('Title').fill('Once a threat');
  const more = dialog.getByText('More', { exact: true });
  await more.click();
  await dialog.getByLabel('Strategy').selectOption('mitigate');
  await dialog.getByLabel('Category').fill('x'.repeat(300));
  await dialog.getByLabel('Kind').selectOption('opportunity');
  await more.click();
  await dialog.getByLabel('Category').waitFor({ state: 'hidden' });
  await dialog.getByRole('button', { name: 'Create risk' }).click();
  await dialog.locator('[data-field-row=category] .field-error').waitFor();
  await page.waitForFunction(() => document.activeElement?.closest('[data-field-row=category]') != null);
  await dialog.getByLabel('Category').fill('Market');
  await dialog.getByRole('button', { name: 'Create risk' }).click();
  await page.getByRole('heading', { level: 1, name: 'Once a threat' }).waitFor();
  const { data } = await console.get('/v1/risks?kind=opportunity&q=once a threat');
  assert.deepEqual([data.length, data[0].strategy, data[0].category], [1, null, 'Market']);
});

test('the form of a person asks who is accountable only for an agent', async (t) => {
  for (const width of [1440, 390]) {
    const page = await console.open(t, '/personnel', { viewport: { width, height: 900 } });
    await page.getByRole('button', { name: 'Add person' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add person' });
    await dialog.getByLabel('Name').fill(`Robot ${width}`);
    const accountable = dialog.getByRole('combobox', { name: 'Accountable person' });
    assert.equal(await accountable.count(), 0);
    await dialog.getByLabel('Kind').selectOption('agent');
    await accountable.waitFor();
    await dialog.getByRole('button', { name: 'Add person' }).click();
    await dialog.getByText('Accountable person is required.').waitFor();
    await screenshot(page, `add-agent-${width}`);
    await pick(page, 'Accountable person', 'adaeze', 'Adaeze Eze');
    await dialog.getByRole('button', { name: 'Add person' }).click();
    await page.getByRole('heading', { level: 1, name: `Robot ${width}` }).waitFor();
    const [robot] = (await console.get(`/v1/personnel?q=robot ${width}`)).data;
    const human = await console.get(`/v1/personnel/${robot.accountable_user_id}`);
    assert.deepEqual([robot.kind, human.name], ['agent', 'Adaeze Eze']);
  }
});
