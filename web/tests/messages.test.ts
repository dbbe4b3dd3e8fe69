import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Console, startConsole, waitUntilLoaded } from './console.ts';

let console: Console;

before(async () => {
  console = await startConsole();
});

after(() => console.stop());

test('the errors of a form name its fields by their labels', async (t) => {
  const page = await console.open(t, '/projects/APOLLO');
  if (!page) return;
  await page.goto(`${console.app.baseUrl}/projects/APOLLO?tab=risks`);
  await page.getByRole('button', { name: 'Create risk' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Create risk' });
  await dialog.getByLabel('Title').fill('   ');
  await dialog.getByRole('button', { name: 'Create risk' }).click();
  await dialog.getByText('Title is required.').waitFor();
  await dialog.getByLabel('Title').fill('Labelled');
  await dialog.getByLabel('Due').fill('2020-01-31');
  await dialog.getByRole('combobox', { name: 'Owner', exact: true }).fill('adaeze');
  await page.getByRole('option', { name: /Adaeze Eze/ }).click();
  await dialog.getByRole('combobox', { name: 'Owning group' }).fill('a');
  await page.getByRole('option').first().click();
  await dialog.getByRole('button', { name: 'Create risk' }).click();
  await dialog.getByText('Due is before Raised, which defaults to today.').waitFor();
  await dialog.getByText('Set Owner or Owning group, not both.').waitFor();

  await page.goto(`${console.app.baseUrl}/keys?new=true`);
  const keys = page.getByRole('dialog', { name: 'Create key' });
  await keys.getByLabel('Name').fill('No scopes');
  await keys.getByRole('button', { name: 'Create key' }).click();
  await keys.getByText('Select at least one scope.').waitFor();
});

test('the errors of a field on the page and of a filter name it by its label', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Renamed' });
  const page = await console.open(t, `/risks/${key}`);
  if (!page) return;
  await waitUntilLoaded(page);
  await page.getByRole('button', { name: 'Edit Title' }).click();
  await page.getByRole('textbox', { name: 'Title' }).fill(' ');
  await page.keyboard.press('Enter');
  await page.locator('.inline-editor').getByText('Title is required.').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Edit Due', exact: true }).click();
  await page.getByLabel('Due').fill('2020-01-31');
  await page.keyboard.press('Enter');
  await page.locator('.inline-editor').getByText('Due is before Raised').waitFor();
  await page.keyboard.press('Escape');

  await page.goto(`${console.app.baseUrl}/risks?level=huge&owner_user_id=me`);
  const notice = page.getByRole('alert').first();
  await notice.getByText(/^Level: This must be one of/).waitFor();
  await notice.getByText(/^Owner: This must be an id/).waitFor();
  assert.doesNotMatch((await notice.textContent()) ?? '', /`|owner_user_id/);
});

test('the days in the reasons of project health are in the format of the reader', async (t) => {
  await console.post('/v1/projects', { name: 'Late', key: 'LATE', status: 'active', due_on: '2026-02-28' });
  const page = await console.open(t, '/projects/LATE', { viewport: { width: 1600, height: 900 } });
  if (!page) return;
  await page.getByRole('listitem').filter({ hasText: 'Was due on 28 Feb 2026' }).waitFor();
  for (const path of ['/projects?q=late', '/report?project=LATE']) {
    await page.goto(console.app.baseUrl + path);
    await page.getByText('Was due on 28 Feb 2026').locator('visible=true').first().waitFor();
    await waitUntilLoaded(page);
    assert.doesNotMatch((await page.locator('main').textContent()) ?? '', /2026-02-28/);
  }
});
