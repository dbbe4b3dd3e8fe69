import type { Transaction } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import type { Database } from '../../database/open.ts';
import type { Tables } from '../../database/tables.ts';
import { lockTable } from '../../database/writes/table-versions.ts';
import type { Key } from '../../resources/keys/schema.ts';

const minute = 60_000;

export type KeyUsage = {
  recordUse(key: Key, moment: Moment): void;
  /** Stores what was noted. It never fails: what cannot be stored is noted again with the next use. */
  flush(): Promise<void>;
};

/** Keeps `last_used_at` without a write a request: uses are noted here, and stored together once a minute. */
export function createKeyUsage(database: Database, onError: (error: unknown) => void): KeyUsage {
  const uses = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;

  async function flush() {
    clearTimeout(timer);
    timer = undefined;
    if (uses.size === 0) return;
    const noted = [...uses];
    uses.clear();
    await database.write((db) => storeUses(db, noted)).catch(onError);
  }

  return {
    recordUse({ id, last_used_at }, { now }) {
      if (last_used_at !== null && last_used_at > minuteBefore(now)) return;
      uses.set(id, now);
      timer ??= setTimeout(flush, minute).unref();
    },
    flush,
  };
}

async function storeUses(db: Transaction<Tables>, uses: readonly [id: string, at: string][]): Promise<void> {
  // First, as whoever changes keys does: otherwise two could wait for each other.
  await lockTable(db, 'keys');
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

/** Those who come together ask about the same time. */
let asked = { time: '', before: '' };
function minuteBefore(time: string): string {
  if (asked.time !== time) asked = { time, before: new Date(Date.parse(time) - minute).toISOString() };
  return asked.before;
}
