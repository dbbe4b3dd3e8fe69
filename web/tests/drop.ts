import type { Page } from 'playwright-core';

/** Drags a file over the page and drops it. */
export async function drop(page: Page, name: string, content: string, length = 0): Promise<void> {
  const dataTransfer = await page.evaluateHandle(
    ([name, content, length]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([content.padEnd(length, 'x')], name));
      return transfer;
    },
    [name, content, length] as const,
  );
  await page.dispatchEvent('body', 'dragover', { dataTransfer });
  await page.getByText('Drop file to import').waitFor();
  await page.dispatchEvent('body', 'drop', { dataTransfer });
  await page.getByText('Drop file to import').waitFor({ state: 'detached' });
}
