import { type RawBuilder, sql, type Transaction } from 'kysely';
import { levelOf, type Model, readRiskModels } from '../../../store/risk-model.ts';
import type { Tables } from '../../../store/tables.ts';
import { levels } from '../../risk-model/schema.ts';
import { type Ranked, rankKey } from './ranking.ts';
import { scoreOf } from './scoring.ts';

type Rated = Ranked & { residual_probability: number | null; residual_impact: number | null };

/** The columns of a risk that follow from its ratings and dates. Everything that writes a risk writes them. */
export function scoreColumns(model: Model, risk: Rated) {
  return {
    score: scoreOf(risk.probability, risk.impact),
    level: levelOf(model, risk.probability, risk.impact),
    residual_score: scoreOf(risk.residual_probability, risk.residual_impact),
    residual_level: levelOf(model, risk.residual_probability, risk.residual_impact),
    rank_key: rankKey(risk),
  };
}

export type ScoreColumn = keyof ReturnType<typeof scoreColumns>;

const ratings = ['probability', 'impact', 'residual_probability', 'residual_impact'] as const;
export type RatingColumn = (typeof ratings)[number];
export const ratingColumns: readonly RatingColumn[] = ratings;

type RatingExpressions = Record<RatingColumn, RawBuilder<unknown>>;

const ownRatings = Object.fromEntries(ratings.map((name) => [name, sql.ref(name)])) as RatingExpressions;

/** The same columns, computed by the database from the ratings of a row or from others. A test compares the two. */
export const scoreExpressions = (
  model: Pick<Model, 'cells'>,
  rated: RatingExpressions = ownRatings,
): Record<ScoreColumn, RawBuilder<unknown>> => ({
  ...expressionsOfRatings(rated),
  level: levelExpression(model, rated.probability, rated.impact),
  residual_level: levelExpression(model, rated.residual_probability, rated.residual_impact),
});

/** Those that do not depend on a model. */
const expressionsOfRatings = ({
  probability,
  impact,
  residual_probability,
  residual_impact,
}: RatingExpressions) => ({
  score: sql`${probability} * ${impact}`,
  residual_score: sql`${residual_probability} * ${residual_impact}`,
  rank_key: sql`coalesce(cast(99 - ${probability} * ${impact} as text), '99')
    || coalesce(cast(9 - ${impact} as text), '9') || coalesce(cast(9 - ${probability} as text), '9')
    || coalesce(due_on, '9999-99-99') || raised_on || id`,
});

/** Looks a cell up in a text with one character for each, ten to a row: shorter than a condition for each. */
function levelExpression(
  model: Pick<Model, 'cells'>,
  probability: RawBuilder<unknown>,
  impact: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const cases = levels.map((level, i) => sql`when ${sql.lit(String(i))} then ${sql.lit(level)}`);
  return sql`case substr(${sql.lit(cellText(model))}, cast(${probability} * 10 + ${impact} as integer), 1) ${sql.join(cases, sql` `)} end`;
}

function cellText({ cells }: Pick<Model, 'cells'>): string {
  const text = Array<string>(80).fill('-');
  for (const { probability, impact, level } of cells)
    text[probability * 10 + impact - 1] = String(levels.indexOf(level));
  return text.join('');
}

/**
 * For each column whether it is wrong. Past versions keep the level of the model in force at their time, which a clock that
 * was set back does not tell exactly: so any model may explain it.
 */
export function wrongScores(
  table: 'risks' | 'past_risks',
  models: readonly Model[],
): Record<ScoreColumn, RawBuilder<boolean>> {
  const possible = table === 'risks' ? models.slice(-1) : distinct(models);
  const all = possible.map((model) => scoreExpressions(model));
  const columns = Object.keys(all[0] ?? {}) as ScoreColumn[];
  const wrong = columns.map((column) => {
    const differs = all.map((expressions) => sql`${sql.ref(column)} is distinct from ${expressions[column]}`);
    const needed = column.endsWith('level') ? differs : differs.slice(0, 1);
    return [column, sql<boolean>`(${sql.join(needed, sql` and `)})`];
  });
  return Object.fromEntries(wrong);
}

/** Models that have the same levels explain the same rows. */
const distinct = (models: readonly Model[]) => [
  ...new Map(models.map((model) => [cellText(model), model])).values(),
];

/** Writes the columns again in rows where they do not follow from the ratings and dates. Returns the number of rows. */
export async function recomputeScores(db: Transaction<Tables>): Promise<number> {
  const models = await readRiskModels(db);
  let count = 0;
  for (const table of ['risks', 'past_risks'] as const) {
    const { numUpdatedRows } = await db
      .updateTable(table)
      .set(
        (table === 'risks'
          ? scoreExpressions(models.at(-1) as Model)
          : expressionsAtTheTime(models)) as object,
      )
      .where(sql<boolean>`${sql.join(Object.values(wrongScores(table, models)), sql` or `)}`)
      .executeTakeFirstOrThrow();
    count += Number(numUpdatedRows);
  }
  return count;
}

/** By the model that was in force when the version of the risk began. */
function expressionsAtTheTime(models: readonly (Model & { since: string })[]) {
  const all = models.map(({ since, ...model }) => ({ since, of: scoreExpressions(model) }));
  const latest = all.toReversed();
  const atTheTime = (column: ScoreColumn) =>
    sql`case ${sql.join(
      latest.map(({ since, of }) => sql`when updated_at >= ${sql.lit(since)} then ${of[column]}`),
      sql` `,
    )} end`;
  return {
    ...all[0]?.of,
    level: atTheTime('level'),
    residual_level: atTheTime('residual_level'),
  };
}
