import { isDeepStrictEqual } from 'node:util';
import { type QueryExecutorProvider, sql } from 'kysely';
import { fold, foldAll } from '../core/text.ts';
import { jsonItems } from '../database/sql/functions.ts';

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
  skills_folded: ['', ...JSON.parse(row.skills).map(fold), ''].join('\n'),
  search_folded: foldAll([row.name, row.email, row.title]),
});

/** The folded columns of each table. */
const tables = Object.entries({
  ...{ categories: ofName, groups: ofName, issues: ofItem, keys: ofName, past_risks: ofItem },
  ...{ people: ofPerson, projects: ofProject, risks: ofItem, tasks: ofItem },
});

const rowsPerRead = 500;

/**
 * Folds texts again, of all rows or of those changed since a time: `fold` removed the vowels of many scripts. A migration that
 * is not frozen, because it must agree with `fold`; it reads only columns that the tables had by then.
 */
export async function foldAgain(db: QueryExecutorProvider, since = ''): Promise<void> {
  for (const [name, folded] of tables) {
    const [table, id] = [sql.table(name), sql.ref(name === 'people' ? 'user_id' : 'id')];
    const value = (column: string) => sql`items.value ->> ${sql.lit(column)}`;
    // Of two names that have become one, as they differ only in a sigma, one keeps its fold until it is renamed.
    const isUnique = name === 'groups' || name === 'categories';
    const isFree = sql`name_folded = ${value('name_folded')}`;
    let isChanged = false;
    for (let last: Row | undefined = { id: '', version: 0 }; last; ) {
      const { rows }: { rows: Row[] } =
        await sql<Row>`select *, ${id} as id from ${table} where updated_at >= ${since}
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
        await sql`update ${table} set ${sql.join(columns)} from ${jsonItems(sql`${JSON.stringify(batch)}`)} as items
          where ${table}.${id} = ${value('id')} and ${table}.version = cast(${value('version')} as integer)
            and ${isUnique ? sql`not exists (select 1 from ${table} as other where other.${isFree})` : sql`1 = 1`}`.execute(
          db,
        );
        isChanged = true;
      }
    }
    if (isChanged)
      await sql`update data_versions set version = version + 1 where table_name = ${name}`.execute(db);
  }
}
