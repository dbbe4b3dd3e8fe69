import assert from 'node:assert/strict';
import { startConsole, test, waitUntilLoaded } from './console.ts';

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
