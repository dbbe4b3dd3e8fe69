import { setImmediate } from 'node:timers/promises';

const yieldAfterMs = 5;

/**
 * Returns a function to call between the steps of long work. It yields to the event loop if the last yield was more than
 * a few milliseconds ago.
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
