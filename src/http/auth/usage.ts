import type { Transaction } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import type { Database } from '../../database/open.ts';
import type { Actor } from '../../store/access/actors.ts';
import type { Tables } from '../../store/tables.ts';
import { lockTables } from '../../store/writes/locks.ts';

const minute = 60_000;

export type Usage = ReturnType<typeof createUsage>;

type Uses = Map<string, string>;

/** Stores when keys and sessions were last used in batches, once a minute, instead of with a write per request. */
export function createUsage(database: Database, onError: (error: unknown) => void) {
  const keys: Uses = new Map();
  const sessions: Uses = new Map();
  let timer: NodeJS.Timeout | undefined;

  /** Stores the recorded uses. It never throws: a use that was not stored is recorded again with the next request. */
  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    for (const [uses, store] of [
      [keys, storeKeyUses],
      [sessions, storeSessionUses],
    ] as const) {
      if (uses.size === 0) continue;
      const recorded = [...uses];
      uses.clear();
      await database.write((db) => store(db, recorded)).catch(onError);
    }
  }

  function record(uses: Uses, id: string, now: string): void {
    uses.set(id, now);
    timer ??= setTimeout(flush, minute).unref();
  }

  return {
    recordUse({ key_id, last_used_at, session }: Actor, { now }: Moment): void {
      if (session && session.last_seen_at <= minuteBefore(now)) {
        // Storing it changes no version, so the cached session is not read again.
        session.last_seen_at = now;
        record(sessions, session.id, now);
      }
      if (key_id !== null && !(last_used_at !== null && last_used_at > minuteBefore(now)))
        record(keys, key_id, now);
    },
    flush,
  };
}

async function storeKeyUses(db: Transaction<Tables>, uses: readonly [id: string, at: string][]) {
  // Take the locks first, as every writer of keys does, to prevent a deadlock: whoever ends the access of a person, which
  // revokes several keys, has only that on `access`.
  await lockTables(db, 'access', 'keys');
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

async function storeSessionUses(db: Transaction<Tables>, uses: readonly [id: string, at: string][]) {
  await lockTables(db, 'access');
  for (const [id, last_seen_at] of uses) {
    await db
      .updateTable('sessions')
      .set({ last_seen_at })
      .where('id', '=', id)
      .where('last_seen_at', '<', last_seen_at)
      .execute();
  }
}

/** The last result, cached because requests of the same millisecond share it. */
let latest = { time: '', before: '' };
function minuteBefore(time: string): string {
  if (latest.time !== time) latest = { time, before: new Date(Date.parse(time) - minute).toISOString() };
  return latest.before;
}
