import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Console, startConsole, waitUntilLoaded } from './console.ts';
import { assertPrompt, slowDown } from './slow-network.ts';

let console: Console;

before(async () => {
  console = await startConsole();
});

after(() => console.stop());

const pending = '.button[data-pending]';
const toastOf = (page: Page, text: string | RegExp) => page.locator('.toast', { hasText: text }).last();
const closed = (page: Page) => page.getByRole('dialog').waitFor({ state: 'hidden' });

const createRisk = async (title: string) =>
  (await console.post('/v1/projects/APOLLO/risks', { title })) as { key: string };

/** A page on a slow network. It is loaded first, because loading it is not measured. */
async function openSlowly(t: Parameters<Console['open']>[0], path: string): Promise<Page | undefined> {
  const page = await console.open(t, path, { viewport: { width: 1440, height: 900 } });
  if (!page) return undefined;
  page.setDefaultTimeout(60_000);
  await waitUntilLoaded(page);
  await slowDown(page);
  const ms = await page.evaluate(async () => {
    const start = performance.now();
    await fetch('livez', { cache: 'no-store' });
    return performance.now() - start;
  });
  assert.ok(ms >= 390, `a request takes ${ms} ms`);
  return page;
}

test('creating shows at once that it was taken', async (t) => {
  const page = await openSlowly(t, '/risks?project=APOLLO');
  if (!page) return;
  const dialog = page.getByRole('dialog', { name: 'Create risk' });
  let count = 0;
  await assertPrompt(page, 'creating a risk', {
    async act() {
      await page.getByRole('button', { name: 'Create risk' }).click();
      count += 1;
      await dialog.getByLabel('Title').fill(`Slow risk ${count}`);
      await page.keyboard.press('Enter');
    },
    sign: `.dialog ${pending}`,
    async settle() {
      await page.getByRole('heading', { level: 1, name: `Slow risk ${count}` }).waitFor();
      await page.goBack();
      await waitUntilLoaded(page);
    },
  });
  const { data } = await console.get('/v1/risks?project=APOLLO&q=Slow risk');
  assert.equal(data.length, count);
});

test('the form of a new risk opens before its scales are loaded, and offers to load them again', async (t) => {
  const page = await console.open(t, '/tasks');
  if (!page) return;
  await waitUntilLoaded(page);
  let isDown = true;
  await page.route('**/v1/risk-model', (route) =>
    isDown ? route.fulfill({ status: 500, json: { detail: 'Out of order.' } }) : route.continue(),
  );
  await page.route('**/v1/risks/heatmap*', (route) => route.abort());
  await page.getByRole('link', { name: 'Risks', exact: true }).click();
  await page.getByRole('button', { name: 'Create risk' }).click();
  const dialog = page.getByRole('dialog', { name: 'Create risk' });
  await dialog.getByText('Out of order.').waitFor();
  isDown = false;
  await dialog.getByRole('button', { name: 'Try again' }).click();
  await dialog.getByLabel('Title').waitFor();
});

test('editing a field, a status, a comment and deleting show at once that they were taken', async (t) => {
  const { key } = await createRisk('Handled slowly');
  const page = await openSlowly(t, `/risks/${key}`);
  if (!page) return;
  let count = 0;
  await assertPrompt(page, 'editing a field', {
    async act() {
      count += 1;
      await page.getByRole('button', { name: 'Edit Category' }).click();
      await page.getByLabel('Category').fill(`Category ${count}`);
      await page.keyboard.press('Enter');
    },
    sign: '.inline-editor[aria-busy=true]',
    settle: () => page.locator('.inline-editor').waitFor({ state: 'detached' }),
  });
  await assertPrompt(page, 'undoing', {
    act: () => toastOf(page, 'Category').getByRole('button', { name: 'Undo' }).click(),
    sign: `.toast ${pending}`,
    settle: () => toastOf(page, 'Undone').waitFor(),
  });
  const transitions = ['Mitigate', 'Monitor', 'Mitigate'];
  await assertPrompt(page, 'changing the status', {
    act: () => page.getByRole('button', { name: transitions[0] ?? '', exact: true }).click(),
    sign: pending,
    settle: () =>
      page
        .getByRole('button', { name: transitions.shift() ?? '', exact: true })
        .waitFor({ state: 'detached' }),
  });
  const comment = page.getByRole('textbox', { name: 'Write a comment' });
  await assertPrompt(page, 'commenting', {
    async act() {
      await comment.fill('Said slowly');
      await page.keyboard.press('Control+Enter');
    },
    sign: `.comment-form ${pending}`,
    settle: () => page.waitForFunction(() => document.querySelector('textarea')?.value === ''),
  });
  await page.getByRole('button', { name: 'Assess' }).click();
  await assertPrompt(page, 'assessing', {
    act: () => page.getByRole('button', { name: /^Probability 3 .*score 12$/ }).click(),
    sign: '.heat-cell[aria-disabled=true]',
    settle: () => closed(page),
  });
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await assertPrompt(page, 'deleting', {
    act: () => page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click(),
    sign: `.dialog ${pending}`,
    settle: () => page.getByRole('heading', { level: 1, name: 'Risks' }).waitFor(),
  });
});

test('bulk changes, assigning, filters and pages show at once that they were taken', async (t) => {
  await console.post('/v1/projects/APOLLO/issues', { title: 'Handled together' });
  const page = await openSlowly(t, '/issues?q=Handled together');
  if (!page) return;
  const row = page.locator('tbody tr').first();
  const people = (await console.get('/v1/personnel?assignable=true&limit=3')).data.map(
    ({ name }: { name: string }) => name,
  );
  const days = ['2031-01-01', '2031-01-02', '2031-01-03'];
  await assertPrompt(page, 'a bulk change', {
    async act() {
      await row.getByRole('checkbox').check();
      await page.getByRole('button', { name: 'Set due date…' }).click();
      await page
        .getByRole('dialog')
        .getByLabel('Due')
        .fill(days.shift() ?? '');
      await page.keyboard.press('Enter');
    },
    sign: '.bulk-bar progress',
    async settle() {
      await toastOf(page, 'Updated 1 issue').waitFor();
      await closed(page);
    },
  });
  await assertPrompt(page, 'assigning', {
    async act() {
      await row.locator('.assign-button').click();
      const name = people.shift();
      await page.getByRole('combobox', { name: 'Assign to' }).fill(name);
      await page.getByRole('option', { name }).click();
    },
    sign: `.assign-button[data-pending]`,
    settle: () => page.locator('.assign-button[data-pending]').waitFor({ state: 'detached' }),
  });
  await assertPrompt(page, 'a filter', {
    act: () => page.getByRole('button', { name: 'Unassigned' }).click(),
    sign: '.updating',
    settle: () => page.locator('.updating').waitFor({ state: 'detached' }),
  });
  await page.getByRole('button', { name: 'Views', exact: true }).click();
  await assertPrompt(page, 'a dialog whose code is not loaded', {
    act: () => page.getByRole('menuitem', { name: 'Save as view…' }).click(),
    sign: '[role=dialog]',
    async settle() {
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
      await closed(page);
    },
  });
  await assertPrompt(page, 'another page', {
    act: () => page.getByRole('link', { name: 'Groups', exact: true }).click(),
    sign: 'main .skeleton',
    settle: () => page.getByRole('heading', { level: 1, name: 'Groups' }).waitFor(),
  });
});
