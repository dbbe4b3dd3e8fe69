import { type Kysely, sql } from 'kysely';
import { type FieldError, fieldError } from '../../core/errors.ts';
import { fold, joinWords, nearest } from '../../core/text.ts';
import { inJsonArray } from '../../database/sql/functions.ts';
import { param, statement } from '../../database/sql/statement.ts';
import type { Tables } from '../../store/tables.ts';

type Categorized = { category?: string | null };

/**
 * Gives each category the spelling of the list of categories. Returns an error for each one that is not in the list, unless
 * the organization allows free text.
 */
export async function resolveCategories<Value extends Categorized>(
  db: Kysely<Tables>,
  values: readonly Value[],
): Promise<{ values: Value[]; errors: FieldError[][] }> {
  const named = values.flatMap(({ category }) => (category == null ? [] : [fold(category)]));
  if (named.length === 0) return { values: [...values], errors: values.map(() => []) };
  const { rows } = await findListed(db, { names: JSON.stringify([...new Set(named)]) });
  const listed = new Map(rows.map(({ folded, name }) => [folded, name]));
  const isFree = listed.get(freeText) !== 'false';
  const isMissing = ({ category }: Categorized) => category != null && !listed.has(fold(category));
  const explain = isFree || !values.some(isMissing) ? undefined : await explainMissing(db);
  return {
    values: values.map((value) =>
      value.category == null
        ? value
        : { ...value, category: listed.get(fold(value.category)) ?? value.category },
    ),
    errors: values.map((value) =>
      explain && isMissing(value)
        ? [fieldError('category', 'unknown_category', explain(value.category ?? ''))]
        : [],
    ),
  };
}

/** No folded name: it marks the row of the setting. */
const freeText = '\n';

/** The setting and the matching categories, in one round trip. */
const findListed = statement<{ folded: string; name: string }>((db) =>
  db
    .selectFrom('categories')
    .select(['name_folded as folded', 'name'])
    .where(inJsonArray(sql.ref('name_folded'), param<string>('names')))
    .unionAll(
      db
        .selectFrom('settings')
        .select([sql<string>`${sql.lit(freeText)}`.as('folded'), 'value as name'])
        .where('name', '=', 'free_text_categories'),
    ),
);

const maxNamed = 20;

async function explainMissing(db: Kysely<Tables>): Promise<(category: string) => string> {
  const rows = await db.selectFrom('categories').select('name').orderBy('position').execute();
  const names = rows.map(({ name }) => name);
  if (names.length === 0)
    return (category) =>
      `“${category}” is not in the list of categories, which is empty. Add it there, or allow free text in the settings.`;
  const others = names.length - maxNamed;
  const shown = joinWords([...names.slice(0, maxNamed), ...(others > 0 ? [`${others} others`] : [])]);
  return (category) => {
    const similar = nearest(category, names);
    const advice = similar === undefined ? '' : ` Did you mean ${similar}?`;
    return `“${category}” is not in the list of categories.${advice} The categories are ${shown}.`;
  };
}
