import { type Kysely, type RawBuilder, sql } from 'kysely';
import { gramsMatch, gramsMatchFew } from './functions.ts';
import type { Tables } from './tables.ts';

/**
 * A condition that everyone with this folded text in what they are searched by meets, and few others, for which there
 * is an index; undefined when so many meet it that they are met sooner in the order of the roster.
 */
export async function peopleWithGrams(
  db: Kysely<Tables>,
  folded: string,
): Promise<RawBuilder<boolean> | undefined> {
  const grams = gramsOf(folded);
  const { rows } = await sql<{
    few: boolean | number;
  }>`select ${gramsMatchFew(folded)} as few`.execute(db);
  return rows[0]?.few ? sql<boolean>`${gramsMatch(sql.ref('people.search_folded'), grams)}` : undefined;
}

/** Each three characters, in hex; of a shorter text what such grams start with. */
function gramsOf(folded: string): string[] {
  const characters = [...folded];
  if (characters.length < 3) return [`${hex(folded)}*`];
  const grams = characters.slice(2).map((_, i) => hex(characters.slice(i, i + 3).join('')));
  return [...new Set(grams)];
}

const hex = (text: string) => Buffer.from(text).toString('hex');
