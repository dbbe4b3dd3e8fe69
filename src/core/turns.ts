import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Bounds how long one turn of the event loop takes where many requests can be continued in the same one, such as when
 * several large responses are ready at once.
 */
export function createTurns(maxMs: number) {
  let start: number | undefined;

  /** Whether work of this kind began longer ago in this turn than it may take. */
  function isOver(): boolean {
    const now = performance.now();
    if (start === undefined) {
      start = now;
      setImmediate(() => {
        start = undefined;
      });
    }
    return now - start > maxMs;
  }

  return {
    isOver,
    /** Resolves in a turn that has time left. */
    async available(): Promise<void> {
      while (isOver()) await nextTurn();
    },
  };
}
