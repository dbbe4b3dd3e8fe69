import type { Transaction } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import type { Database } from '../../database/open.ts';
import type { Key } from '../../resources/keys/schema.ts';
import type { Tables } from '../../store/tables.ts';
import { lockTables } from '../../store/writes/locks.ts';

const minute = 60_000;

export type KeyUsage = ReturnType<typeof createKeyUsage>;

/** Updates `last_used_at` in batches, once a minute, instead of with a write per request. */
export function createKeyUsage(database: Database, onError: (error: unknown) => void) {
  const uses = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;

  /** Stores the recorded uses. It never throws: a use that was not stored is recorded again with the next request. */
  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (uses.size === 0) return;
    const recorded = [...uses];
    uses.clear();
    await database.write((db) => storeUses(db, recorded)).catch(onError);
  }

  return {
    recordUse({ id, last_used_at }: Key, { now }: Moment): void {
      if (last_used_at !== null && last_used_at > minuteBefore(now)) return;
      uses.set(id, now);
      timer ??= setTimeout(flush, minute).unref();
    },
    flush,
  };
}

async function storeUses(db: Transaction<Tables>, uses: readonly [id: string, at: string][]): Promise<void> {
  // Take the lock first, as every writer of keys does, to prevent a deadlock.
  await lockTables(db, 'keys');
  for (const [id, last_used_at] of uses) {
    await db
      .updateTable('keys')
      .set({ last_used_at })
      .where('id', '=', id)
      .where((eb) =>
        eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<=', minuteBefore(last_used_at))]),
      )
      .execute();
  }
}

/** The last result, cached because requests of the same millisecond share it. */
let latest = { time: '', before: '' };
function minuteBefore(time: string): string {
  if (latest.time !== time) latest = { time, before: new Date(Date.parse(time) - minute).toISOString() };
  return latest.before;
}
