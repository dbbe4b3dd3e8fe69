import { scoreOf } from '../src/resources/risks/scoring.ts';
import type { Dataset, Row } from './dataset.ts';
import type { Stage } from './past.ts';
import * as words from './words.ts';

type RiskRow = Row<'risks'>;
type Status = RiskRow['status'];

/** The project's own words in the places of a template. */
export type Told = (template: string) => string;

/** Who and what the past of a risk can be told with. */
export type Scene = {
  told: Told;
  ownerOn(day: string): Pick<RiskRow, 'owner_user_id' | 'owner_group_id'>;
  approver(): string;
  authorOn(day: string): string;
};

/** A version that another followed. */
type Span = { from: string; until: string; isFirst: boolean };

/**
 * The versions of a risk from the first to what it is `now`, one for each of the times. They are made backwards, so
 * that the proportions of the present do not depend on the past.
 */
export function versionsOf(
  dataset: Dataset,
  now: RiskRow,
  times: readonly string[],
  scene: Scene,
): RiskRow[] {
  const spans = times.slice(1).map((until, i) => ({ from: times[i] ?? until, until, isFirst: i === 0 }));
  const versions = spans.reduceRight(
    ([next = now, ...others], span) => [versionBefore(dataset, next, span, scene), next, ...others],
    [now],
  );
  const created_at = times[0] ?? now.created_at;
  return withInitialScores(versions).map((row, i) => ({
    ...row,
    version: i + 1,
    created_at,
    updated_at: times[i] ?? created_at,
  }));
}

export const pastOf = (versions: readonly RiskRow[]): Row<'past_risks'>[] =>
  versions
    .slice(0, -1)
    .map((row, i) => ({ ...row, valid_until: versions[i + 1]?.updated_at ?? row.updated_at }));

/** Each version with whoever made it so, and why. */
export const riskStages = (
  dataset: Dataset,
  versions: readonly RiskRow[],
  scene: Scene,
  maker: string,
): Stage[] =>
  versions.map((row, i) => {
    const { version, created_at, updated_at, initial_score, ...state } = row;
    const before = versions[i - 1];
    return {
      at: updated_at,
      state,
      ...(before ? causeOf(dataset, before, row, scene) : { key_name: maker }),
    };
  });

function withInitialScores(versions: readonly RiskRow[]): RiskRow[] {
  const scores = versions.map(scoreIn);
  return versions.map((row, i) => ({
    ...row,
    initial_score: scores.slice(0, i + 1).find((score) => score !== null) ?? null,
  }));
}

export const scoreIn = ({ probability, impact }: RiskRow) => scoreOf(probability ?? null, impact ?? null);

function versionBefore(dataset: Dataset, next: RiskRow, span: Span, scene: Scene): RiskRow {
  const status = statusBefore(dataset, next, span);
  const drifted = { ...next, status, ...ratingsBefore(dataset, next), ...daysBefore(dataset, next, span) };
  const row = {
    ...drifted,
    ...planBefore(dataset, drifted, next, span),
    ...(status !== next.status && decisionIn(dataset, status, next, span, scene)),
    ...(dataset.dice.chance(0.2) && scene.ownerOn(span.from.slice(0, 10))),
  };
  return JSON.stringify(row) === JSON.stringify(next) ? withOtherReview(dataset, row, span) : row;
}

/**
 * Where a risk in each state came from. Nothing changes of one that is accepted, closed or has happened; whoever
 * reopens it has a reason, and an acceptance that leads back to `open` has lapsed.
 */
const cameFrom: Record<Status, Partial<Record<Status, number>>> = {
  open: { open: 55, monitoring: 5, accepted: 27, closed: 13 },
  mitigating: { mitigating: 42, open: 48, monitoring: 5, accepted: 5 },
  monitoring: { monitoring: 34, mitigating: 46, open: 20 },
  accepted: { open: 40, mitigating: 36, monitoring: 24 },
  materialized: { open: 44, mitigating: 41, monitoring: 15 },
  closed: { mitigating: 46, monitoring: 40, open: 14 },
};

function statusBefore(dataset: Dataset, next: RiskRow, span: Span): Status {
  const possible = Object.entries(cameFrom[next.status]).filter(([status]) =>
    couldBe(dataset, status as Status, next, span),
  );
  return dataset.dice.weighted<Status>(Object.fromEntries(possible));
}

function couldBe(dataset: Dataset, status: Status, next: RiskRow, { from, until, isFirst }: Span): boolean {
  const days = dataset.offsetOf(until) - dataset.offsetOf(from);
  const conditions: Partial<Record<Status, boolean>> = {
    mitigating: next.response_plan != null,
    accepted: !isFirst && next.response_plan != null && 7 <= days && days <= 300,
    closed: !isFirst && next.kind === 'threat',
  };
  return conditions[status] ?? true;
}

/** What goes with the state it was in, instead of what goes with the state that followed. */
function decisionIn(dataset: Dataset, status: Status, next: RiskRow, { until }: Span, scene: Scene) {
  const { dice } = dataset;
  const isAccepted = status === 'accepted';
  const lastDay = dataset.offsetOf(until) + (next.status === 'open' ? -1 : dice.between(10, 60));
  return {
    accepted_until: isAccepted ? dataset.day(lastDay) : null,
    acceptance_reason: isAccepted ? dice.pick(words.acceptanceReasons) : null,
    accepted_by_user_id: isAccepted ? scene.approver() : null,
    closure_reason: status === 'closed' ? scene.told(dice.pick(words.closureReasons)) : null,
    lessons: null,
  };
}

/** A response takes effect bit by bit; without one, things rather get worse. */
function ratingsBefore({ dice }: Dataset, { probability, impact, status }: RiskRow) {
  if (probability == null || impact == null || status === 'materialized') return {};
  const wasHigher = status === 'open' ? 0.4 : 0.65;
  const before = (value: number, steps: number) => rating(value + (dice.chance(wasHigher) ? steps : -steps));
  return {
    probability: dice.chance(0.55) ? before(probability, dice.weightedNumber({ 1: 80, 2: 20 })) : probability,
    impact: dice.chance(0.22) ? before(impact, 1) : impact,
  };
}

export const rating = (value: number) => Math.min(5, Math.max(1, value));

/** Many risks are raised before they are assessed, and assessed before there is a plan. */
function planBefore({ dice }: Dataset, row: RiskRow, next: RiskRow, { isFirst }: Span) {
  const { status } = row;
  if (status === 'open' && isFirst && dice.chance(0.4)) return { ...noAssessment, ...noPlan };
  if (status === 'open' && dice.chance(isFirst ? 0.5 : 0.3)) return noPlan;
  return { ...residualBefore(row), ...strategyBefore(row, next) };
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

/** A response to a threat was not expected to make it greater, nor one to an opportunity to make it less. */
function residualBefore({ kind, probability, impact, residual_probability, residual_impact }: RiskRow) {
  const expected = (residual: number | null | undefined, value: number | null | undefined) =>
    residual == null || value == null
      ? null
      : kind === 'threat'
        ? Math.min(residual, value)
        : Math.max(residual, value);
  return {
    residual_probability: expected(residual_probability, probability),
    residual_impact: expected(residual_impact, impact),
  };
}

/** What is accepted now was to be dealt with before. */
function strategyBefore({ kind }: RiskRow, { status, strategy }: RiskRow): Pick<RiskRow, 'strategy'> {
  if (status !== 'accepted' || strategy !== 'accept') return {};
  return { strategy: kind === 'threat' ? 'mitigate' : 'enhance' };
}

/** Reviews are what most changes come from; at times the day to finish by is moved out, too. */
function daysBefore(dataset: Dataset, { due_on, review_on, raised_on }: RiskRow, { until }: Span) {
  const { dice } = dataset;
  const changed = dataset.offsetOf(until);
  const dueBefore = due_on && dataset.day(dataset.offsetOf(due_on) - dice.between(10, 60));
  const wasMoved = dueBefore && dueBefore > raised_on && dice.chance(0.12);
  const wasReviewed = review_on === null || dice.chance(0.5);
  return {
    ...(wasMoved && { due_on: dueBefore }),
    ...(wasReviewed && { review_on: dataset.day(changed + dice.between(-10, 12)) }),
  };
}

function withOtherReview(dataset: Dataset, row: RiskRow, { until }: Span): RiskRow {
  const review_on = dataset.day(dataset.offsetOf(until));
  return { ...row, review_on: row.review_on === review_on ? null : review_on };
}

type Cause = Pick<Stage, 'key_name' | 'reason'>;

function causeOf(dataset: Dataset, before: RiskRow, after: RiskRow, scene: Scene): Cause {
  if (before.status === 'accepted' && after.status === 'open') {
    return { key_name: 'Muster', reason: `Accepted only until ${before.accepted_until}.` };
  }
  const { reasons, share } = reasonsFor(before, after);
  return {
    key_name: scene.authorOn(after.updated_at.slice(0, 10)),
    reason: dataset.dice.chance(share) ? scene.told(dataset.dice.pick(reasons)) : null,
  };
}

/** What can be said of a change, and how often somebody does. */
function reasonsFor(before: RiskRow, after: RiskRow): { reasons: string[]; share: number } {
  const [then, now] = [scoreIn(before), scoreIn(after)];
  const { reopened, happened, assessed, planned, risen, fallen, handedOver, reviewed } = words.changeReasons;
  if (before.status === 'closed') return { reasons: reopened, share: 1 };
  if (after.status === 'materialized') return { reasons: happened, share: 0.6 };
  if (after.status === 'closed') return { reasons: reviewed, share: 0.1 };
  if (then === null && now !== null) return { reasons: assessed, share: 0.5 };
  if (!before.response_plan && after.response_plan) return { reasons: planned, share: 0.4 };
  if (then !== null && now !== null && then !== now) {
    return { reasons: then < now ? risen : fallen, share: 0.6 };
  }
  const isHandedOver =
    before.owner_user_id !== after.owner_user_id || before.owner_group_id !== after.owner_group_id;
  return isHandedOver ? { reasons: handedOver, share: 0.5 } : { reasons: reviewed, share: 0.25 };
}
