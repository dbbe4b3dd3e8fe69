import type { Kysely } from 'kysely';
import { fieldError, invalidBody } from '../../core/errors.ts';
import { fold } from '../../core/text.ts';
import { param, statement } from '../../database/sql/statement.ts';
import type { Tables } from '../../store/tables.ts';
import type { LockedProject } from './lock.ts';

/** The project key is part of the keys of all its risks, issues and tasks, including deleted ones. */
export function assertKeyUnused({ key, risks_created, issues_created, tasks_created }: LockedProject): void {
  if (risks_created + issues_created + tasks_created === 0) return;
  const detail = `The key ${key} cannot change: risks, issues or tasks of this project use it.`;
  throw invalidBody([fieldError('key', 'fixed', detail)]);
}

/** Derives a key from the first word of the name, or from the whole name if its words are too short. A number makes it unique. */
export async function generateKey(
  db: Kysely<Tables>,
  name: string,
  takenKeys: Set<string | undefined>,
): Promise<string> {
  const words =
    fold(name)
      .toUpperCase()
      .match(/[A-Z0-9]+/g) ?? [];
  const base = words.find((word) => word.length >= 2) ?? `${words.join('')}PRJ`;
  const keyOf = (n: number) => {
    const suffix = n === 1 ? '' : String(n);
    return base.slice(0, 10 - suffix.length) + suffix;
  };
  const isTaken = async (n: number) =>
    takenKeys.has(keyOf(n)) || (await findKey(db, { key: keyOf(n) })).rows.length > 0;
  const key = keyOf(await findFree(isTaken));
  takenKeys.add(key);
  return key;
}

const findKey = statement((db) =>
  db.selectFrom('projects').select('id').where('key', '=', param<string>('key')),
);

/** Finds a free number after a taken one by bisection: the names of an import may all start with the same word. */
async function findFree(isTaken: (n: number) => Promise<boolean>): Promise<number> {
  let free = 1;
  while (await isTaken(free)) free *= 2;
  let taken = Math.floor(free / 2);
  while (free - taken > 1) {
    const middle = Math.floor((taken + free) / 2);
    if (await isTaken(middle)) taken = middle;
    else free = middle;
  }
  return free;
}
