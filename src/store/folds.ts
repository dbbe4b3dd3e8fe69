import { isDeepStrictEqual } from 'node:util';
import { type QueryExecutorProvider, sql } from 'kysely';
import { DEFAULT_MIGRATION_TABLE } from 'kysely/migration';
import type { Moment } from '../core/clock.ts';
import { fold, foldAll } from '../core/text.ts';
import type { Database } from '../database/open.ts';
import { inJsonArray, jsonItems } from '../database/sql/functions.ts';
import type { TableName } from './tables.ts';
import { lockAllProjects } from './writes/locks.ts';
import { chunk } from './writes/rows.ts';
import { trackerOf } from './writes/tracker.ts';

// biome-ignore lint/suspicious/noExplicitAny: any table
type Row = Record<string, any>;

const ofName = ({ name }: Row): Row => ({ name_folded: fold(name) });
const ofItem = ({ key, title, description }: Row): Row => ({
  search_folded: foldAll([key, title, description]),
});
const ofProject = (row: Row) => ({ ...ofName(row), search_folded: foldAll([row.key, row.name]) });
const ofPerson = (row: Row) => ({
  ...ofName(row),
  department_folded: row.department && fold(row.department),
  skills_folded: `\n${JSON.parse(row.skills).map(fold).join('\n')}\n`,
  search_folded: foldAll([row.name, row.email, row.title]),
});

/** The folded columns of each table, computed from a row. */
export const foldedColumns: Record<string, (row: Row) => Row> = {
  ...{ categories: ofName, groups: ofName, issues: ofItem, keys: ofName, past_risks: ofItem },
  ...{ people: ofPerson, projects: ofProject, risks: ofItem, tasks: ofItem },
};

const rowsPerRead = 500;

/**
 * Folds texts again, of all rows or of those with these ids: `fold` removed the vowels of many scripts. A migration that
 * is not frozen, because it must agree with `fold`; it reads only columns that the tables had by then. `lock` runs before
 * the first change. The versions of the tables come last, as in every transaction.
 */
export async function foldAgain(
  db: QueryExecutorProvider,
  ids?: readonly string[],
  lock = async () => {},
): Promise<void> {
  const changedTables = new Set<string>();
  for (const [name, folded] of Object.entries(foldedColumns)) {
    const [table, id] = [sql.table(name), sql.ref(name === 'people' ? 'user_id' : 'id')];
    const isChosen = ids ? inJsonArray(id, ids) : sql`1 = 1`;
    const value = (column: string) => sql`items.value ->> ${sql.lit(column)}`;
    // Of two names that have become one, as they differ only in a sigma, one keeps its fold until it is renamed.
    const isUnique = name === 'groups' || name === 'categories';
    const isFree = sql`name_folded = ${value('name_folded')}`;
    for (let last: Row | undefined = { id: '', version: 0 }; last; ) {
      const { rows }: { rows: Row[] } = await sql<Row>`select *, ${id} as id from ${table} where ${isChosen}
        and (${id}, version) > (${last.id}, ${last.version}) order by ${id}, version limit ${sql.lit(rowsPerRead)}`.execute(
        db,
      );
      last = rows.length < rowsPerRead ? undefined : rows.at(-1);
      const changed = rows
        .map((row) => ({ ...row, ...folded(row) }))
        .filter((row, i) => !isDeepStrictEqual(row, rows[i]));
      for (const batch of isUnique ? changed.map((row) => [row]) : [changed].filter(([first]) => first)) {
        const columns = Object.keys(folded(batch[0] as Row)).map(
          (column) => sql`${sql.ref(column)} = ${value(column)}`,
        );
        if (changedTables.size === 0) await lock();
        changedTables.add(name);
        await sql`update ${table} set ${sql.join(columns)} from ${jsonItems(sql`${JSON.stringify(batch)}`)} as items
          where ${table}.${id} = ${value('id')} and ${table}.version = cast(${value('version')} as integer)
            and ${isUnique ? sql`not exists (select 1 from ${table} as other where other.${isFree})` : sql`1 = 1`}`.execute(
          db,
        );
      }
    }
  }
  const tracker = trackerOf(db);
  for (const name of changedTables) {
    if (tracker) tracker.tables.add(name as TableName);
    else await sql`update data_versions set version = version + 1 where table_name = ${name}`.execute(db);
  }
}

/** What all changes of the folded tables lock, besides projects. */
const lockedTables = ['access', 'categories', 'groups', 'keys', 'memberships', 'people'] as const;

const hour = 3_600_000;
const week = 7 * 24 * hour;

/**
 * Folds again what instances of 0.4.0 write while they run beside this version during the upgrade: they fold by the former
 * rule. Reads the events after a sequence number, in the week after the migration. Returns the last one.
 */
export async function foldRecent(
  { db, write, versions }: Pick<Database, 'db' | 'write' | 'versions'>,
  { now }: Moment,
  after: number,
): Promise<number> {
  const { rows } = await sql<{
    timestamp: string;
  }>`select timestamp from ${sql.table(DEFAULT_MIGRATION_TABLE)}
    where name like '0010%'`.execute(db);
  const upgradedAt = Date.parse(rows[0]?.timestamp ?? '');
  if (!(Date.parse(now) - upgradedAt < week)) return after;
  const { events } = await versions();
  const changed = await db
    .selectFrom('events')
    .select('subject_id')
    .distinct()
    // The clocks of the instances may differ.
    .where('sequence', '>', Math.max(after, (upgradedAt - hour) * 1000))
    .where('sequence', '<=', events)
    .execute();
  const ids = changed.map(({ subject_id }) => subject_id);
  for (const some of chunk(ids, rowsPerRead))
    await write((db) => foldAgain(db, some, () => lockAllProjects(db, ...lockedTables)), 'bulk');
  return events;
}
