import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Console, startConsole, waitUntilLoaded } from './console.ts';

let console: Console;

before(async () => {
  console = await startConsole({ isEmpty: true });
});

after(() => console.stop());

test('the console uses its own font', async (t) => {
  const page = await console.open(t, '/keys');
  if (!page) return;
  await waitUntilLoaded(page);
  const fonts = await page.evaluate(async () => {
    await document.fonts.ready;
    return [...document.fonts].filter(({ status }) => status === 'loaded').map(({ family }) => family);
  });
  assert.ok(
    fonts.some((family) => family.includes('Inter Variable')),
    fonts.join(),
  );
  const isPreloaded = await page.locator('link[rel=preload][as=font]').count();
  assert.equal(isPreloaded, 1);
});
