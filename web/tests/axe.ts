import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** And what is good practice, but that a popover is to be within a landmark. */
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

export async function assertAccessible(page: Page, where: string): Promise<void> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(
    (tags) =>
      (globalThis as unknown as { axe: typeof axe }).axe.run(document, {
        runOnly: tags,
        rules: { region: { enabled: false } },
      }),
    tags,
  );
  const found = violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).slice(0, 3)}`,
  );
  assert.deepEqual(found, [], where);
}
