import { sql, type Transaction } from 'kysely';
import { daysLater, type Moment } from '../../core/clock.ts';
import { fieldError, invalidBody } from '../../core/errors.ts';
import { foldAll } from '../../core/text.ts';
import { WriteConflict } from '../../database/application.ts';
import { inJsonArray, nextMillisecond } from '../../database/sql/functions.ts';
import { merged, newStamps, storedFields } from '../../database/sql/rows.ts';
import { param, statement } from '../../database/sql/statement.ts';
import { firstModel, type Model, readRiskModel } from '../../store/risk-model.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change, Differences } from '../../store/writes/change.ts';
import { subjectOf } from '../../store/writes/events.ts';
import { differencesBetween } from '../../store/writes/history.ts';
import { chunk } from '../../store/writes/rows.ts';
import { itemReader } from '../project-items/read.ts';
import { saveItems } from '../project-items/update.ts';
import type { ItemIdentity, ItemWrites } from '../project-items/writes.ts';
import { riskDelta } from '../projects/counts.ts';
import { assertTransition, ownerAndDateErrors } from '../validation.ts';
import { resolveCategories } from './category.ts';
import { riskJson, riskRows, withOwner } from './register.ts';
import { approvalErrors, withApprover } from './rules/approval.ts';
import { scoreColumns } from './rules/score-columns.ts';
import { ratingErrors, residualErrors, reviewDaysOf } from './rules/scoring.ts';
import { clearStaleRiskFields, riskStateErrors, riskTransitions } from './rules/transitions.ts';
import { Risk, RiskInput, type RiskPatch, riskResource } from './schema.ts';

export const riskSubject = subjectOf(
  riskResource,
  (moment) => riskJson(moment),
  (db) => withOwner(riskRows(db)),
);

export const getRisk = itemReader<Risk>(riskSubject);

type RiskWrites = ItemWrites<Risk, RiskInput, RiskPatch>;

/** Written by the risk model that is in force in the transaction. */
export const riskWrites: RiskWrites = {
  ...writesBy(firstModel),
  prepare: async (db) => writesBy(await readRiskModel(db)),
};

/** How risks are written by a version of the risk model. */
export function writesBy(model: Model): RiskWrites {
  return {
    since: model.since,
    target: riskResource,
    subject: riskSubject,
    schema: Risk,
    get: getRisk,
    resolve: resolveCategories,
    row: (identity, input, moment) => riskRow(identity, input, moment, model),
    itemErrors: ownerAndDateErrors,
    inputErrors: (input) => [...ratingErrors(model, input), ...residualErrors(input, input)],
    next(current, patch, reason, change, project) {
      const cleared = clearStaleRiskFields(current, withReview(model, current, patch, change));
      const next = withApprover(current, cleared, change);
      // A file reports a risk that has occurred; its issue, if any, is in a file of issues.
      if (next.status === 'materialized' && current.status !== 'materialized' && !change.isImport) {
        const detail = 'Use `POST …/risks/{id}/materialize` to turn a risk into an issue.';
        throw invalidBody([fieldError('status', 'own_action', detail)]);
      }
      if (next.status !== current.status) assertTransition(riskTransitions, current, next.status);
      const stateErrors = [
        ...riskStateErrors(current, next, reason, change.today, model.longest_acceptance_days),
        ...approvalErrors(current, next, project, change),
      ];
      if (stateErrors.length > 0) throw invalidBody(stateErrors);
      return { next, errors: [...ratingErrors(model, patch), ...residualErrors(patch, next)] };
    },
    archive: archiveVersions,
    derivedColumns(current, next) {
      const [before, after] = [scoreColumns(model, current), scoreColumns(model, next)];
      const initial_score = initialScore(current, after.score);
      return {
        ...((before.rank_key !== after.rank_key ||
          before.residual_score !== after.residual_score ||
          before.residual_level !== after.residual_level) &&
          after),
        ...(initial_score !== current.initial_score && { initial_score }),
      };
    },
    derivedDifferences: (current, next) => scoreDifferences(model, current, next),
    delta: riskDelta,
    referrers: (id) => [
      ['issues', sql`risk_id = ${id}`],
      ['tasks', sql`risk_id = ${id}`],
    ],
  };
}

/** A patch that assesses a risk sets its next review, if the model says when that is and the patch does not. */
function withReview(model: Model, current: Risk, patch: RiskPatch, { today }: Moment): Risk {
  const next = merged(current, patch);
  const isAssessed = next.probability !== current.probability || next.impact !== current.impact;
  const days = isAssessed && !('review_on' in patch) ? reviewDaysOf(model, next) : null;
  return days === null ? next : { ...next, review_on: daysLater(today, days) };
}

export function riskRow(
  identity: ItemIdentity,
  input: RiskInput,
  { now, today }: Moment,
  model: Model = firstModel,
) {
  const days = 'review_on' in input ? null : reviewDaysOf(model, input);
  const fields = {
    ...identity,
    ...storedFields(RiskInput, input),
    raised_on: input.raised_on ?? today,
    ...(days !== null && { review_on: daysLater(today, days) }),
  };
  const scores = scoreColumns(model, fields);
  return {
    ...fields,
    ...scores,
    initial_score: scores.score,
    accepted_until: null,
    acceptance_reason: null,
    accepted_by_user_id: null,
    closure_reason: null,
    lessons: null,
    search_folded: foldAll([identity.key, input.title, input.description]),
    ...newStamps(now),
  };
}

/** Changes a risk to a valid new state. */
export async function changeRisk(
  db: Transaction<Tables>,
  current: Risk,
  next: Risk,
  { reason, ...change }: Change,
): Promise<Risk> {
  const differences = differencesBetween(current, next, Object.keys(Risk.properties));
  if (Object.keys(differences).length === 0) return current;
  const one = { current, next, differences, reason };
  const writes = writesBy(await readRiskModel(db));
  return (await saveItems(db, writes, [one], change)).get(current.id) ?? current;
}

/** A risk that becomes unassessed loses its initial score, so that undoing a mistaken assessment leaves no trace of it. */
const initialScore = ({ initial_score }: Risk, score: number | null) =>
  score === null ? null : (initial_score ?? score);

/** The changes of the scores and levels, which follow from the ratings. */
function scoreDifferences(model: Model, current: Risk, next: Risk): Differences {
  const { rank_key, ...scores } = scoreColumns(model, next);
  const after = { ...scores, initial_score: initialScore(current, scores.score) };
  return differencesBetween(current, after, Object.keys(after));
}

/** Copies the current versions to `past_risks` before they change, for `as_of` queries. */
export async function archiveVersions(
  db: Transaction<Tables>,
  ids: readonly string[],
  now: string,
): Promise<void> {
  for (const batch of chunk(ids, 500)) {
    const { numAffectedRows = 0n } = await archive(db, { ids: JSON.stringify(batch), now });
    if (numAffectedRows < BigInt(batch.length)) throw new WriteConflict();
  }
}

const riskColumns = Object.keys(riskResource.columns) as (keyof typeof riskResource.columns)[];

/** As `timeAfter` computes it. */
const validUntil = sql<string>`case when updated_at < ${param('now')} then cast(${param('now')} as text)
  else ${nextMillisecond(sql.ref('updated_at'))} end`;

const archive = statement((db) =>
  db
    .insertInto('past_risks')
    .columns([...riskColumns, 'valid_until'])
    .expression(
      db
        .selectFrom('risks')
        .select(riskColumns)
        .select(validUntil.as('valid_until'))
        .where(inJsonArray(sql.ref('id'), param<string>('ids'))) as never,
    ),
);
