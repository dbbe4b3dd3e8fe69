import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { startConsole, test, visit } from './console.ts';
import { editorClosed, fact, pick } from './page.ts';

const console = startConsole();

const newRisk = (title: string, project = 'APOLLO') =>
  console.post(`/v1/projects/${project}/risks`, { title });
const newIssue = (title: string) => console.post('/v1/projects/APOLLO/issues', { title });

type Item = { key: string; title: string };

const pickInPlace = async (page: Page, label: string, text: string, { key, title }: Item) => {
  await page.getByRole('button', { name: `Edit ${label}` }).click();
  await pick(page, label, text, new RegExp(`${key} ${title}`));
  await fact(page, label).getByRole('link', { name: key }).waitFor();
  await editorClosed(page);
};

test('the risk of an issue, and the risk and issue of a task, are edited on their pages', async (t) => {
  const risk = await newRisk('Zephyr mast may bend');
  await console.patch(`/v1/projects/APOLLO/risks/${risk.key}`, { status: 'closed', closure_reason: 'Gone' });
  const issue = await newIssue('Zephyr mast is bent');
  const task = await console.post('/v1/projects/APOLLO/tasks', { title: 'Straighten it' });
  const page = await console.open(t, `/issues/${issue.key}`);
  await fact(page, 'Risk').getByText('Not set').waitFor();
  await pickInPlace(page, 'Risk', 'zephyr', risk);
  const read = (path: string) => console.get(`/v1/projects/APOLLO/${path}`);
  assert.equal((await read(`issues/${issue.key}`)).risk_id, risk.id);

  await visit(page, `/tasks/${task.key}`);
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
  const page = await console.open(t, '/tasks');
  await page.getByRole('button', { name: 'Add task' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add task' });
  assert.equal(await dialog.getByRole('combobox', { name: 'Risk', exact: true }).count(), 0);
  await pick(page, 'Project', 'APOLLO', /APOLLO/);
  await dialog.getByLabel('Title').fill('Oil the quill valve');
  await pick(page, 'Risk', 'quill', /Quill valve may stick/);
  // Another project has other risks.
  await pick(page, 'Project', 'QUILL', new RegExp(other.name));
  assert.equal(await dialog.getByRole('combobox', { name: 'Risk', exact: true }).inputValue(), '');
  await pick(page, 'Project', 'APOLLO', /APOLLO/);
  await pick(page, 'Risk', 'quill', /Quill valve may stick/);
  await dialog.getByRole('button', { name: 'Add task' }).click();
  await dialog.waitFor({ state: 'detached' });
  const { data } = await console.get(`/v1/projects/APOLLO/tasks?risk_id=${risk.id}`);
  assert.deepEqual(
    data.map(({ title, kind }: { title: string; kind: string }) => [title, kind]),
    [['Oil the quill valve', 'mitigation']],
  );

  // The form of the task shows the risk by its name.
  await page.goto(`/risks/${risk.key}`);
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
  const page = await console.open(t, '/issues?project=APOLLO');
  await page.getByRole('button', { name: 'Create issue' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Title').fill('Vortex again');
  await pick(page, 'Risk', 'vortex one', /Vortex one/);
  await console.delete(`/v1/projects/APOLLO/risks/${first.key}`);
  await dialog.getByRole('button', { name: 'Create issue' }).click();
  await dialog.locator('.field', { hasText: 'Risk' }).locator('.field-error').waitFor();
  assert.equal(
    await dialog.getByRole('combobox', { name: 'Risk', exact: true }).getAttribute('aria-invalid'),
    'true',
  );

  await visit(page, `/issues/${issue.key}`);
  await page.getByRole('button', { name: 'Edit Risk' }).click();
  await page.getByRole('combobox', { name: 'Risk', exact: true }).fill('vortex two');
  await page.getByRole('option', { name: /Vortex two/ }).waitFor();
  await console.delete(`/v1/projects/APOLLO/risks/${second.key}`);
  await page.getByRole('option', { name: /Vortex two/ }).click();
  await page.locator('.inline-editor').getByRole('alert').waitFor();
});
