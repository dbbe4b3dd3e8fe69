import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

/** The accessible name of the focused element. */
const focusedName = (page: Page) =>
  page.evaluate(() => {
    const element = document.activeElement as HTMLInputElement | null;
    const label =
      element?.getAttribute('aria-label') ?? element?.labels?.[0]?.textContent ?? element?.textContent;
    return label?.replace(/ \*$/, '').trim() ?? '';
  });

export async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 120; presses++) {
    if ((await focusedName(page)) === name) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`Tab does not reach ${name}`);
}
