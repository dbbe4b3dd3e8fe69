import { setTimeout } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { RunExclusive } from '../engine.ts';
import type { Tables } from '../tables.ts';

/** Commits checkpoint a smaller log automatically. Checkpointing a larger one in the main thread would block the event loop. */
const largeWalBytes = 16 * 1024 * 1024;
/**
 * Above this size new streams wait until the log is truncated: overlapping streams would keep it from ever being truncated.
 * They wait for a limited time, because the reader that prevents truncation may belong to another process.
 */
const maxWalBytes = 64 * 1024 * 1024;
const maxHoldMs = 8000;

/** Maximum number of log pages to copy while writers wait. */
const maxExclusiveFrames = 4000;
/** How long writers wait for reads that began before the log was copied. Longer while new streams are held back. */
const maxExclusiveMs = { usually: 250, whileHeld: 2000 };
const retryAfterMs = 250;

type Options = {
  walBytes(): number;
  /** Whether commits of the main thread checkpoint. */
  setAutocheckpoint(isOn: boolean): void;
};

/**
 * Keeps the write-ahead log small. SQLite restarts it only after all of it has been copied into the database and no reader
 * needs it. While a reader keeps a snapshot open, the log grows with each write.
 */
export class Checkpointer {
  readonly #options: Options;
  #isRunning = false;
  #isStopped = false;
  #hold: PromiseWithResolvers<void> | undefined;
  /** When new streams were last held back. */
  #heldAt = Number.NEGATIVE_INFINITY;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Holds back a new stream while the log is being truncated. */
  admit(): Promise<void> | undefined {
    return this.#hold?.promise;
  }

  /** Called after each commit. `db` runs in a worker thread, so that long checkpoints do not block the event loop. */
  async afterCommit(db: Kysely<Tables>, runExclusive: RunExclusive): Promise<void> {
    if (this.#isRunning || this.#options.walBytes() <= largeWalBytes) return;
    this.#isRunning = true;
    this.#setAutocheckpoint(false);
    while (!this.#isStopped && !(await this.#truncate(db, runExclusive))) {
      await setTimeout(retryAfterMs, undefined, { ref: false });
      this.#holdWhileLarge();
    }
    this.#release();
    this.#heldAt = Number.NEGATIVE_INFINITY;
    if (this.#isStopped) return;
    this.#setAutocheckpoint(true);
    this.#isRunning = false;
  }

  /** Nobody waits for this, so an error, as of a file that is gone, would end the process. Writers get the same error. */
  #setAutocheckpoint(isOn: boolean): void {
    try {
      this.#options.setAutocheckpoint(isOn);
    } catch {}
  }

  stop(): void {
    this.#isStopped = true;
    this.#release();
  }

  /** Holds back new streams for `maxHoldMs`, then admits them for as long. */
  #holdWhileLarge(): void {
    const heldMs = performance.now() - this.#heldAt;
    if (heldMs > maxHoldMs) this.#release();
    if (this.#options.walBytes() <= maxWalBytes || heldMs < 2 * maxHoldMs) return;
    this.#hold = Promise.withResolvers();
    this.#heldAt = performance.now();
  }

  #release(): void {
    this.#hold?.resolve();
    this.#hold = undefined;
  }

  /**
   * Copies most of the log while writers continue, and the rest while they wait. If streams are held back, it copies the
   * whole log while writers wait. Returns whether the log is empty now.
   */
  async #truncate(db: Kysely<Tables>, runExclusive: RunExclusive): Promise<boolean> {
    let isEmpty = false;
    try {
      if (!this.#hold && (await checkpoint(db, 'passive')) > maxExclusiveFrames) return false;
      await runExclusive(async () => {
        const start = performance.now();
        const maxMs = this.#hold ? maxExclusiveMs.whileHeld : maxExclusiveMs.usually;
        while (!this.#isStopped && !isEmpty && performance.now() - start < maxMs) {
          isEmpty = (await checkpoint(db, 'truncate')) === 0;
          if (!isEmpty) await setTimeout(5);
        }
      });
    } catch {
      // Writers get the same error and report it.
    }
    return isEmpty;
  }
}

/** Returns the number of pages left to copy; at least one if the log could not be truncated. */
async function checkpoint(db: Kysely<Tables>, mode: 'passive' | 'truncate'): Promise<number> {
  const { rows } = await sql<{ busy: number; log: number; checkpointed: number }>`
    pragma wal_checkpoint(${sql.raw(mode)})`.execute(db);
  const { busy = 1, log = 0, checkpointed = 0 } = rows[0] ?? {};
  return Math.max(busy, log - checkpointed);
}
