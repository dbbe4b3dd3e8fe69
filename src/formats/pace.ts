import { setImmediate } from 'node:timers/promises';

const yieldAfterMs = 5;

/**
 * Makes a function to be called between steps of long work: it lets the event loop run once the steps since the last
 * time have taken a few milliseconds.
 */
export function createPacer(): () => Promise<void> | undefined {
  let start = performance.now();
  return () => {
    if (performance.now() - start < yieldAfterMs) return undefined;
    return setImmediate().then(() => {
      start = performance.now();
    });
  };
}
