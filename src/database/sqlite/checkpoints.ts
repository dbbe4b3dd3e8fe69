import { setTimeout } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../tables.ts';

/** Commits checkpoint a smaller log by themselves; a larger one would hold the event loop for too long. */
const largeWalBytes = 16 * 1024 * 1024;
/**
 * Above this size new whole lists wait until the log is truncated: overlapping ones would pin it without end. They do
 * not wait for longer than this, because the reader that pins it may be one of another process.
 */
const maxWalBytes = 64 * 1024 * 1024;
const maxHoldMs = 8000;

/** Pages of the log that are copied while writers wait. */
const maxFramesInTurn = 4000;
/** How long writers wait for reads to end that began before the log was copied; for longer while lists wait, too. */
const maxTurnMs = { usually: 250, whileHeld: 2000 };
const retryAfterMs = 250;

type Options = {
  walBytes(): number;
  /** Whether commits of the main thread checkpoint. */
  setAutocheckpoint(isOn: boolean): void;
};

/** Runs `work` when no one else writes. */
export type InTurn = (work: () => Promise<void>) => Promise<void>;

/**
 * Keeps the write-ahead log small. SQLite starts it from its beginning only when all of it has been copied into the
 * database and no reader needs it; a reader that keeps a snapshot open makes it grow with each write.
 */
export class Checkpointer {
  readonly #options: Options;
  #isRunning = false;
  #isStopped = false;
  #hold: PromiseWithResolvers<void> | undefined;
  /** When it last began. */
  #heldAt = Number.NEGATIVE_INFINITY;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Waits while new whole lists would keep the log from being truncated. */
  admit(): Promise<void> | undefined {
    return this.#hold?.promise;
  }

  /** Called after each commit. `db` lives in a thread of its own, so that long checkpoints do not hold the event loop. */
  async afterCommit(db: Kysely<Tables>, inTurn: InTurn): Promise<void> {
    if (this.#isRunning || this.#options.walBytes() <= largeWalBytes) return;
    this.#isRunning = true;
    this.#options.setAutocheckpoint(false);
    while (!this.#isStopped && !(await this.#truncate(db, inTurn))) {
      await setTimeout(retryAfterMs, undefined, { ref: false });
      this.#holdWhileLarge();
    }
    this.#release();
    this.#heldAt = Number.NEGATIVE_INFINITY;
    if (this.#isStopped) return;
    this.#options.setAutocheckpoint(true);
    this.#isRunning = false;
  }

  stop(): void {
    this.#isStopped = true;
    this.#release();
  }

  /** Holds back new whole lists for a while, then lets them in for as long. */
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
   * Copies most of the log while others write, and the rest when it is its turn; all of it then when the log is too
   * large. Tells whether the log is empty now.
   */
  async #truncate(db: Kysely<Tables>, inTurn: InTurn): Promise<boolean> {
    let isEmpty = false;
    try {
      if (!this.#hold && (await checkpoint(db, 'passive')) > maxFramesInTurn) return false;
      await inTurn(async () => {
        const start = performance.now();
        const maxMs = this.#hold ? maxTurnMs.whileHeld : maxTurnMs.usually;
        while (!this.#isStopped && !isEmpty && performance.now() - start < maxMs) {
          isEmpty = (await checkpoint(db, 'truncate')) === 0;
          if (!isEmpty) await setTimeout(5);
        }
      });
    } catch {
      // Whatever it is, those who write meet it, too, and report it.
    }
    return isEmpty;
  }
}

/** Gives the number of pages that are still to be copied; one at least when the log could not be emptied. */
async function checkpoint(db: Kysely<Tables>, mode: 'passive' | 'truncate'): Promise<number> {
  const { rows } = await sql<{ busy: number; log: number; checkpointed: number }>`
    pragma wal_checkpoint(${sql.raw(mode)})`.execute(db);
  const { busy = 1, log = 0, checkpointed = 0 } = rows[0] ?? {};
  return Math.max(busy, log - checkpointed);
}
