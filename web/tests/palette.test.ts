import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Console, startConsole, waitUntilLoaded } from './console.ts';

let console: Console;

before(async () => {
  console = await startConsole();
});

after(() => console.stop());

test('the palette opens the item whose key is typed, not one that mentions the key', async (t) => {
  await console.post('/v1/projects', { name: 'Hoist of the depot', key: 'HOIST' });
  const { key } = await console.post('/v1/projects/HOIST/risks', { title: 'Crane is late' });
  const issue = await console.post('/v1/projects/HOIST/issues', {
    title: 'Crane broke',
    description: `See ${key}`,
  });
  const description = `Prevents ${key} and ${issue.key}`;
  await console.post('/v1/projects/HOIST/tasks', { title: 'Rent a crane', description });
  const page = await console.open(t, '/keys');
  if (!page) return;
  await waitUntilLoaded(page);
  for (const [text, path] of [
    [key, `/risks/${key}`],
    [issue.key.toLowerCase(), `/issues/${issue.key}`],
    ['hoist', '/projects/HOIST'],
  ] as const) {
    await type(page, text);
    await page
      .getByRole('menuitem', { name: /^Rent a crane|^Hoist/ })
      .first()
      .waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**${path}`);
    await waitUntilLoaded(page);
  }
});

/** Types a text into the palette. */
async function type(page: Page, text: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('searchbox', { name: 'Go to' }).waitFor();
  await page.keyboard.type(text);
}
