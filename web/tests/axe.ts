import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { markCheckedLooks } from './looks.ts';

/** WCAG 2.2 AA and axe's best practices. */
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

export type Rules = 'all' | 'colors';

/** What is open hides the page under it, which is checked without it. */
const layers = '[role=dialog], [role=alertdialog], [role=menu]';

/** What looks the same is checked twice: once may not be enough, because axe skips text that something covers. */
const checksPerLook = 2;

/** How often each look was checked. */
const checks = new Map<number, number>();

export async function assertAccessible(page: Page, where: string, rules: Rules = 'all'): Promise<void> {
  // Colors of what is fading in are not its final ones.
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)));
  const checked = [...checks].filter(([, count]) => count >= checksPerLook).map(([look]) => look);
  const { looks, hasText } = await page.evaluate(markCheckedLooks, { layers, checked, checksPerLook });
  if (rules === 'colors' && !hasText) return;
  // It stays until another page is loaded.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  const violations = await page.evaluate(
    async ([runOnly, layers]) => {
      const { run, configure } = (globalThis as unknown as { axe: typeof axe }).axe;
      // Contrast takes most of the time.
      configure({ rules: [{ id: 'color-contrast', selector: '*:not([data-contrast-checked])' }] });
      const context = document.querySelector(layers) ? layers : document;
      return (await run(context, { runOnly, resultTypes: ['violations'] })).violations;
    },
    [rules === 'all' ? tags : ['color-contrast'], layers] as const,
  );
  const messages = violations
    // React Aria announces a pending button for some seconds, even after its dialog has closed.
    .filter(({ id, nodes }) => id !== 'role-img-alt' || nodes.some(({ html }) => !isAnnouncement(html)))
    .map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).slice(0, 3)}`);
  assert.deepEqual(messages, [], where);
  for (const look of looks) checks.set(look, (checks.get(look) ?? 0) + 1);
}

const isAnnouncement = (html: string) => html.startsWith('<div role="img" aria-labelledby="react-aria');
