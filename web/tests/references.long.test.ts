import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { assertAccessible } from './axe.ts';
import { type Console, startConsole, waitUntilLoaded } from './console.ts';

let console: Console;

before(async () => {
  console = await startConsole();
});

after(() => console.stop());

const newRisk = (title: string, project = 'APOLLO') =>
  console.post(`/v1/projects/${project}/risks`, { title });
const newIssue = (title: string) => console.post('/v1/projects/APOLLO/issues', { title });

type Item = { key: string; title: string };

const fact = (page: Page, label: string) =>
  page.locator('.fact', { has: page.getByText(label, { exact: true }) }).locator('dd');

const pick = async (place: Page | Locator, label: string, text: string, name: RegExp) => {
  await place.getByRole('combobox', { name: label, exact: true }).fill(text);
  // A click could scroll the page first, which closes the list.
  await place.locator('[role=option][data-focused]', { hasText: name }).waitFor();
  await place.getByRole('combobox', { name: label, exact: true }).press('Enter');
};

const pickInPlace = async (page: Page, label: string, text: string, { key, title }: Item) => {
  await page.getByRole('button', { name: `Edit ${label}` }).click();
  await pick(page, label, text, new RegExp(`${key} ${title}`));
  await fact(page, label).getByRole('link', { name: key }).waitFor();
  await page.locator('.inline-editor').waitFor({ state: 'detached' });
};

test('the risk of an issue, and the risk and issue of a task, are edited on their pages', async (t) => {
  const risk = await newRisk('Zephyr mast may bend');
  await console.patch(`/v1/projects/APOLLO/risks/${risk.key}`, { status: 'closed', closure_reason: 'Gone' });
  const issue = await newIssue('Zephyr mast is bent');
  const task = await console.post('/v1/projects/APOLLO/tasks', { title: 'Straighten it' });
  const page = await console.open(t, `/issues/${issue.key}`, { viewport: { width: 1440, height: 900 } });
  if (!page) return;
  await waitUntilLoaded(page);
  await fact(page, 'Risk').getByText('Not set').waitFor();
  await pickInPlace(page, 'Risk', 'zephyr', risk);
  const read = (path: string) => console.get(`/v1/projects/APOLLO/${path}`);
  assert.equal((await read(`issues/${issue.key}`)).risk_id, risk.id);

  await page.goto(`${console.app.baseUrl}/tasks/${task.key}`);
  await waitUntilLoaded(page);
  await pickInPlace(page, 'Risk', risk.key, risk);
  await pickInPlace(page, 'Issue', 'zephyr', issue);
  assert.equal((await read(`tasks/${task.key}`)).issue_id, issue.id);
  await page.getByRole('button', { name: 'Edit Risk' }).click();
  const box = page.getByRole('combobox', { name: 'Risk' });
  assert.equal(await box.inputValue(), `${risk.key} Zephyr mast may bend`);
  await box.clear();
  await page.keyboard.press('Escape');
  await page.locator('.inline-editor').getByRole('button', { name: 'Save' }).click();
  await fact(page, 'Risk').getByText('Not set').waitFor();
  assert.equal((await read(`tasks/${task.key}`)).risk_id, null);
});

test('a task added on the Tasks page is attached to a risk of the chosen project', async (t) => {
  const risk = await newRisk('Quill valve may stick');
  const other = await console.post('/v1/projects', { name: 'Quill project', key: 'QUILL' });
  const page = await console.open(t, '/tasks', { viewport: { width: 1440, height: 900 } });
  if (!page) return;
  await waitUntilLoaded(page);
  await page.getByRole('button', { name: 'Add task' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add task' });
  assert.equal(await dialog.getByRole('combobox', { name: 'Risk', exact: true }).count(), 0);
  await pick(dialog, 'Project', 'APOLLO', /APOLLO/);
  await dialog.getByLabel('Title').fill('Oil the quill valve');
  await pick(dialog, 'Risk', 'quill', /Quill valve may stick/);
  await assertAccessible(page, 'a form with a picked risk');
  // Another project has other risks.
  await pick(dialog, 'Project', 'QUILL', new RegExp(other.name));
  assert.equal(await dialog.getByRole('combobox', { name: 'Risk', exact: true }).inputValue(), '');
  await pick(dialog, 'Project', 'APOLLO', /APOLLO/);
  await pick(dialog, 'Risk', 'quill', /Quill valve may stick/);
  await dialog.getByRole('button', { name: 'Add task' }).click();
  await dialog.waitFor({ state: 'detached' });
  const { data } = await console.get(`/v1/projects/APOLLO/tasks?risk_id=${risk.id}`);
  assert.deepEqual(
    data.map(({ title, kind }: { title: string; kind: string }) => [title, kind]),
    [['Oil the quill valve', 'mitigation']],
  );

  // The form of the task shows the risk by its name.
  await page.goto(`${console.app.baseUrl}/risks/${risk.key}`);
  await page.getByRole('button', { name: 'Edit: Oil the quill valve' }).click();
  await page.waitForFunction(
    (name) =>
      [...document.querySelectorAll<HTMLInputElement>('[role=dialog] [role=combobox]')].some(
        ({ value }) => value === name,
      ),
    `${risk.key} Quill valve may stick`,
  );
});

test('the error of a risk that is gone meanwhile is at its field', async (t) => {
  const [first, second] = [await newRisk('Vortex one'), await newRisk('Vortex two')];
  const issue = await newIssue('Vortex came');
  const page = await console.open(t, '/issues?project=APOLLO', { viewport: { width: 1440, height: 900 } });
  if (!page) return;
  await waitUntilLoaded(page);
  await page.getByRole('button', { name: 'Create issue' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Title').fill('Vortex again');
  await pick(dialog, 'Risk', 'vortex one', /Vortex one/);
  await console.delete(`/v1/projects/APOLLO/risks/${first.key}`);
  await dialog.getByRole('button', { name: 'Create issue' }).click();
  await dialog.locator('.field', { hasText: 'Risk' }).locator('.field-error').waitFor();
  assert.equal(
    await dialog.getByRole('combobox', { name: 'Risk', exact: true }).getAttribute('aria-invalid'),
    'true',
  );

  await page.goto(`${console.app.baseUrl}/issues/${issue.key}`);
  await waitUntilLoaded(page);
  await page.getByRole('button', { name: 'Edit Risk' }).click();
  await page.getByRole('combobox', { name: 'Risk', exact: true }).fill('vortex two');
  await page.getByRole('option', { name: /Vortex two/ }).waitFor();
  await console.delete(`/v1/projects/APOLLO/risks/${second.key}`);
  await page.getByRole('option', { name: /Vortex two/ }).click();
  await page.locator('.inline-editor').getByRole('alert').waitFor();
});
