import { CompiledQuery, type KyselyPlugin, type Transaction } from 'kysely';
import type { Tables } from '../tables.ts';

/** Runs a part of a transaction. If it fails, only that part is rolled back, and the transaction can continue. */
export async function inSavepoint<T>(
  db: Transaction<Tables>,
  work: () => Promise<T>,
): Promise<PromiseSettledResult<T>> {
  await db.executeQuery(savepoint);
  const restoreStates = db
    .getExecutor()
    .plugins.filter(hasState)
    .map((plugin) => plugin.mark());
  try {
    const value = await work();
    await db.executeQuery(release);
    return { status: 'fulfilled', value };
  } catch (reason) {
    for (const restore of restoreStates) restore();
    await db.executeQuery(rollback).catch(() => {
      // On a full disk SQLite has already rolled back the whole transaction, so the savepoint no longer exists.
      throw reason;
    });
    await db.executeQuery(release);
    return { status: 'rejected', reason };
  }
}

/** A plugin that collects something in a transaction. `mark` returns a function that drops what was added since. */
export type StatefulPlugin = KyselyPlugin & { mark(): () => void };

const hasState = (plugin: KyselyPlugin): plugin is StatefulPlugin => 'mark' in plugin;

const savepoint = CompiledQuery.raw('savepoint part');
const release = CompiledQuery.raw('release savepoint part');
const rollback = CompiledQuery.raw('rollback to savepoint part');
