import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

/** Compares the accessible name of the focused element, without the mark of a required field. */
const isFocused = (name: string) => {
  const element = document.activeElement as HTMLInputElement | null;
  const label =
    element?.getAttribute('aria-label') ?? element?.labels?.[0]?.textContent ?? element?.textContent;
  return label?.replace(/ \*$/, '').trim() === name;
};

/** Waits until the element with this name has the focus. */
export const hasFocus = (page: Page, name: string) => page.waitForFunction(isFocused, name);

export async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 120; presses++) {
    if (await page.evaluate(isFocused, name)) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`Tab does not reach ${name}`);
}

/** Reaches a button with Tab and presses it. */
export async function press(page: Page, name: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press('Enter');
}
