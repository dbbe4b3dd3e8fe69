import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** WCAG 2.2 AA and axe's best practices. The `region` rule is off: React Aria renders popovers outside landmarks. */
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
  const messages = violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).slice(0, 3)}`,
  );
  assert.deepEqual(messages, [], where);
}
