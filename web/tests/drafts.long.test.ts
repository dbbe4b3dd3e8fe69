import assert from 'node:assert/strict';
import { startConsole, test, waitUntilLoaded } from './console.ts';
import { setHidden } from './page.ts';

const console = startConsole();

test('what was typed into a cell stays when its row is scrolled away, and when the page is left', async (t) => {
  const page = await console.open(t, '/risks');
  const id = (await page.locator('tbody tr[data-row]').first().getAttribute('data-row')) ?? '';
  const { project_key, key } = await console.get(`/v1/risks/${id}`);
  const row = page.locator(`tr[data-row="${id}"]`);
  const input = row.getByLabel('Due', { exact: true });
  await row.getByRole('button', { name: `Edit due of ${key}` }).click();
  await input.fill('2031-05-05');
  const scroll = async (top: number, state: 'attached' | 'detached') => {
    await page.evaluate((top) => scrollTo(0, top), top);
    await row.waitFor({ state });
  };
  await scroll(3_000, 'detached');
  // Another cell that is edited meanwhile closes alone.
  await page.locator('.cell-edit[data-field=due_on]').last().click();
  await page.keyboard.press('Escape');
  await page.locator('.cell-editor').waitFor({ state: 'detached' });
  await scroll(0, 'attached');
  assert.equal(await input.inputValue(), '2031-05-05');

  await scroll(3_000, 'detached');
  await page.getByRole('link', { name: 'Issues', exact: true }).first().click();
  await page.getByRole('heading', { level: 1, name: 'Issues' }).waitFor();
  await page.getByRole('link', { name: 'Risks', exact: true }).first().click();
  await waitUntilLoaded(page);
  assert.equal(await input.inputValue(), '2031-05-05');
  await input.press('Enter');
  await page.locator('.cell-editor').waitFor({ state: 'detached' });
  assert.equal((await console.get(`/v1/projects/${project_key}/risks/${key}`)).due_on, '2031-05-05');
});

test('the draft of a risk model stays when somebody else applies a version, and leaving it asks', async (t) => {
  const page = await console.open(t, '/settings');
  await page.getByRole('tab', { name: 'Risk model' }).click();
  const word = page.getByLabel('Label of probability 1', { exact: true });
  await word.fill('My word');
  const { data: presets } = await console.get('/v1/risk-model/presets');
  const { default_appetite, version } = await console.get('/v1/risk-model');
  await console.put('/v1/risk-model', { ...presets[0].model, default_appetite: default_appetite + 1 });
  await page.getByText(`Your draft is from version ${version} and would replace it.`).waitFor();
  assert.equal(await word.inputValue(), 'My word');
  for (const leave of [
    () => page.getByRole('link', { name: 'Risks', exact: true }).first().click(),
    () => page.getByRole('tab', { name: 'Categories' }).click(),
    () => page.getByRole('button', { name: 'Sign out' }).click(),
    () => page.goBack(),
  ]) {
    await leave();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Keep editing' }).click();
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    assert.equal(await word.inputValue(), 'My word');
  }
  await page.getByRole('button', { name: 'Preview changes' }).click();
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText(`Version ${version + 2} of the risk model applies`).waitFor();
  const model = await console.get('/v1/risk-model');
  assert.deepEqual(
    [model.probability[0].word, model.default_appetite, model.version],
    ['My word', default_appetite, version + 2],
  );

  await word.fill('Not applied');
  await page.getByRole('link', { name: 'Risks', exact: true }).first().click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Discard' }).click();
  await page.getByRole('heading', { level: 1, name: 'Risks' }).waitFor();
});

test('a comment on a risk that leaves the first ten while it is written is saved, or refused beside it', async (t) => {
  const { key: project } = await console.post('/v1/projects', { name: 'Drafts' });
  const old = { probability: 5, impact: 5, due_on: '2020-01-01', raised_on: '2020-01-01' };
  const add = (title: string) => console.post(`/v1/projects/${project}/risks`, { title, ...old });
  const [kept, closed] = [await add('Is kept'), await add('Is closed')];
  const page = await console.newPage(t);
  await page.clock.install();
  await page.goto('/report');
  await waitUntilLoaded(page);
  const listed = page.locator('[aria-labelledby=top-risks]').getByText(kept.key, { exact: true });
  await listed.waitFor();
  await page.getByRole('button', { name: 'Save report…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Save report' });
  const commentOn = ({ key, title }: typeof kept) =>
    dialog.getByRole('textbox', { name: `${key} ${title}`, exact: true });
  await commentOn(kept).fill('Watched daily.');
  await commentOn(closed).fill('Nearly over.');
  const path = `/v1/projects/${project}/risks`;
  await console.patch(`${path}/${kept.key}`, { probability: 1, impact: 1 });
  await console.patch(`${path}/${closed.key}`, { status: 'closed', closure_reason: 'Over' });
  // The tab was left and is shown again, when what it shows is old.
  await page.clock.fastForward(60_000);
  await setHidden(page, false);
  await listed.waitFor({ state: 'detached' });
  const save = () => dialog.getByRole('button', { name: 'Save report' }).click();
  await save();
  const field = dialog.locator(`[data-field-row=${closed.id}]`);
  await field.getByText('The report does not show this risk.').waitFor();
  assert.deepEqual(
    [await commentOn(kept).inputValue(), await commentOn(closed).inputValue()],
    ['Watched daily.', 'Nearly over.'],
  );
  await commentOn(closed).fill('');
  await save();
  await page.waitForURL(/\/reports\/rpt_/);
  const report = await console.get(`/v1${new URL(page.url()).pathname}`);
  assert.deepEqual(report.risk_commentary, [{ risk_id: kept.id, text: 'Watched daily.' }]);
});

test('a rating stays open when its row leaves the list, and replaces nobody else’s change', async (t) => {
  const rating = { probability: 4, impact: 4 };
  const { key, id } = await console.post('/v1/projects/APOLLO/risks', { title: 'Leaves 4471', ...rating });
  const page = await console.newPage(t);
  await page.clock.install();
  await page.goto('/risks?q=4471');
  const row = page.locator(`tr[data-row="${id}"]`);
  await row.locator('.cell-edit[data-field=rating]').first().click();
  const dialog = page.getByRole('dialog', { name: `Assess ${key}` });
  await dialog.locator('[data-cell="1 2"]').click();
  const reason = dialog.getByLabel('Reason');
  await reason.fill('It is unlikely now.');
  const path = `/v1/projects/APOLLO/risks/${key}`;
  await console.patch(path, { status: 'closed', closure_reason: 'Over', impact: 5 });
  // The tab was left and is shown again, when what it shows is old.
  await page.clock.fastForward(60_000);
  await setHidden(page, false);
  await row.waitFor({ state: 'detached' });
  assert.equal(await reason.inputValue(), 'It is unlikely now.');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('alert').getByText('changed this').waitFor();
  assert.equal(await reason.inputValue(), 'It is unlikely now.');
  const { probability, impact } = await console.get(path);
  assert.deepEqual([probability, impact], [4, 5]);
});

test('a description of a category stays when somebody else renames the category', async (t) => {
  const { id } = await console.post('/v1/categories', { name: 'Before 3390' });
  const page = await console.newPage(t);
  await page.clock.install();
  await page.goto('/settings/categories');
  await page.getByRole('button', { name: 'Edit Before 3390' }).click();
  const description = page.getByRole('dialog').getByLabel('Description');
  await description.fill('Typed for long.');
  await console.patch(`/v1/categories/${id}`, { name: 'After 3390' });
  // The tab was left and is shown again, when what it shows is old.
  await page.clock.fastForward(60_000);
  await setHidden(page, false);
  await page.getByText('After 3390', { exact: true }).first().waitFor();
  assert.equal(await description.inputValue(), 'Typed for long.');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog').getByRole('alert').getByText('changed this').waitFor();
  assert.equal(await description.inputValue(), 'Typed for long.');
});
