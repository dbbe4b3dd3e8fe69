import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { screenshot, startConsole, test, visit } from './console.ts';
import { layoutShift } from './page.ts';

const console = startConsole();

const paths = [
  '/overview',
  '/projects',
  '/risks',
  '/issues',
  '/tasks',
  '/projects/APOLLO?tab=risks',
  '/projects/APOLLO?tab=issues',
];

/** Titles, reasons and dates of which a part is not shown. */
const cutTexts = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const inRows = '.row-link, .row-link bdi, .all-lines, .reasons-line, td:has(> .row-link)';
    const onOverview = '.ranking a, .reasons a, .reasons p, .upcoming .lines a';
    const texts = [...document.querySelectorAll<HTMLElement>(`${inRows}, ${onOverview}`)];
    const isCut = (element: HTMLElement) =>
      getComputedStyle(element).overflowX !== 'visible' &&
      (element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight + 1);
    const dates = [...document.querySelectorAll<HTMLElement>('td, .phone-line > span, .upcoming-day')].filter(
      (element) => /^(Overdue: )?\d{1,2} \w{3,4} \d{4}$/.test(element.textContent ?? ''),
    );
    return [...texts, ...dates]
      .filter((one) => one.clientWidth > 0 && isCut(one))
      .map((one) => one.innerText);
  });

test('titles, reasons and dates are shown whole on a laptop and on a phone', async (t) => {
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1440, 390]) {
      const page = await console.open(t, '/overview', { viewport: { width, height: 900 }, colorScheme });
      for (const path of paths) {
        await visit(page, path);
        await page.locator('tbody .row-link, .ranking a').first().waitFor();
        assert.deepEqual(await cutTexts(page), [], `${path} at ${width}`);
        assert.ok((await layoutShift(page)) <= 0.01, `${path} at ${width}`);
        await screenshot(page, `whole-${path.replace(/\W+/g, '-')}-${width}-${colorScheme}`);
      }
      await page.context().close();
    }
  }
});

test('a list whose rows differ in height shows every row once while it is scrolled', async (t) => {
  const page = await console.open(t, '/risks', { viewport: { width: 390, height: 844 } });
  const rows = page.locator('tbody tr:not(.spacer)');
  await rows.first().waitFor();
  const seen = new Set<number>();
  /** The indexes of the rows in view, which must follow each other without a gap. */
  const inView = () =>
    rows.evaluateAll((elements) =>
      elements
        .map((element) => ({ index: element.ariaRowIndex, box: element.getBoundingClientRect() }))
        .filter(({ box }) => box.bottom > 0 && box.top < innerHeight)
        .map(({ index, box }) => ({ index: Number(index), top: box.top, bottom: box.bottom })),
    );
  for (let step = 0; step < 40; step++) {
    await page.waitForFunction(() => {
      const last = [...document.querySelectorAll('tbody tr:not(.spacer)')].at(-1);
      return (last?.getBoundingClientRect().bottom ?? 0) >= innerHeight;
    });
    const shown = await inView();
    for (const [i, { index, top }] of shown.entries()) {
      const before = shown[i - 1];
      if (before) assert.deepEqual([index, Math.round(top - before.bottom)], [before.index + 1, 0]);
      seen.add(index);
    }
    await page.evaluate(() => scrollBy(0, 500));
  }
  assert.deepEqual(
    [...seen].toSorted((a, b) => a - b),
    [...seen].map((_, i) => i + 2),
    'no row is passed over',
  );
});
