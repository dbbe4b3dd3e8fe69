import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible } from './axe.ts';
import { type Console, screenshot, startConsole, waitUntilLoaded } from './console.ts';

let console: Console;

before(async () => {
  console = await startConsole({ isEmpty: true });
});

after(() => console.stop());

test('the design page shows every component in both themes at three widths', async (t) => {
  const page = await console.open(t, '/design', { viewport: { width: 1440, height: 900 } });
  if (!page) return;
  await page.getByRole('heading', { level: 1, name: 'Design' }).waitFor();
  await page.locator('.heat-map .word').getByText('Almost certain').first().waitFor();
  for (const width of [1440, 1024, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await assertAccessible(page, `design, ${width}`);
    const scroll: number = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(scroll <= width, `${scroll} wide at ${width}`);
    await screenshot(page, `design-${width}`, { isWhole: true });
  }
  const paper = (theme: string) =>
    page.locator(`[aria-label=${theme}]`).evaluate((element) => getComputedStyle(element).backgroundColor);
  assert.notEqual(await paper('light'), await paper('dark'));
});

test('the console uses its own font, and no page loads the design page', async (t) => {
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
  const scripts = await page.evaluate(async () => {
    const urls = performance.getEntriesByType('resource').map(({ name }) => name);
    return Promise.all(
      urls.filter((url) => url.endsWith('.js')).map(async (url) => (await fetch(url)).text()),
    );
  });
  assert.equal(
    scripts.some((script) => script.includes('Only an icon')),
    false,
  );
});
