import type { Selectable } from 'kysely';
import { scoreColumns } from '../src/resources/risks/rules/score-columns.ts';
import { scoreOf } from '../src/resources/risks/rules/scoring.ts';
import { firstModel } from '../src/store/risk-model.ts';
import type { Tables } from '../src/store/tables.ts';
import type { Dataset, Row } from './dataset.ts';
import type { Revision } from './history.ts';
import type { FillTemplate } from './templates.ts';
import * as words from './words.ts';

export type RiskRow = Omit<Selectable<Tables['risks']>, 'active'>;
type Status = RiskRow['status'];

/** Supplies the people and texts for the past versions of a risk. */
export type VersionContext = {
  fill: FillTemplate;
  pickPastOwner(day: string): Pick<RiskRow, 'owner_user_id' | 'owner_group_id'>;
  pickApprover(): string;
  pickAuthor(day: string): string;
};

/** The time during which a past version was current. */
type Span = { from: string; until: string; isFirst: boolean };

/**
 * Creates one version of a risk for each time, ending with the current version `now`. Versions are generated backwards,
 * so the distribution of current values does not depend on the past versions.
 */
export function createVersions(
  dataset: Dataset,
  now: RiskRow,
  times: readonly string[],
  context: VersionContext,
): RiskRow[] {
  const spans = times.slice(1).map((until, i) => ({ from: times[i] ?? until, until, isFirst: i === 0 }));
  const versions = spans.reduceRight(
    ([next = now, ...laterVersions], span) => [
      createVersionBefore(dataset, next, span, context),
      next,
      ...laterVersions,
    ],
    [now],
  );
  const created_at = times[0] ?? now.created_at;
  return addInitialScores(versions).map((row, i) => ({
    ...row,
    ...scoreColumns(firstModel, row),
    version: i + 1,
    created_at,
    updated_at: times[i] ?? created_at,
  }));
}

export const getPastVersions = (versions: readonly RiskRow[]): Row<'past_risks'>[] =>
  versions
    .slice(0, -1)
    .map((row, i) => ({ ...row, valid_until: versions[i + 1]?.updated_at ?? row.updated_at }));

/** Converts versions to revisions with an author and a reason for each change. */
export const createRiskRevisions = (
  dataset: Dataset,
  versions: readonly RiskRow[],
  context: VersionContext,
  creator: string,
): Revision[] =>
  versions.map((row, i) => {
    const { version, created_at, updated_at, initial_score, ...written } = row;
    const { score, level, residual_score, residual_level, rank_key, ...state } = written;
    const before = versions[i - 1];
    return {
      at: updated_at,
      state,
      ...(before ? pickCause(dataset, before, row, context) : { key_name: creator }),
    };
  });

function addInitialScores(versions: readonly RiskRow[]): RiskRow[] {
  const scores = versions.map(getScore);
  return versions.map((row, i) => ({
    ...row,
    initial_score: scores.slice(0, i + 1).find((score) => score !== null) ?? null,
  }));
}

export const getScore = ({ probability, impact }: RiskRow) => scoreOf(probability, impact);

function createVersionBefore(dataset: Dataset, next: RiskRow, span: Span, context: VersionContext): RiskRow {
  const status = pickStatusBefore(dataset, next, span);
  const drifted = {
    ...next,
    status,
    ...pickRatingsBefore(dataset, next),
    ...pickDaysBefore(dataset, next, span),
  };
  const row = {
    ...drifted,
    ...pickPlanBefore(dataset, drifted, next, span),
    ...(status !== next.status && createDecision(dataset, status, next, span, context)),
    ...(dataset.random.chance(0.2) && context.pickPastOwner(span.from.slice(0, 10))),
  };
  return JSON.stringify(row) === JSON.stringify(next) ? changeReviewDay(dataset, row, span) : row;
}

/**
 * Weights of the previous status for each status. Accepted, closed and materialized risks change only by a transition.
 * Reopening a closed risk requires a reason. An accepted risk that becomes `open` has an expired acceptance.
 */
const previousStatuses: Record<Status, Partial<Record<Status, number>>> = {
  open: { open: 55, monitoring: 5, accepted: 27, closed: 13 },
  mitigating: { mitigating: 42, open: 48, monitoring: 5, accepted: 5 },
  monitoring: { monitoring: 34, mitigating: 46, open: 20 },
  accepted: { open: 40, mitigating: 36, monitoring: 24 },
  materialized: { open: 44, mitigating: 41, monitoring: 15 },
  closed: { mitigating: 46, monitoring: 40, open: 14 },
};

function pickStatusBefore(dataset: Dataset, next: RiskRow, span: Span): Status {
  const possible = Object.entries(previousStatuses[next.status]).filter(([status]) =>
    isPossible(dataset, status as Status, next, span),
  );
  return dataset.random.pickWeighted<Status>(Object.fromEntries(possible));
}

function isPossible(
  dataset: Dataset,
  status: Status,
  next: RiskRow,
  { from, until, isFirst }: Span,
): boolean {
  const days = dataset.offsetOf(until) - dataset.offsetOf(from);
  const conditions: Partial<Record<Status, boolean>> = {
    mitigating: next.response_plan != null,
    accepted: !isFirst && next.response_plan != null && 7 <= days && days <= 300,
    closed: !isFirst && next.kind === 'threat',
  };
  return conditions[status] ?? true;
}

/** Sets the fields that depend on the status, and clears those of the next status. */
function createDecision(
  dataset: Dataset,
  status: Status,
  next: RiskRow,
  { until }: Span,
  context: VersionContext,
) {
  const { random } = dataset;
  const isAccepted = status === 'accepted';
  const lastDay = dataset.offsetOf(until) + (next.status === 'open' ? -1 : random.between(10, 60));
  return {
    accepted_until: isAccepted ? dataset.day(lastDay) : null,
    acceptance_reason: isAccepted ? random.pick(words.acceptanceReasons) : null,
    accepted_by_user_id: isAccepted ? context.pickApprover() : null,
    closure_reason: status === 'closed' ? context.fill(random.pick(words.closureReasons)) : null,
    lessons: null,
  };
}

/** Ratings of risks with a response tend to fall over time; ratings of open risks tend to rise. */
function pickRatingsBefore({ random }: Dataset, { probability, impact, status }: RiskRow) {
  if (probability == null || impact == null || status === 'materialized') return {};
  const higherProbability = status === 'open' ? 0.4 : 0.65;
  const before = (value: number, steps: number) =>
    limitRating(value + (random.chance(higherProbability) ? steps : -steps));
  return {
    probability: random.chance(0.55)
      ? before(probability, random.pickWeightedNumber({ 1: 80, 2: 20 }))
      : probability,
    impact: random.chance(0.22) ? before(impact, 1) : impact,
  };
}

export const limitRating = (value: number) => Math.min(5, Math.max(1, value));

/** Many risks are raised before they are assessed, and assessed before they have a response plan. */
function pickPlanBefore({ random }: Dataset, row: RiskRow, next: RiskRow, { isFirst }: Span) {
  const { status } = row;
  if (status === 'open' && isFirst && random.chance(0.4)) return { ...noAssessment, ...noPlan };
  if (status === 'open' && random.chance(isFirst ? 0.5 : 0.3)) return noPlan;
  return { ...limitResidual(row), ...getStrategyBefore(row, next) };
}

const noPlan = {
  residual_probability: null,
  residual_impact: null,
  strategy: null,
  response_plan: null,
  contingency_plan: null,
  trigger: null,
};
const noAssessment = { probability: null, impact: null };

/** A response never raises the rating of a threat and never lowers the rating of an opportunity. */
function limitResidual({ kind, probability, impact, residual_probability, residual_impact }: RiskRow) {
  const limit = (residual: number | null | undefined, value: number | null | undefined) =>
    residual == null || value == null
      ? null
      : kind === 'threat'
        ? Math.min(residual, value)
        : Math.max(residual, value);
  return {
    residual_probability: limit(residual_probability, probability),
    residual_impact: limit(residual_impact, impact),
  };
}

/** A risk that is accepted now had an active response strategy before. */
function getStrategyBefore({ kind }: RiskRow, { status, strategy }: RiskRow): Partial<RiskRow> {
  if (status !== 'accepted' || strategy !== 'accept') return {};
  return { strategy: kind === 'threat' ? 'mitigate' : 'enhance' };
}

/** Most changes come from reviews. Some changes also postpone the due day. */
function pickDaysBefore(dataset: Dataset, { due_on, review_on, raised_on }: RiskRow, { until }: Span) {
  const { random } = dataset;
  const changeOffset = dataset.offsetOf(until);
  const dueBefore = due_on && dataset.day(dataset.offsetOf(due_on) - random.between(10, 60));
  const wasMoved = dueBefore && dueBefore > raised_on && random.chance(0.12);
  const wasReviewed = review_on === null || random.chance(0.5);
  return {
    ...(wasMoved && { due_on: dueBefore }),
    ...(wasReviewed && { review_on: dataset.day(changeOffset + random.between(-10, 12)) }),
  };
}

function changeReviewDay(dataset: Dataset, row: RiskRow, { until }: Span): RiskRow {
  const review_on = dataset.day(dataset.offsetOf(until));
  return { ...row, review_on: row.review_on === review_on ? null : review_on };
}

type Cause = Pick<Revision, 'key_name' | 'reason'>;

function pickCause(dataset: Dataset, before: RiskRow, after: RiskRow, context: VersionContext): Cause {
  if (before.status === 'accepted' && after.status === 'open') {
    return { key_name: 'Muster', reason: `Accepted only until ${before.accepted_until}.` };
  }
  const { reasons, probability } = getReasons(before, after);
  return {
    key_name: context.pickAuthor(after.updated_at.slice(0, 10)),
    reason: dataset.random.chance(probability) ? context.fill(dataset.random.pick(reasons)) : null,
  };
}

/** Returns possible reasons for a change, and the probability that the author gives one. */
function getReasons(before: RiskRow, after: RiskRow): { reasons: string[]; probability: number } {
  const [scoreBefore, scoreAfter] = [getScore(before), getScore(after)];
  const { reopened, happened, assessed, planned, risen, fallen, handedOver, reviewed } = words.changeReasons;
  if (before.status === 'closed') return { reasons: reopened, probability: 1 };
  if (after.status === 'materialized') return { reasons: happened, probability: 0.6 };
  if (after.status === 'closed') return { reasons: reviewed, probability: 0.1 };
  if (scoreBefore === null && scoreAfter !== null) return { reasons: assessed, probability: 0.5 };
  if (!before.response_plan && after.response_plan) return { reasons: planned, probability: 0.4 };
  if (scoreBefore !== null && scoreAfter !== null && scoreBefore !== scoreAfter) {
    return { reasons: scoreBefore < scoreAfter ? risen : fallen, probability: 0.6 };
  }
  const isHandedOver =
    before.owner_user_id !== after.owner_user_id || before.owner_group_id !== after.owner_group_id;
  return isHandedOver ? { reasons: handedOver, probability: 0.5 } : { reasons: reviewed, probability: 0.25 };
}
