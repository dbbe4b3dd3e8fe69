import { CompiledQuery, type Transaction } from 'kysely';
import type { Tables } from '../tables.ts';

/** Does a part of a transaction. When it fails, nothing of it stays, and the rest of the transaction can go on. */
export async function inSavepoint<T>(
  db: Transaction<Tables>,
  work: () => Promise<T>,
): Promise<PromiseSettledResult<T>> {
  await db.executeQuery(savepoint);
  try {
    const value = await work();
    await db.executeQuery(release);
    return { status: 'fulfilled', value };
  } catch (reason) {
    await db.executeQuery(undo).catch(() => {
      // When the disk is full, the database has undone the whole transaction by itself.
      throw reason;
    });
    await db.executeQuery(release);
    return { status: 'rejected', reason };
  }
}

const savepoint = CompiledQuery.raw('savepoint part');
const release = CompiledQuery.raw('release savepoint part');
const undo = CompiledQuery.raw('rollback to savepoint part');
