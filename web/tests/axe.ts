import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** WCAG 2.2 AA and axe's best practices. */
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

export type Rules = 'all' | 'colors';

/** What is open hides the page under it, which is checked without it. */
const layers = '[role=dialog], [role=alertdialog], [role=menu]';

export async function assertAccessible(page: Page, where: string, rules: Rules = 'all'): Promise<void> {
  // Colors of what is fading in are not its final ones.
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)));
  // It stays until another page is loaded.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  const violations = await page.evaluate(
    async ([runOnly, layers]) => {
      const { run } = (globalThis as unknown as { axe: typeof axe }).axe;
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
}

const isAnnouncement = (html: string) => html.startsWith('<div role="img" aria-labelledby="react-aria');
