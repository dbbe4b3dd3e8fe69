import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { startConsole, test } from './console.ts';
import { editorClosed, hold } from './page.ts';

const console = startConsole();

const pending = '.button[data-pending]';
const toastOf = (page: Page, text: string) => page.locator('.toast', { hasText: text }).last();
const focused = (page: Page) =>
  page.evaluate(() => document.activeElement?.ariaLabel ?? document.activeElement?.textContent ?? '');

/** Asserts that an action is shown as taken before the response to its request arrives. */
async function assertShown(
  page: Page,
  [method, url]: [method: string, url: string],
  { act, sign, settle }: { act: () => Promise<unknown>; sign: string; settle: () => Promise<unknown> },
): Promise<void> {
  const release = await hold(page, url, method);
  await act();
  await page.locator(sign).first().waitFor();
  release();
  await settle();
  await page.unroute(url);
}

test('creating shows that it was taken', async (t) => {
  const page = await console.open(t, '/risks?project=APOLLO');
  await assertShown(page, ['POST', '**/v1/projects/*/risks'], {
    async act() {
      await page.getByRole('button', { name: 'Create risk' }).click();
      await page.getByRole('dialog', { name: 'Create risk' }).getByLabel('Title').fill('Slow risk');
      await page.keyboard.press('Enter');
    },
    sign: `[role=dialog] ${pending}`,
    settle: () => page.getByRole('heading', { level: 1, name: 'Slow risk' }).waitFor(),
  });
  const { data } = await console.get('/v1/risks?project=APOLLO&q=Slow risk');
  assert.equal(data.length, 1);
});

test('editing a field, a status, a comment and deleting show that they were taken', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Handled slowly' });
  const url = `**/v1/projects/APOLLO/risks/${key}`;
  const page = await console.open(t, `/risks/${key}`);
  await assertShown(page, ['PATCH', url], {
    async act() {
      await page.getByRole('button', { name: 'Edit Category' }).click();
      await page.getByLabel('Category').fill('Weather');
      await page.keyboard.press('Enter');
    },
    sign: '.inline-editor[aria-busy=true]',
    settle: () => editorClosed(page),
  });
  await assertShown(page, ['PATCH', url], {
    act: () => toastOf(page, 'Category').getByRole('button', { name: 'Undo' }).click(),
    sign: `.toast ${pending}`,
    settle: () => toastOf(page, 'Undone').waitFor(),
  });
  await assertShown(page, ['PATCH', url], {
    act: () => page.getByRole('button', { name: 'Move to Mitigating', exact: true }).click(),
    sign: pending,
    settle: () => page.locator('#status .chip').getByText('Mitigating').waitFor(),
  });
  await assertShown(page, ['POST', `${url}/comments`], {
    async act() {
      await page.getByRole('textbox', { name: 'Write a comment' }).fill('Said slowly');
      await page.keyboard.press('Control+Enter');
    },
    sign: `form ${pending}`,
    settle: () => page.getByRole('article').getByText('Said slowly').waitFor(),
  });
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await assertShown(page, ['DELETE', url], {
    act: () => page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click(),
    sign: `[role=dialog] ${pending}`,
    settle: () => page.getByRole('heading', { level: 1, name: 'Risks' }).waitFor(),
  });
});

test('assigning, and a dialog and a page whose code is not loaded, show that they were taken', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/issues', { title: 'Assigned slowly' });
  const page = await console.open(t, '/issues?q=Assigned slowly');
  await assertShown(page, ['PATCH', `**/v1/projects/APOLLO/issues/${key}`], {
    async act() {
      await page.getByRole('button', { name: `Assign…, ${key}` }).click();
      await page.getByRole('combobox', { name: 'Assign to' }).fill('adaeze');
      await page.getByRole('option', { name: /Adaeze Eze/ }).click();
    },
    sign: `[data-pending]:has-text("Assign")`,
    settle: () => page.getByRole('button', { name: `Adaeze Eze, ${key}` }).waitFor(),
  });
  await page.getByRole('button', { name: 'Views', exact: true }).click();
  await assertShown(page, ['GET', '**/assets/*.js'], {
    act: () => page.getByRole('menuitem', { name: 'Save as view…' }).click(),
    sign: '[role=dialog]',
    async settle() {
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
    },
  });
  await assertShown(page, ['GET', '**/assets/*.js'], {
    act: () => page.getByRole('link', { name: 'Groups', exact: true }).click(),
    sign: 'main .skeleton',
    settle: () => page.getByRole('heading', { level: 1, name: 'Groups' }).waitFor(),
  });
});

test('the form of a new risk opens before its scales are loaded, and offers to load them again', async (t) => {
  const page = await console.open(t, '/tasks');
  let isDown = true;
  await page.route('**/v1/risk-model', (route) =>
    isDown ? route.fulfill({ status: 500, json: { detail: 'Out of order.' } }) : route.continue(),
  );
  await page.getByRole('link', { name: 'Risks', exact: true }).click();
  await page.getByRole('button', { name: 'Create risk' }).click();
  const dialog = page.getByRole('dialog', { name: 'Create risk' });
  await dialog.getByText('Out of order.').waitFor();
  isDown = false;
  await dialog.getByRole('button', { name: 'Try again' }).click();
  await dialog.getByLabel('Title').waitFor();
});

test('a button keeps the focus while it is busy', async (t) => {
  const page = await console.open(t, '/risks');
  let release = await hold(page, '**/v1/risks?*format=csv*');
  await page.getByRole('button', { name: 'Export' }).press('Enter');
  await page.getByRole('menuitem', { name: 'CSV, as shown' }).press('Enter');
  await page.locator(pending, { hasText: 'Export' }).waitFor();
  await page.waitForFunction(() => document.activeElement?.textContent?.includes('Export'));
  release();
  await page.locator(pending).waitFor({ state: 'detached' });

  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'To assess' });
  await page.goto(`/risks/${key}`);
  await page.getByRole('button', { name: 'Assess' }).click();
  release = await hold(page, `**/v1/projects/APOLLO/risks/${key}`, 'PATCH');
  await page.getByRole('button', { name: /^Probability 4 .* score 12$/ }).press('Enter');
  await page.getByRole('button', { name: 'Save' }).press('Enter');
  await page.locator(pending, { hasText: 'Save' }).waitFor();
  await page.waitForFunction(() => document.activeElement?.textContent?.includes('Save'));
  release();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

test('the focus moves to the first row that "Show more" loads', async (t) => {
  const person = await console.post('/v1/personnel', { name: 'Busy Bee' });
  for (let number = 1; number <= 26; number++) {
    const title = `Chore ${number}`;
    await console.post('/v1/projects/APOLLO/tasks', { title, assignee_user_id: person.user_id });
  }
  const page = await console.open(t, `/personnel/${person.user_id}`);
  const rows = page.getByRole('link', { name: /^Chore/ });
  await page.getByRole('button', { name: 'Show more' }).press('Enter');
  await rows.nth(25).waitFor();
  await page.waitForFunction(() => document.activeElement?.textContent?.startsWith('Chore'));
  assert.equal(await focused(page), await rows.nth(25).textContent());
});
