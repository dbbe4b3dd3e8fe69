import { type Expression, type RawBuilder, sql } from 'kysely';
import { invalidParameter } from '../core/errors.ts';
import { fold } from '../core/text.ts';
import { containsText } from '../database/sql/functions.ts';
import type { Order } from './list.ts';

/**
 * Sorts by how well rows match `q`: those that meet the first condition come first, then those that meet the second, and
 * so on. Equally good matches are in the order of `tie`.
 */
export function byRelevance(
  q: string | undefined,
  conditions: (folded: string) => Expression<boolean>[],
  tie: RawBuilder<string>,
): Order {
  if (q === undefined) throw invalidParameter('sort', '`sort=relevance` needs `q`.');
  const cases = conditions(fold(q)).map((condition, i) => sql`when ${condition} then ${sql.lit(String(i))}`);
  return { key: sql`(case ${sql.join(cases, sql` `)} else '9' end)`, tie };
}

/** Names that start with the text, then names with a word that starts with it, then the rest. */
export const namesByRelevance = (
  q: string | undefined,
  folded: Expression<string>,
  tie: RawBuilder<string>,
): Order => byRelevance(q, (text) => [startsWith(folded, text), hasWord(folded, text)], tie);

export const startsWith = (text: Expression<string>, start: string) =>
  sql<boolean>`substr(${text}, 1, ${sql.lit([...start].length)}) = ${start}`;

/** Whether a word after the first one starts with this text. */
export const hasWord = (text: Expression<string>, start: string) => containsText(text, ` ${start}`);
