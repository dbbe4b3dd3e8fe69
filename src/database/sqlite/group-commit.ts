import { setImmediate } from 'node:timers/promises';
import type { Kysely, Transaction } from 'kysely';
import { unavailable } from '../../core/errors.ts';
import type { Application } from '../application.ts';
import type { Engine, RunExclusive } from '../engine.ts';
import { inSavepoint } from '../sql/savepoint.ts';
import type { Tables } from '../tables.ts';

/** `hasWaiters` returns whether other writes are queued. It is undefined if the engine allows concurrent writers. */
export type Work<T> = (db: Transaction<Tables>, hasWaiters?: () => boolean) => Promise<T>;

type Entry = {
  /** Set for work that shares a transaction with a group. */
  work?: Work<unknown>;
  /** Set for work that runs alone. */
  runAlone?(): Promise<unknown>;
  queuedAt: number;
  resolve(value: unknown): void;
  reject(error: unknown): void;
};

/** A group is committed after this time. The entries that are left form the next group. */
const maxGroupMs = 10;

/** A write that waits longer than this behind bulk work, such as an atomic import, is rejected with 503. */
const maxQueueMs = 10_000;

/** A group yields to the event loop after this time. Short, because Node accepts one new connection per tick. */
const yieldAfterMs = 2;

/**
 * Group commit: writes that wait at the same time share one transaction and one flush to disk. If there are several, each runs
 * in a savepoint, so that a failed one does not affect the rest. Callers get their results after the commit. Bulk work has its own
 * transaction.
 */
export function createWriteQueue(
  quick: Kysely<Tables>,
  bulk: Kysely<Tables>,
  { beforeBulk, assertStored, afterCommit }: NonNullable<Engine['singleWriter']>,
  { recordTransaction, recordWrite }: Application,
  onCommit: (seconds: number) => void,
) {
  const queue: Entry[] = [];
  let isRunning = false;
  const hasWaiters = () => queue.length > 0;

  async function run(): Promise<void> {
    while (queue.length > 0) {
      const firstAlone = queue.findIndex(({ runAlone }) => runAlone);
      if (firstAlone === 0) await runNextAlone();
      else await runGroup(queue.splice(0, firstAlone === -1 ? queue.length : firstAlone));
      // Lets the event loop serve reads and accept connections between groups.
      await setImmediate();
    }
    isRunning = false;
  }

  async function runGroup(group: Entry[]): Promise<void> {
    const [first] = group;
    // A transaction of its own needs no savepoint, in which SQLite copies each page again before it changes it.
    if (first?.work && group.length === 1)
      return runTransaction(quick, recorded(first.work)).then(first.resolve, first.reject);
    const settlers: (() => void)[] = [];
    try {
      await runTransaction(quick, async (db) => {
        const start = performance.now();
        let lastYield = start;
        for (const { work, resolve, reject } of group) {
          if (performance.now() - lastYield > yieldAfterMs) {
            await setImmediate();
            lastYield = performance.now();
          }
          const outcome = await inSavepoint(db, async () => work && recorded(work)(db));
          settlers.push(() =>
            outcome.status === 'fulfilled' ? resolve(outcome.value) : reject(outcome.reason),
          );
          if (performance.now() - start > maxGroupMs) break;
        }
      });
      queue.unshift(...group.slice(settlers.length));
      for (const settle of settlers) settle();
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  async function runNextAlone(): Promise<void> {
    const next = queue.shift();
    const timer = setInterval(rejectOverdue, 250);
    await next?.runAlone?.().then(next.resolve, next.reject);
    clearInterval(timer);
  }

  /** Only quick writes are rejected. Bulk work is expected to take long, so it may wait. */
  function rejectOverdue(): void {
    const now = performance.now();
    const isOverdue = ({ work, queuedAt }: Entry) => work !== undefined && now - queuedAt > maxQueueMs;
    const overdue = queue.filter(isOverdue);
    if (overdue.length > 0) queue.splice(0, queue.length, ...queue.filter((entry) => !isOverdue(entry)));
    for (const entry of overdue)
      entry.reject(unavailable('A large import or change is in progress. Try again shortly.', 5));
  }

  async function runTransaction<T>(writer: Kysely<Tables>, work: Work<T>): Promise<T> {
    let sentAt = 0;
    const result = await writer.transaction().execute(async (db) => {
      const result = await recordTransaction(db, work);
      sentAt = performance.now();
      return result;
    });
    onCommit((performance.now() - sentAt) / 1000);
    assertStored();
    void afterCommit(bulk, runExclusive);
    return result;
  }

  function enqueue<T>(entry: Pick<Entry, 'work' | 'runAlone'>): Promise<T> {
    return new Promise((resolve, reject) => {
      queue.push({ ...entry, queuedAt: performance.now(), resolve: resolve as Entry['resolve'], reject });
      if (isRunning) return;
      isRunning = true;
      // Waits one tick, so that requests that have already arrived join the group.
      void setImmediate().then(run);
    });
  }

  const recorded =
    <T>(work: Work<T>): Work<T> =>
    (db) =>
      recordWrite(db, (db) => work(db, hasWaiters));

  const runExclusive: RunExclusive = (work) => enqueue<void>({ runAlone: work });

  return {
    waiting: () => queue.length,
    async write<T>(work: Work<T>, workload: 'quick' | 'bulk'): Promise<T> {
      if (workload === 'quick') return enqueue({ work });
      await beforeBulk(bulk);
      return enqueue({ runAlone: () => runTransaction(bulk, recorded(work)) });
    },
  };
}
