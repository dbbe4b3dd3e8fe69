import { type RawBuilder, sql } from 'kysely';
import { maxRating } from '../../core/schemas.ts';
import type { Issue } from '../issues/schema.ts';
import {
  type RatingColumn,
  ratingColumns,
  type ScoreColumn,
  scoreExpressions,
} from '../risks/rules/score-columns.ts';
import { severityOf } from '../risks/rules/scoring.ts';
import { type Mapping, mapScores } from './rules.ts';
import { levels, type StoredModel } from './schema.ts';

/** The change of the model, as it is applied: `restore` if it returns to an earlier version. */
export type Change = Mapping & { restore?: Restore | undefined };

/** What is restored was in force before `since`. `changes` are the times since then at which the model changed. */
type Restore = { since: string; changes: readonly string[] };

/** Looks a value up; null for others. */
const lookUp = (value: RawBuilder<unknown>, values: Iterable<readonly [number, number | string]>) => {
  const cases = [...values].map(([from, to]) => sql`when ${sql.lit(from)} then ${sql.lit(to)}`);
  return sql`case ${value} ${sql.join(cases, sql` `)} end`;
};

const axisOf = (column: RatingColumn) => (column.endsWith('probability') ? 'probability' : 'impact');

const mapRating = ({ ratings }: Mapping, column: RatingColumn) =>
  lookUp(
    sql.ref(`risks.${column}`),
    ratings[axisOf(column)].map((to, i) => [i + 1, to] as const),
  );

/**
 * Whether only changes of the model have changed the ratings of a risk since then. Such a change records `model_version`
 * after the ratings; somebody's change may have the same time, but comes later.
 */
const isUntouched = ({ since }: Restore) => sql`not exists (
  select 1 from history where history.subject_id = risks.id
    and history.field in (${sql.join(ratingColumns.map((column) => sql.lit(column)))})
    and history.at >= ${since}
    and not exists (select 1 from history as later where later.subject_id = history.subject_id
      and later.at = history.at and later.field = 'model_version' and later.id > history.id))`;

const ownColumns = [
  ...['id', 'project_id', 'active', 'due_on', 'raised_on', 'score', 'level', 'residual_score'],
  ...['residual_level', 'initial_score', 'rank_key'],
  ...ratingColumns,
];

/** Risks with their ratings after the change in columns named `new_…`, and everything that follows from these. */
export function mappedRisks(change: Change, matches: RawBuilder<boolean> = sql`1 = 1`): RawBuilder<unknown> {
  const { restore } = change;
  const restored = (column: string, mapped: RawBuilder<unknown>) =>
    restore
      ? sql`case when risks.updated_at < ${restore.since} then ${sql.ref(`risks.${column}`)}
          when ${sql.ref('untouched.id')} is not null then ${sql.ref(`untouched.${column}`)} else ${mapped} end`
      : mapped;
  const untouched =
    restore &&
    sql`left join (select past.id, past.initial_score, ${sql.join(ratingColumns.map((column) => sql.ref(`past.${column}`)))}
      from past_risks as past join risks on risks.id = past.id
      where past.updated_at < ${restore.since} and past.valid_until >= ${restore.since}
        and ${isUntouched(restore)} and ${matches}) as untouched on untouched.id = risks.id`;
  const mapped = [
    ...ratingColumns.map((column) => [column, mapRating(change, column)] as const),
    ['initial_score', lookUp(sql.ref('risks.initial_score'), mapScores(change))] as const,
  ].map(([column, value]) => sql`${restored(column, value)} as ${sql.ref(`new_${column}`)}`);
  const own = ownColumns.map((column) => sql.ref(`risks.${column}`));
  const rows = sql`select ${sql.join([...own, ...mapped])} from risks ${untouched ?? sql``} where ${matches}`;
  const newRatings = ratingColumns.map((column) => [column, sql.ref(`new_${column}`)]);
  const scores = Object.entries(scoreExpressions(change.to, Object.fromEntries(newRatings))).map(
    ([column, value]) => sql`${value} as ${sql.ref(`new_${column}`)}`,
  );
  return sql`(select rated.*, ${sql.join(scores)} from (${rows}) as rated)`;
}

/** The columns of a risk that a change of the model can set. */
export const changedColumns: readonly (RatingColumn | ScoreColumn | 'initial_score')[] = [
  ...ratingColumns,
  'score',
  'level',
  'residual_score',
  'residual_level',
  'initial_score',
  'rank_key',
];

const differs = (column: string) =>
  sql<boolean>`${sql.ref(column)} is distinct from ${sql.ref(`new_${column}`)}`;

export const anyDiffers = (columns: readonly string[]) =>
  sql<boolean>`(${sql.join(columns.map(differs), sql` or `)})`;

/** The place of a level among the levels, as a number. */
export const orderOf = (level: string) =>
  sql<number>`case ${sql.ref(level)} ${sql.join(
    levels.map((id, i) => sql`when ${sql.lit(id)} then ${sql.lit(i)}`),
    sql` `,
  )} end`;

const severityExpression = (model: StoredModel, impact: string) =>
  lookUp(
    sql.ref(impact),
    Array.from({ length: maxRating }, (_, i) => [i + 1, severityOf(model, i + 1)] as const),
  );

/** The open issues made from risks that still have the severity of the old impact, where the new one gives another. */
export function mappedIssues(change: Change): RawBuilder<{ id: string; severity: Issue['severity'] }> {
  const isLinked = sql<boolean>`risks.id in (select risk_id from issues where issues.open = 1)`;
  return sql`select issues.id, mapped.new_severity as severity from issues join (
      select id, ${severityExpression(change.from, 'impact')} as old_severity,
        ${severityExpression(change.to, 'new_impact')} as new_severity
      from ${mappedRisks(change, isLinked)} as risks) as mapped on mapped.id = issues.risk_id
    where issues.open = 1 and issues.severity = mapped.old_severity and mapped.old_severity <> mapped.new_severity`;
}
