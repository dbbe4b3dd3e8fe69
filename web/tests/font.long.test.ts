import assert from 'node:assert/strict';
import { startConsole, test } from './console.ts';

const console = startConsole({ isEmpty: true });

test('the console uses its own font', async (t) => {
  const page = await console.open(t, '/keys');
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
