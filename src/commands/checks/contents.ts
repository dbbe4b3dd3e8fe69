import { isDeepStrictEqual } from 'node:util';
import { type Compilable, type Expression, type Kysely, sql } from 'kysely';
import { prefixes } from '../../core/ids.ts';
import { shortened } from '../../core/text.ts';
import { isTimeZone } from '../../core/time-zones.ts';
import { jsonRow } from '../../database/sql/functions.ts';
import { streamLines } from '../../database/sql/lines.ts';
import type { StoredTable } from '../../database/tables.ts';
import type { Descriptor } from '../../resources/descriptor.ts';
import { resources } from '../../resources/descriptors.ts';
import { foldedColumns } from '../../store/folds.ts';
import { readSettings } from '../../store/settings.ts';
import type { Tables } from '../../store/tables.ts';

/** Checks that need code, because SQL cannot express them on both engines. They yield each row that is wrong. */

const sliceRows = 500;

/** The resources whose changes the history records. */
export const resourcesWithHistory: Descriptor[] = resources.filter((resource: Descriptor) => resource.events);

/**
 * Compares the last recorded value of each field with the row. Entries of one moment have no order between instances, so
 * one of them must match.
 */
export async function* findWrongHistory(
  db: Kysely<Tables>,
  { table, id, kind }: Descriptor,
  { columns }: StoredTable,
): AsyncGenerator<string> {
  const prefix = prefixes[kind];
  const values = columns.map(
    ({ name }) => sql`when ${sql.lit(name)} then cast(${sql.ref(`subject.${name}`)} as text)`,
  );
  const current = sql`case entry.field when 'deleted' then 'exists' ${sql.join(values, sql` `)} end`;
  const fields = ['deleted', ...columns.map(({ name }) => name)].map((name) => sql.lit(name));
  const query = db
    .selectFrom('history as entry')
    .innerJoin(`${table as 'risks'} as subject`, (join) =>
      join.on(sql<boolean>`${sql.ref(`subject.${id}`)} = entry.subject_id`),
    )
    .select(lineOf(sql.ref('entry.subject_id'), sql.ref('entry.field'), sql.ref('entry.to'), current))
    .where('entry.subject_id', '>=', `${prefix}_`)
    .where('entry.subject_id', '<', `${prefix}~`)
    .where(sql<boolean>`entry.field in (${sql.join(fields)})`)
    .where(sql<boolean>`not exists (
      select 1 from history as later
      where later.subject_id = entry.subject_id and later.field = entry.field and later.at > entry.at)`)
    .orderBy('entry.subject_id');
  let subject = '';
  let wrong = new Set<string>();
  let right = new Set<string>();
  const report = () => (wrong.difference(right).size > 0 ? [subject] : []);
  for await (const rows of streamRows<[string, string, string, string | null]>(db, query)) {
    for (const [id, field, to, value] of rows) {
      if (id !== subject) {
        yield* report();
        subject = id;
        wrong = new Set();
        right = new Set();
      }
      (isSame(JSON.parse(to), value) ? right : wrong).add(field);
    }
  }
  yield* report();
}

/** Compares a recorded value with the text of a column: lists and objects are stored as JSON. */
function isSame(recorded: unknown, stored: string | null): boolean {
  if (recorded === null || stored === null) return recorded === stored;
  if (typeof recorded !== 'object') return String(recorded) === stored;
  try {
    return isDeepStrictEqual(recorded, JSON.parse(stored));
  } catch {
    return false;
  }
}

/** Names each row of which `wrongOf` returns what is wrong. A row is the list of its values. */
export async function* findWrongRows(
  db: Kysely<Tables>,
  { table, columns, primaryKey }: StoredTable,
  wrongOf: (values: readonly unknown[]) => string | undefined,
): AsyncGenerator<string> {
  const names = columns.map(({ name }) => name);
  const label = names.indexOf(names.includes('key') ? 'key' : (primaryKey[0] ?? ''));
  const query = db.selectFrom(table as keyof Tables).select(lineOf(...names.map((name) => sql.ref(name))));
  for await (const rows of streamRows<unknown[]>(db, query)) {
    for (const values of rows) {
      const wrong = wrongOf(values);
      if (wrong !== undefined) yield `${shortened(String(values[label]))} (${wrong})`;
    }
  }
}

/** Texts are searched, sorted and compared in their folded form. Returns the folded column that is wrong. */
export function foldValidator({ table, columns }: StoredTable) {
  const folded = foldedColumns[table];
  if (!folded) return undefined;
  return (values: readonly unknown[]) => {
    const row = Object.fromEntries(columns.map(({ name }, i) => [name, values[i]]));
    return Object.entries(folded(row)).find(([name, value]) => row[name] !== value)?.[0];
  };
}

/** The values of settings that the service reads as a time zone or a time. */
export async function* findWrongSettings(db: Kysely<Tables>): AsyncGenerator<string> {
  for (const [name, value] of await readSettings(db)) {
    const isTime = /_at$|^history_(start|deleted)$/.test(name);
    if ((name === 'time_zone' && !isTimeZone(value)) || (isTime && Number.isNaN(Date.parse(value))))
      yield name;
  }
}

/** A row as a JSON array. */
const lineOf = (...values: Expression<unknown>[]) => jsonRow(values).$castTo<string>().as('line');

async function* streamRows<Row>(
  db: Kysely<Tables>,
  query: Compilable<{ line: string }>,
): AsyncGenerator<Row[]> {
  for await (const { lines } of streamLines(db, query, sliceRows))
    yield lines.split('\n').map((line) => JSON.parse(line));
}
