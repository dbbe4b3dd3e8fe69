import { setImmediate } from 'node:timers/promises';
import type { Kysely, Transaction } from 'kysely';
import { Problem } from '../../core/errors.ts';
import type { Engine } from '../engine.ts';
import { inSavepoint } from '../sql/savepoint.ts';
import type { Tables } from '../tables.ts';
import { bumpVersions } from '../writes/table-versions.ts';

/** `hasWaiters` tells whether others wait for their turn; where writers take no turns, there is none. */
export type Work<T> = (db: Transaction<Tables>, hasWaiters?: () => boolean) => Promise<T>;

type Member = {
  /** Shares a transaction with others. */
  work?: Work<unknown>;
  /** Runs by itself. */
  runBulk?(): Promise<unknown>;
  /** When it was added to the queue. */
  since: number;
  resolve(value: unknown): void;
  reject(error: unknown): void;
};

/** Milliseconds after which a group is closed, so that others are let through; who still waits forms the next. */
const maxGroupMs = 10;

/** How long a write waits behind bulk work, such as an atomic import, before it is rejected with 503. */
const maxQueueMs = 10_000;

/** Milliseconds after which all else has a turn within a group: Node lets one new connection in a turn. */
const yieldAfterMs = 2;

/**
 * Commits together what waits together: one flush to disk for all of it. Each work runs inside a savepoint, so that one
 * that fails takes nothing of the others with it, and none is settle of its success before all are on disk. Bulk work has
 * a turn, and a transaction, to itself.
 */
export function createWriteQueue(
  quick: Kysely<Tables>,
  bulk: Kysely<Tables>,
  { beforeBulk, assertStored, afterCommit }: NonNullable<Engine['singleWriter']>,
) {
  const waiting: Member[] = [];
  let isRunning = false;
  const hasWaiters = () => waiting.length > 0;

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      const firstAlone = waiting.findIndex(({ runBulk }) => runBulk);
      if (firstAlone === 0) await runNextAlone();
      else await runGroup(waiting.splice(0, firstAlone === -1 ? waiting.length : firstAlone));
      // Otherwise nothing else is read, answered or let in before all who wait have written.
      await setImmediate();
    }
    isRunning = false;
  }

  async function runGroup(members: Member[]): Promise<void> {
    const settlers: (() => void)[] = [];
    try {
      await quick.transaction().execute((db) =>
        bumpVersions(db, async (db) => {
          const start = performance.now();
          let lastYield = start;
          for (const { work, resolve, reject } of members) {
            if (performance.now() - lastYield > yieldAfterMs) {
              await setImmediate();
              lastYield = performance.now();
            }
            const outcome = await inSavepoint(db, async () => work?.(db, hasWaiters));
            settlers.push(() =>
              outcome.status === 'fulfilled' ? resolve(outcome.value) : reject(outcome.reason),
            );
            if (performance.now() - start > maxGroupMs) break;
          }
        }),
      );
      assertStored();
      void afterCommit(bulk, inTurn);
      waiting.unshift(...members.slice(settlers.length));
      for (const settle of settlers) settle();
    } catch (error) {
      for (const { reject } of members) reject(error);
    }
  }

  async function runNextAlone(): Promise<void> {
    const next = waiting.shift();
    const watch = setInterval(rejectOverdue, 250);
    await next?.runBulk?.().then(next.resolve, next.reject);
    clearInterval(watch);
  }

  /** Bulk work may wait: nobody expects it to be done in a moment. */
  function rejectOverdue(): void {
    const now = performance.now();
    const isOverdue = ({ work, since }: Member) => work !== undefined && now - since > maxQueueMs;
    const overdue = waiting.filter(isOverdue);
    if (overdue.length > 0)
      waiting.splice(0, waiting.length, ...waiting.filter((member) => !isOverdue(member)));
    for (const member of overdue) {
      const detail = 'A long import is being written. Try again shortly.';
      member.reject(new Problem('unavailable', detail, { headers: { 'retry-after': '5' } }));
    }
  }

  async function runBulk(work: Work<unknown>): Promise<unknown> {
    const result = await bulk.transaction().execute((db) => bumpVersions(db, (db) => work(db, hasWaiters)));
    assertStored();
    void afterCommit(bulk, inTurn);
    return result;
  }

  function enqueue<T>(member: Pick<Member, 'work' | 'runBulk'>): Promise<T> {
    return new Promise((resolve, reject) => {
      waiting.push({ ...member, since: performance.now(), resolve: resolve as Member['resolve'], reject });
      if (isRunning) return;
      isRunning = true;
      // Not at once: requests that have arrived by now belong to the same group.
      void setImmediate().then(run);
    });
  }

  const inTurn = (work: () => Promise<void>) => enqueue<void>({ runBulk: work });

  return {
    waiting: () => waiting.length,
    async write<T>(work: Work<T>, workload: 'quick' | 'bulk'): Promise<T> {
      if (workload === 'quick') return enqueue({ work });
      await beforeBulk(bulk);
      return enqueue({ runBulk: () => runBulk(work) });
    },
  };
}
