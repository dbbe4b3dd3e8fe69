import { sql, type Transaction } from 'kysely';
import { inJsonArray } from '../../database/sql/functions.ts';
import type { WantedKeys } from '../../import/importable.ts';
import type { Tables } from '../../store/tables.ts';

type Numbered = {
  table: 'risks' | 'issues' | 'tasks';
  project_id: string;
  /** What the keys of these items begin with, such as `APOLLO-R`. */
  prefix: string;
  /** The last number that was given. */
  last: number;
};

/**
 * Gives keys to new items of a project: the one that they have in a file, if no item has or had it, otherwise the next. Other
 * writers may have given and deleted any number up to the last, except those that the import itself has skipped.
 */
export async function createKeys(db: Transaction<Tables>, items: Numbered, wanted?: WantedKeys) {
  const { table, project_id, prefix } = items;
  const wantedNumbers = (wanted?.keys ?? []).map((key) => {
    const number = numberIn(key, prefix);
    return number > items.last || wanted?.skipped.has(prefix, number) ? number : undefined;
  });
  // An item without a key in the file must not take the one of a later row.
  let last = Math.max(items.last, ...wantedNumbers.map((number = 0) => number));
  const wantedKeys = wantedNumbers.flatMap((number) => (number === undefined ? [] : `${prefix}${number}`));
  const taken = await findKeys(db, table, project_id, wantedKeys);
  const given = new Set<string>();
  return {
    /** The key of the item at this position. */
    next(position: number): string {
      const number = wantedNumbers[position];
      const isFree = number !== undefined && !taken.has(`${prefix}${number}`);
      const kept = isFree ? number : last + 1;
      last = Math.max(last, kept);
      taken.add(`${prefix}${kept}`);
      given.add(`${prefix}${kept}`);
      return `${prefix}${kept}`;
    },
    /** The last number, when all items have their keys. */
    end(): number {
      wanted?.skipped.add(prefix, items.last, last, given);
      return last;
    },
  };
}

/** The number in a key such as `APOLLO-R7`, or 0. One with eight digits is a mistake that would make all later keys long. */
function numberIn(key: string | undefined, prefix: string): number {
  const digits = key?.startsWith(prefix) ? key.slice(prefix.length) : '';
  return /^[1-9]\d{0,6}$/.test(digits) ? Number(digits) : 0;
}

async function findKeys(
  db: Transaction<Tables>,
  table: Numbered['table'],
  project_id: string,
  keys: readonly string[],
): Promise<Set<string>> {
  if (keys.length === 0) return new Set();
  const rows = await db
    .selectFrom(table)
    .select('key')
    .where('project_id', '=', project_id)
    .where(inJsonArray(sql.ref('key'), [...keys]))
    .execute();
  return new Set(rows.map(({ key }) => key));
}
