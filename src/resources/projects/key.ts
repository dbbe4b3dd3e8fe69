import type { Kysely } from 'kysely';
import { fieldError, invalidBody } from '../../core/errors.ts';
import { fold } from '../../core/text.ts';
import type { Tables } from '../../database/tables.ts';
import type { LockedProject } from './lock.ts';

/** The project key is part of the keys of all its risks, issues and tasks, including deleted ones. */
export function assertKeyUnused({ key, risks_made, issues_made, tasks_made }: LockedProject): void {
  if (risks_made + issues_made + tasks_made === 0) return;
  throw invalidBody([
    fieldError(
      'key',
      'fixed',
      `The key ${key} cannot change: risks, issues or tasks of this project use it.`,
    ),
  ]);
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
  for (let n = 1; ; n++) {
    const suffix = n === 1 ? '' : String(n);
    const key = base.slice(0, 10 - suffix.length) + suffix;
    const existing = await db.selectFrom('projects').select('id').where('key', '=', key).executeTakeFirst();
    if (existing || takenKeys.has(key)) continue;
    takenKeys.add(key);
    return key;
  }
}
