import { randomInt } from 'node:crypto';
import { type Kysely, sql, type Transaction } from 'kysely';
import { systemClock } from '../../core/clock.ts';
import { hasSingleWriter } from '../../database/sql/batches.ts';
import { namedStatement, param, statement } from '../../database/sql/statement.ts';
import { isBehind, type Versions } from '../../database/versions.ts';
import { type TableName, type Tables, tableNames } from '../tables.ts';
import { insertRows } from './rows.ts';
import { ChangeTracker } from './tracker.ts';

/**
 * Runs `work`, then inserts its events and increments the versions of the tables it changed. Caches compare versions to
 * find out whether an entry is fresh. The increment is the last statement of the transaction because, on PostgreSQL, other
 * writers of these tables wait from then until the commit.
 */
export async function bumpVersions<T>(
  transaction: Transaction<Tables>,
  work: (db: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  const tracker = new ChangeTracker();
  const result = await work(transaction.withPlugin(tracker));
  const { tables, sequence, rows } = tracker;
  await insertRows(transaction, 'events', rows);
  // The version of this table is the latest sequence number.
  const hasEvents = tables.delete('events');
  const changed = [...tables].sort();
  if (sequence !== undefined) changed.push('events');
  // Transactions with events hold this lock. The rest waits for it too, because one statement locks many rows in any order.
  if (!hasEvents && changed.length > 1 && !hasSingleWriter(transaction)) await lockSequence.send(transaction);
  if (changed.length > 0) await bump(changed).send(transaction, { sequence });
  return result;
}

const lockSequence = statement((db) =>
  db.selectFrom('data_versions').select('version').where('table_name', '=', 'events').forNoKeyUpdate(),
);

const bump = (tables: readonly TableName[]) =>
  namedStatement(`bump ${tables}`, (db) =>
    db
      .updateTable('data_versions')
      .set((eb) => ({
        version: tables.includes('events')
          ? sql<number>`case table_name when 'events' then ${param('sequence')} else version + 1 end`
          : eb('version', '+', 1),
      }))
      .where('table_name', 'in', tables),
  );

/** Gives all tables new versions, unless another instance has: see `growing`. The timeline is 0 until the first check. */
export async function renewVersions(
  db: Transaction<Tables>,
  { server_timeline: timeline = 0 }: Versions,
  sequence?: number,
): Promise<void> {
  if (!hasSingleWriter(db)) await lockSequence(db);
  const { rows } = await allVersions(db);
  const stored = Object.fromEntries(rows.map((row) => [row.table_name, row.version])) as Versions;
  const server_timeline = stored.timeline === 0 ? 0 : timeline;
  if (isBehind({ ...stored, server_timeline }, sequence)) await startVersions(db, sequence);
  await storeVersions(db, { timeline });
}

type Stored = Record<'events' | 'deleted_events' | 'lost_after' | 'lost_until', number>;

/** Lost events may have been written by an instance whose clock is ahead. Their numbers follow from its time. */
const maxClockDifferenceMs = 60_000;

/**
 * Gives all tables versions that none of their former states had, also not one that was lost. Sequence numbers continue
 * after those of lost events, so that followers who have seen these are told.
 */
export async function startVersions(db: Transaction<Tables>, sequence = 0): Promise<void> {
  const { rows } = await allVersions(db);
  const stored = Object.fromEntries(rows.map((row) => [row.table_name, row.version])) as Stored;
  const { events: latest, deleted_events, lost_after, lost_until } = stored;
  const now = Date.parse(systemClock().now) + maxClockDifferenceMs;
  const events = Math.max(latest, sequence, now * 1000) + 1;
  await db
    .updateTable('data_versions')
    .set((eb) => ({ version: eb('version', '+', randomInt(2 ** 32, 2 ** 40)) }))
    .where('table_name', 'in', tableNames)
    .execute();
  // Followers who have not learned of an earlier loss still do, until its numbers are those of deleted events.
  const first = lost_until > deleted_events ? lost_after : latest;
  await storeVersions(db, { events, lost_after: first, lost_until: events, timeline: 0 });
}

async function storeVersions(db: Transaction<Tables>, versions: Record<string, number>): Promise<void> {
  for (const [name, version] of Object.entries(versions))
    await db.updateTable('data_versions').set({ version }).where(sql.ref('table_name'), '=', name).execute();
}

/** A number that increases whenever one of the tables changes. */
export async function dataVersion(db: Kysely<Tables>, tables: readonly TableName[]): Promise<number> {
  return sumOf((await allVersions(db)).rows, tables);
}

/** `dataVersion`, without a round trip of its own. */
export async function dataVersionAhead(
  db: Transaction<Tables>,
  tables: readonly TableName[],
): Promise<number> {
  const { rows } = await allVersions.sendAhead(db);
  return sumOf(await rows, tables);
}

/**
 * Makes the transaction start again if one of the tables has changed since this version, without a round trip of its own.
 * Only where several transactions write: by a division by zero, as `countUnlessPromoted`.
 */
export async function requireVersion(
  db: Transaction<Tables>,
  tables: readonly TableName[],
  version: number,
): Promise<number> {
  const compare = namedStatement(`require ${tables}`, (db) =>
    db.selectNoFrom(
      sql`1 / case when ${versionExpression(tables)} = ${param('version')} then 1 else 0 end`.as('is_same'),
    ),
  );
  await compare.send(db, { version });
  return version;
}

const sumOf = (rows: readonly Tables['data_versions'][], tables: readonly TableName[]) =>
  rows.reduce(
    (sum, { table_name, version }) => (tables.some((table) => table === table_name) ? sum + version : sum),
    0,
  );

/** `dataVersion` as an expression. */
export const versionExpression = (tables: readonly TableName[]) =>
  sql<number>`(select sum(version) from data_versions where table_name in (${sql.join(tables.map((table) => sql.lit(table)))}))`;

const allVersions = statement((db) => db.selectFrom('data_versions').select(['table_name', 'version']));
