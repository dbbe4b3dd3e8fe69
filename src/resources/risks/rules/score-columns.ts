import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Tables } from '../../../store/tables.ts';
import { levels } from '../schema.ts';
import { type Ranked, rankKey } from './ranking.ts';
import { levelOf, scoreOf } from './scoring.ts';

type Rated = Ranked & { residual_probability: number | null; residual_impact: number | null };

/** The columns of a risk that follow from its ratings and dates. Everything that writes a risk writes them. */
export function scoreColumns(risk: Rated) {
  const score = scoreOf(risk.probability, risk.impact);
  const residual_score = scoreOf(risk.residual_probability, risk.residual_impact);
  return {
    score,
    level: levelOf(score),
    residual_score,
    residual_level: levelOf(residual_score),
    rank_key: rankKey(risk),
  };
}

/** The same columns, computed from the row of a risk by the database. A test compares the two. */
export const scoreExpressions: Record<keyof ReturnType<typeof scoreColumns>, RawBuilder<unknown>> = {
  score: sql`probability * impact`,
  level: levelExpression(sql`probability * impact`),
  residual_score: sql`residual_probability * residual_impact`,
  residual_level: levelExpression(sql`residual_probability * residual_impact`),
  rank_key: sql`coalesce(cast(99 - probability * impact as text), '99')
    || coalesce(cast(9 - impact as text), '9') || coalesce(cast(9 - probability as text), '9')
    || coalesce(due_on, '9999-99-99') || raised_on || id`,
};

function levelExpression(score: RawBuilder<unknown>): RawBuilder<unknown> {
  const cases = levels.map(({ level, to }) => sql`when ${score} <= ${sql.lit(to)} then ${sql.lit(level)}`);
  return sql`case ${sql.join(cases, sql` `)} end`;
}

/** Writes the columns again in rows where they do not follow from the ratings and dates. Returns the number of rows. */
export async function recomputeScores(db: Transaction<Tables>): Promise<number> {
  const differs = Object.entries(scoreExpressions).map(
    ([column, expected]) => sql`${sql.ref(column)} is distinct from ${expected}`,
  );
  let count = 0;
  for (const table of ['risks', 'past_risks'] as const) {
    const { numUpdatedRows } = await db
      .updateTable(table)
      .set(scoreExpressions as object)
      .where(sql<boolean>`${sql.join(differs, sql` or `)}`)
      .executeTakeFirstOrThrow();
    count += Number(numUpdatedRows);
  }
  return count;
}
