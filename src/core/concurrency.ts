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

  const waiting: (() => void)[] = [];
  function runWaiting(): void {
    try {
      while (waiting.length > 0 && !isOver()) waiting.shift()?.();
    } finally {
      // Also after an error, which must not keep the others waiting.
      if (waiting.length > 0) setImmediate(runWaiting);
    }
  }

  return {
    /** Runs the work in this turn or, in the order of the calls, in a later one that has time left. */
    run(work: () => void): void {
      if (waiting.length === 0 && !isOver()) work();
      else if (waiting.push(work) === 1) setImmediate(runWaiting);
    },
    /** Resolves in a turn that has time left. */
    async available(): Promise<void> {
      while (isOver()) await nextTurn();
    },
  };
}

/** Runs at most `max` functions at a time. The others wait in the order of their calls. */
export function createLimiter(max: number) {
  const queue: (() => void)[] = [];
  let running = 0;
  return {
    waiting: () => queue.length,
    async run<T>(work: () => Promise<T>): Promise<T> {
      if (running < max) running++;
      else await new Promise<void>((resolve) => queue.push(resolve));
      try {
        return await work();
      } finally {
        const next = queue.shift();
        if (next) next();
        else running--;
      }
    },
  };
}
