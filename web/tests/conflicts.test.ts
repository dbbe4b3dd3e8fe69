import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Console, startConsole, waitUntilLoaded } from './console.ts';

let console: Console;

before(async () => {
  console = await startConsole();
});

after(() => console.stop());

const newPerson = (name: string) => console.post('/v1/personnel', { name });

const newRisk = async (fields: object = {}) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Contended', ...fields });
  return { key, path: `/v1/projects/APOLLO/risks/${key}` };
};

const pick = async (page: Page, label: string, name: string) => {
  await page.getByRole('combobox', { name: label }).fill(name);
  await page.getByRole('option', { name }).click();
};

test('after a conflict, a form shows the people that it saves', async (t) => {
  const [before, mine, theirs] = await Promise.all(
    ['Anna Before', 'Bela Mine', 'Cora Theirs'].map(newPerson),
  );
  const { key, path } = await newRisk({ owner_user_id: before.user_id });
  const page = await console.open(t, `/risks/${key}`);
  if (!page) return;
  const dialog = page.getByRole('dialog');
  const owner = dialog.getByRole('combobox', { name: 'Owner' });
  const reviewAfter = async (change: object) => {
    await console.patch(path, change);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('button', { name: 'Review' }).click();
  };
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
  await page.goto(`${console.app.baseUrl}/projects/${project.key}`);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await dialog.getByLabel('Description').fill('Mine');
  await console.patch(`/v1/projects/${project.key}`, { lead_user_id: theirs.user_id });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('button', { name: 'Review' }).click();
  await dialog.getByText('Lead: Cora Theirs').waitFor();
  assert.equal(await dialog.getByRole('combobox', { name: 'Lead' }).inputValue(), 'Cora Theirs');
});

test('a person who was picked in place is shown after a conflict and after a reload', async (t) => {
  const [before, mine, theirs] = await Promise.all(
    ['Dora Before', 'Emil Mine', 'Fred Theirs'].map(newPerson),
  );
  const { key, path } = await newRisk({ owner_user_id: before.user_id });
  const page = await console.open(t, `/risks/${key}`, { scopes: ['projects.manage', 'personnel.read'] });
  if (!page) return;
  await waitUntilLoaded(page);
  await page.getByRole('button', { name: 'Edit Owner', exact: true }).click();
  await console.patch(path, { owner_user_id: theirs.user_id });
  await pick(page, 'Owner', 'Emil Mine');
  await page.getByText('Owner: Fred Theirs (yours: Emil Mine)').waitFor();
  await page.reload();
  const owner = page.getByRole('combobox', { name: 'Owner' });
  await owner.waitFor();
  assert.equal(await owner.inputValue(), 'Emil Mine');
  await page.locator('.inline-editor').getByRole('button', { name: 'Save' }).click();
  await page.locator('.inline-editor').waitFor({ state: 'detached' });
  assert.equal((await console.get(path)).owner_user_id, mine.user_id);
});
