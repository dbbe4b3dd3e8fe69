import type { Page } from 'playwright-core';

export const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

export const inDays = (days: number) => daysAgo(-days);

/** The number of the week that a day is in: this week has the number 0. Weeks begin on Monday. */
export const weekIn = (days: number) => Math.floor((days + ((new Date(daysAgo(0)).getUTCDay() + 6) % 7)) / 7);

/** Waits until the page has loaded its data. */
export async function waitUntilLoaded(page: Page): Promise<void> {
  await page.waitForSelector('main[aria-busy="false"] :is(h1, .empty, .notice)');
  await page.waitForFunction(() => document.querySelector('.loading, main[aria-busy="true"]') === null);
}

/** Opens the form for an API key, on the sign-in page or in the dialog that appears when the session has ended. */
export async function openKeyForm(page: Page): Promise<void> {
  await page.getByText('Use an API key').waitFor();
  if (!(await page.getByLabel('API key').isVisible())) await page.getByText('Use an API key').click();
  await page.getByLabel('API key').waitFor();
}

/** Signs in with a key. The set-up, which is offered to a key with all scopes while nobody can sign in, is skipped. */
export async function signIn(page: Page, secret: string): Promise<void> {
  await openKeyForm(page);
  await page.getByLabel('API key').fill(secret);
  await page.getByRole('button', { name: 'Sign in with key' }).click();
  await page.getByLabel('API key').waitFor({ state: 'detached' });
  const later = page.getByRole('button', { name: 'Later' });
  await later.or(page.locator('#main')).first().waitFor();
  if (await later.isVisible()) await later.click();
}

/** Picks the first option that a combo box finds for a text, which contains the text or the name. */
export async function pick(page: Page, label: string, text: string, name: RegExp | string = text) {
  const input = page.getByRole('combobox', { name: label, exact: true });
  await input.fill(text);
  // A click could scroll the page first, which closes the list.
  await page.locator('[role=option][data-focused]', { hasText: name }).waitFor();
  await input.press('Enter');
}

/** The value of a field on the page of an item. */
export const fact = (page: Page, label: string) =>
  page.locator('.fact', { has: page.getByText(label, { exact: true }) }).locator('dd');

/** Waits until no field is being edited in place. */
export const editorClosed = (page: Page) => page.locator('.inline-editor').waitFor({ state: 'detached' });

/** Holds requests back until the returned function is called. */
export async function hold(page: Page, url: string | RegExp, method = 'GET'): Promise<() => void> {
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
  await page.route(url, async (route) => {
    if (route.request().method() === method) await isReleased;
    await route.continue();
  });
  return release;
}

/** Asserts that the page is not wider than its window. After a resize, what is open moves within some frames. */
export async function assertFits(page: Page, where: string): Promise<void> {
  try {
    await page.waitForFunction(() => document.documentElement.scrollWidth <= innerWidth);
  } catch (cause) {
    const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    throw new Error(`${where} is ${excess} too wide`, { cause });
  }
}

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

/** How much the contents of the page have moved since it was opened, as browsers measure it. */
export const layoutShift = (page: Page): Promise<number> =>
  page.evaluate(
    () =>
      new Promise((resolve) => {
        let sum = 0;
        new PerformanceObserver((list) => {
          for (const one of list.getEntries()) sum += (one as unknown as { value: number }).value;
        }).observe({ type: 'layout-shift', buffered: true });
        setTimeout(() => resolve(sum), 250);
      }),
  );

/** The heat map of the list of risks, which is collapsed at first. */
export async function openHeatMap(page: Page): Promise<void> {
  await page.locator('summary', { hasText: 'Heat map of' }).click();
  await page.locator('.heat-map-card .heat-cell').first().waitFor();
}

/** The buttons, fields, titles and scores under the messages. */
export const coveredByMessages = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const messages = document.querySelector('.toasts')?.getBoundingClientRect();
    if (!messages || messages.width * messages.height === 0) return ['no message'];
    // What has scrolled behind the bar at the top is covered by the bar.
    const bar = document.querySelector('.topbar')?.getBoundingClientRect().bottom ?? 0;
    return [
      ...document.querySelectorAll<HTMLElement>('button, input, select, textarea, h1, h2, .row-link, .score'),
    ]
      .filter((one) => !one.closest('.toasts'))
      .filter((one) => {
        const { width, left, right, top, bottom } = one.getBoundingClientRect();
        const { left: x, right: endX, bottom: endY } = messages;
        const y = one.closest('.topbar') ? messages.top : Math.max(messages.top, bar);
        return width > 0 && right > x && left < endX && bottom > y && top < endY;
      })
      .map((one) => one.ariaLabel ?? (one.textContent || one.className));
  });

/** Hides the tab, as when another one is opened over it, or shows it again. */
export const setHidden = (page: Page, isHidden: boolean): Promise<void> =>
  page.evaluate((isHidden) => {
    Object.defineProperty(document, 'hidden', { value: isHidden, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, isHidden);
