import { isDeepStrictEqual } from 'node:util';
import { type Compilable, type Expression, type Kysely, sql } from 'kysely';
import { prefixes } from '../../core/ids.ts';
import { fold, shortened } from '../../core/text.ts';
import { jsonRow } from '../../database/sql/functions.ts';
import { streamLines } from '../../database/sql/lines.ts';
import type { StoredTable } from '../../database/tables.ts';
import type { Descriptor } from '../../resources/descriptor.ts';
import { resources } from '../../resources/descriptors.ts';
import type { Tables } from '../../store/tables.ts';
import { rowValidator } from './row-validator.ts';

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

/** Validates each row as a restore does. SQLite can hold any value in a column, and both engines values out of range. */
export async function* findInvalidRows(
  db: Kysely<Tables>,
  { table, columns, primaryKey }: StoredTable,
): AsyncGenerator<string> {
  const names = columns.map(({ name }) => name);
  const label = names.indexOf(names.includes('key') ? 'key' : (primaryKey[0] ?? ''));
  const validate = rowValidator(table as keyof Tables, names);
  const query = db.selectFrom(table as keyof Tables).select(lineOf(...names.map((name) => sql.ref(name))));
  for await (const rows of streamRows<unknown[]>(db, query)) {
    for (const values of rows) {
      const wrong = validate(values);
      if (wrong !== undefined) yield `${shortened(String(values[label]))} (${wrong})`;
    }
  }
}

/** Names are searched, sorted and compared in their folded form. */
export async function* findWrongNames(
  db: Kysely<Tables>,
  table: 'people' | 'groups' | 'projects' | 'keys' | 'categories',
): AsyncGenerator<string> {
  const id = table === 'people' ? 'user_id' : 'id';
  const query = db.selectFrom(table).select(lineOf(sql.ref(id), sql.ref('name'), sql.ref('name_folded')));
  for await (const rows of streamRows<[string, string, string]>(db, query))
    for (const [id, name, folded] of rows) if (fold(name) !== folded) yield id;
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
