import { type RawBuilder, sql } from 'kysely';
import { maxRating } from '../../core/schemas.ts';
import { inJsonArray } from '../../database/sql/functions.ts';
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
export type ModelChange = Mapping & { restore?: Restore | undefined };

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

/** The risks that a statement maps: by default all. With `ids` it also reads only the history of these. */
type Selected = { ids?: readonly string[]; matches?: RawBuilder<boolean> };

const isOneOf = (column: string, ids: readonly string[] | undefined) =>
  ids ? sql<boolean>`${inJsonArray(sql.ref(column), ids)}` : sql<boolean>`1 = 1`;

/**
 * The versions of risks from before the change that is undone, if only changes of the model have changed their ratings
 * since. Such a change records `model_version` after the ratings; somebody's change may have the same time, but comes later.
 */
function untouchedVersions({ since }: Restore, ids: readonly string[] | undefined): RawBuilder<unknown> {
  const fields = [...ratingColumns, 'model_version'].map((field) => sql.lit(field));
  const lastId = (isOfModel: RawBuilder<boolean>) => sql`max(case when ${isOfModel} then history.id end)`;
  const touched = sql`select distinct subject_id from (select history.subject_id from history
    where history.at >= ${since} and history.field in (${sql.join(fields)}) and ${isOneOf('history.subject_id', ids)}
    group by history.subject_id, history.at
    having ${lastId(sql`history.field <> 'model_version'`)}
      > coalesce(${lastId(sql`history.field = 'model_version'`)}, '')) as changed`;
  return sql`select past.id, past.initial_score, ${sql.join(ratingColumns.map((column) => sql.ref(`past.${column}`)))}
    from past_risks as past left join (${touched}) as touched on touched.subject_id = past.id
    where past.updated_at < ${since} and past.valid_until >= ${since} and touched.subject_id is null
      and ${isOneOf('past.id', ids)}`;
}

const ownColumns = [
  ...['id', 'project_id', 'kind', 'active', 'due_on', 'raised_on', 'score', 'level', 'residual_score'],
  ...['residual_level', 'initial_score', 'rank_key'],
  ...ratingColumns,
];

/** Risks with their ratings after the change in columns named `new_…`, and everything that follows from these. */
export function mappedRisks(change: ModelChange, { ids, matches }: Selected = {}): RawBuilder<unknown> {
  const { restore } = change;
  const restored = (column: string, mapped: RawBuilder<unknown>) =>
    restore
      ? sql`case when risks.updated_at < ${restore.since} then ${sql.ref(`risks.${column}`)}
          when untouched.id is not null then ${sql.ref(`untouched.${column}`)} else ${mapped} end`
      : mapped;
  const untouched = restore
    ? sql`left join (${untouchedVersions(restore, ids)}) as untouched on untouched.id = risks.id`
    : sql``;
  const mapped = [
    ...ratingColumns.map((column) => [column, mapRating(change, column)] as const),
    ['initial_score', lookUp(sql.ref('risks.initial_score'), mapScores(change))] as const,
  ].map(([column, value]) => sql`${restored(column, value)} as ${sql.ref(`new_${column}`)}`);
  const own = ownColumns.map((column) => sql.ref(`risks.${column}`));
  const rows = sql`select ${sql.join([...own, ...mapped])} from risks ${untouched}
    where ${isOneOf('risks.id', ids)} and ${matches ?? sql`1 = 1`}`;
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
export function mappedIssues(change: ModelChange): RawBuilder<{ id: string; severity: Issue['severity'] }> {
  const isLinked = sql<boolean>`risks.id in (select risk_id from issues where issues.open = 1)`;
  return sql`select issues.id, mapped.new_severity as severity from issues join (
      select id, ${severityExpression(change.from, 'impact')} as old_severity,
        ${severityExpression(change.to, 'new_impact')} as new_severity
      from ${mappedRisks(change, { matches: isLinked })} as risks) as mapped on mapped.id = issues.risk_id
    where issues.open = 1 and issues.severity = mapped.old_severity and mapped.old_severity <> mapped.new_severity`;
}
