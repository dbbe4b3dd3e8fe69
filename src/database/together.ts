import { setImmediate } from 'node:timers/promises';
import { CompiledQuery, type Kysely, type Transaction } from 'kysely';
import { countingChanges } from './changes.ts';
import type { Tables } from './tables.ts';

type Member = {
  work(db: Transaction<Tables>): Promise<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
};

/** Milliseconds after which a group is closed, so that others are let through; who still waits forms the next. */
const longestGroup = 10;

/**
 * Commits together what waits together: one flush to disk for all of it. Each work runs inside a savepoint, so that one
 * that fails takes nothing of the others with it, and none is told of its success before all are on disk.
 */
export function writingTogether(writer: Kysely<Tables>) {
  let waiting: Member[] = [];
  let isRunning = false;

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      await runGroup(waiting);
      // Otherwise nothing else is read, answered or let in before all who wait have written.
      await setImmediate();
    }
    isRunning = false;
  }

  async function runGroup(members: Member[]): Promise<void> {
    waiting = [];
    const tell: (() => void)[] = [];
    try {
      await writer.transaction().execute((db) =>
        countingChanges(db, async (db) => {
          const start = performance.now();
          for (const member of members) {
            tell.push(await runMember(db, member));
            if (performance.now() - start > longestGroup) break;
          }
        }),
      );
      waiting.unshift(...members.slice(tell.length));
      for (const told of tell) told();
    } catch (error) {
      for (const { reject } of members) reject(error);
    }
  }

  return {
    waiting: () => waiting.length,
    write: <T>(work: (db: Transaction<Tables>) => Promise<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        waiting.push({ work, resolve: resolve as Member['resolve'], reject });
        if (isRunning) return;
        isRunning = true;
        // Not at once: requests that have arrived by now belong to the same group.
        void setImmediate().then(run);
      }),
  };
}

/** Gives what is to be told when the group is on disk. */
async function runMember(db: Transaction<Tables>, { work, resolve, reject }: Member): Promise<() => void> {
  await db.executeQuery(savepoint);
  try {
    const value = await work(db);
    await db.executeQuery(release);
    return () => resolve(value);
  } catch (error) {
    await db.executeQuery(undo).catch(() => {
      // When the disk is full, the database has undone the whole group by itself.
      throw error;
    });
    await db.executeQuery(release);
    return () => reject(error);
  }
}

const savepoint = CompiledQuery.raw('savepoint member');
const release = CompiledQuery.raw('release member');
const undo = CompiledQuery.raw('rollback to member');
