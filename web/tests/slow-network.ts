import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

/** 400 ms of latency and 1 Mbit/s. */
export async function slowDown(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 400,
    downloadThroughput: 125_000,
    uploadThroughput: 125_000,
  });
}

const budgetMs = 100;
const attempts = 5;

type Reaction = { ms: number | undefined };

/**
 * Asserts that the page shows within 100 ms of the event that an action was taken: that an element matches `sign` that
 * did not match before. The page measures it itself. The best of some attempts counts, because the machine may be busy.
 */
export async function assertPrompt(
  page: Page,
  name: string,
  { act, sign, settle }: { act: () => Promise<unknown>; sign: string; settle: () => Promise<unknown> },
): Promise<void> {
  const measured: number[] = [];
  while (measured.length < attempts && !measured.some((ms) => ms <= budgetMs)) {
    const handle = await page.evaluateHandle((selector): Reaction => {
      const reaction: Reaction = { ms: undefined };
      let start: number | undefined;
      const known = new Set(document.querySelectorAll(selector));
      const events = ['pointerdown', 'keydown', 'click'];
      // The last event before the sign is the one that the page reacts to.
      const begin = () => {
        start = performance.now();
      };
      for (const event of events) addEventListener(event, begin, { capture: true });
      const observer = new MutationObserver(() => {
        const isShown = [...document.querySelectorAll<HTMLElement>(selector)].some(
          (element) => !known.has(element) && element.checkVisibility(),
        );
        if (start === undefined || !isShown) return;
        reaction.ms = performance.now() - start;
        observer.disconnect();
        for (const event of events) removeEventListener(event, begin, { capture: true });
      });
      observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
      return reaction;
    }, sign);
    await act();
    await page.waitForFunction((reaction) => reaction.ms !== undefined, handle);
    measured.push((await handle.evaluate(({ ms }) => ms)) ?? Number.POSITIVE_INFINITY);
    await settle();
  }
  assert.ok(Math.min(...measured) <= budgetMs, `${name} shows after ${measured.map(Math.round)} ms`);
}
