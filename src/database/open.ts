import { setTimeout } from 'node:timers/promises';
import { Kysely, type Transaction } from 'kysely';
import type { Problem } from '../errors.ts';
import { countingChanges } from './changes.ts';
import type { Engine } from './engine.ts';
import { migrate } from './migrate.ts';
import { postgresEngine } from './postgres.ts';
import { sqliteEngine } from './sqlite.ts';
import type { Tables } from './tables.ts';
import { LostRace } from './update.ts';

export type Database = {
  /** For people: the address, without a password. */
  name: string;
  /** For a single query. */
  db: Kysely<Tables>;
  /** One moment's view over several queries; `end` it. A slow one may last as long as its reader takes. */
  snapshot(options?: { slow: boolean }): Promise<Snapshot>;
  /** Runs `work` in one transaction: all of it is on disk when this resolves, or none of it ever is. */
  write<T>(work: (db: Transaction<Tables>) => Promise<T>): Promise<T>;
  /** Brings the tables up to date; says which migrations ran. */
  migrate(): Promise<string[]>;
  /** What a driver's error means to a caller, if it means anything but a defect. */
  explain(error: unknown): Problem | undefined;
  close(): Promise<void>;
};

type Snapshot = { db: Kysely<Tables>; end(): Promise<void> };

/** `url` is `sqlite:<file>` or `postgres://…`. Nothing is opened or created before the first query. */
export function openDatabase(url: string): Database {
  const engine = url.startsWith('sqlite:') ? sqliteEngine(url.slice('sqlite:'.length)) : postgresEngine(url);
  const { dialects } = engine;
  const writer = new Kysely<Tables>({ dialect: dialects.write });
  const reader = dialects.read === dialects.write ? writer : new Kysely<Tables>({ dialect: dialects.read });
  const slowReader = new Kysely<Tables>({ dialect: dialects.readSlowly });

  return {
    name: engine.name,
    db: reader,

    async snapshot({ slow } = { slow: false }) {
      const db = await (slow ? slowReader : reader)
        .startTransaction()
        .setAccessMode('read only')
        .setIsolationLevel('repeatable read')
        .execute();
      return { db, end: async () => void (await db.rollback().execute()) };
    },

    write: (work) => retried(engine, () => writer.transaction().execute((db) => countingChanges(db, work))),

    async migrate() {
      try {
        return await retried(engine, () => migrate(writer));
      } catch (error) {
        throw engine.explainStart(error) ?? error;
      }
    },

    explain: engine.explain,

    async close() {
      for (const db of new Set([slowReader, reader, writer])) await db.destroy();
    },
  };
}

const races = 5;
const patience = 10_000;

/** Runs a transaction again while another one is in its way, without holding the event loop meanwhile. */
async function retried<T>(engine: Engine, transaction: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + patience;
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction();
    } catch (error) {
      const reason = error instanceof LostRace ? 'lost race' : engine.retryable(error);
      const again =
        reason === 'busy' ? performance.now() < deadline : reason === 'lost race' && attempt < races;
      if (!again) throw error;
      await setTimeout(Math.random() * Math.min(100, 5 * 2 ** attempt));
    }
  }
}
