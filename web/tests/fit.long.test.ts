import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { startReceiver } from '../../test/receiver.ts';
import { type Console, startConsole, waitUntilLoaded } from './console.ts';

let console: Console;

before(async () => {
  console = await startConsole();
});

after(() => console.stop());

const height = 900;

/** The words of the elements that take more than one line, or only the elements' whole texts that do. */
const brokenTexts = (elements: Locator, { isWhole = false } = {}): Promise<string[]> =>
  elements.evaluateAll((found, isWhole) => {
    const broken: string[] = [];
    for (const element of found) {
      const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      for (let node = texts.nextNode(); node; node = texts.nextNode()) {
        // A line may also end at a hyphen.
        for (const word of (node.textContent ?? '').matchAll(isWhole ? /\S.*\S|\S/g : /[^\s/—–-]+/g)) {
          const range = document.createRange();
          range.setStart(node, word.index);
          range.setEnd(node, word.index + word[0].length);
          const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
          if (lines.size > 1) broken.push(word[0]);
        }
      }
    }
    return broken;
  }, isWhole);

test('the events of deliveries can be read at every width', async (t) => {
  const receiver = await startReceiver(t, (response) => response.writeHead(200).end());
  const webhook = await console.post('/v1/webhooks', { url: receiver.url, types: ['*'] });
  await console.post('/v1/projects/APOLLO/issues', { title: 'Delivered' });
  await receiver.receive(1);
  const page = await console.open(t, `/webhooks/${webhook.id}`);
  if (!page) return;
  const event = page.locator('td').filter({ has: page.getByRole('button', { name: /, details$/ }) });
  for (const width of [390, 600, 831, 840, 1023, 1030, 1199, 1210, 1280, 1366, 1440, 1599, 1610]) {
    await page.setViewportSize({ width, height });
    await event.first().waitFor({ state: 'attached' });
    const room = (await event.first().boundingBox())?.width ?? 0;
    assert.ok(room >= 130, `${room} at ${width}`);
  }
});

test('a score over time takes one line', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Assessed late' });
  await console.patch(`/v1/projects/APOLLO/risks/${key}`, { probability: 4, impact: 5 });
  const page = await console.open(t, `/risks/${key}`);
  if (!page) return;
  const score = page.locator('.score-history strong');
  await score.getByText('20').waitFor();
  for (const width of [390, 1210, 1280, 1366, 1440, 1536]) {
    await page.setViewportSize({ width, height });
    assert.deepEqual(await brokenTexts(page.locator('.score-history li')), [], `at ${width}`);
  }
});

test('a title that is cut off stays in place when its row gets the focus', async (t) => {
  const page = await console.open(t, '/risks', { viewport: { width: 1280, height } });
  if (!page) return;
  for (const path of ['/risks', '/issues']) {
    await page.goto(`${console.app.baseUrl}${path}`);
    await waitUntilLoaded(page);
    for (let row = 0; row < 10; row++) {
      await page.keyboard.press('j');
      const scrolled: number = await page.locator('td:has(:focus)').evaluate((cell) => cell.scrollLeft);
      assert.equal(scrolled, 0, `${path}, row ${row}`);
    }
  }
});

test('a printout of the register breaks no word and no date', async (t) => {
  // The width of A4 without its margins, which some browsers print upright.
  const page = await console.open(t, '/risks', { viewport: { width: 703, height } });
  if (!page) return;
  await waitUntilLoaded(page);
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  assert.ok((await page.locator('.table tbody tr').count()) > 50);
  assert.deepEqual(await brokenTexts(page.locator('.table :is(td, th)')), []);
  assert.deepEqual(await brokenTexts(page.locator('.table td:last-child'), { isWhole: true }), []);
  const tooWide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(tooWide <= 0, `${tooWide} too wide`);
});

test('messages of different lengths have their buttons at the right', async (t) => {
  const { key } = await console.post('/v1/projects/APOLLO/risks', { title: 'Moved twice' });
  const page = await console.open(t, `/risks/${key}`, { viewport: { width: 1280, height } });
  if (!page) return;
  await page.getByRole('button', { name: 'Mitigate' }).click();
  await page.locator('.toast', { hasText: 'to Mitigating' }).waitFor();
  await page.getByRole('button', { name: 'Monitor' }).click();
  const second = page.locator('.toast', { hasText: 'to Monitoring' });
  await second.getByRole('button', { name: 'Undo' }).click();
  await page.locator('.toast', { hasText: 'Undone' }).waitFor();
  await second.waitFor({ state: 'detached' });
  const ends = await page
    .getByRole('button', { name: 'Dismiss' })
    .evaluateAll((buttons) => buttons.map((button) => Math.round(button.getBoundingClientRect().right)));
  assert.equal(ends.length, 2);
  assert.equal(ends[0], ends[1]);
});
