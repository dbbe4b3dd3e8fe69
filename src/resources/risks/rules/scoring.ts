import { type FieldError, fieldError, invalidParameter } from '../../../core/errors.ts';
import { joinWords } from '../../../core/text.ts';
import type { Issue } from '../../issues/schema.ts';
import { levels } from '../schema.ts';

type Level = (typeof levels)[number]['level'];

/** Probability × impact, or null if either is missing: an unassessed risk is not a low risk. */
export function scoreOf(probability: number | null, impact: number | null): number | null {
  return probability === null || impact === null ? null : probability * impact;
}

export function levelOf(score: number | null): Level | null {
  return levels.find(({ from, to }) => score !== null && from <= score && score <= to)?.level ?? null;
}

const ratings = [1, 2, 3, 4, 5];

type ScoreFilters = {
  level?: readonly string[];
  min_score?: number;
  max_score?: number;
  probability?: readonly number[];
  impact?: readonly number[];
  assessed?: boolean;
  check?: string[];
};

/** Rejects filters that no combination of probability and impact matches, such as `level=low&min_score=20`. */
export function rejectImpossibleScores(filters: ScoreFilters): void {
  const { level, min_score = 1, max_score = 25, probability = ratings, impact = ratings, check } = filters;
  const isUnassessed = filters.assessed === false || check?.includes('unassessed');
  const given = (['level', 'min_score', 'max_score', 'probability', 'impact'] as const).filter(
    (name) => filters[name] !== undefined,
  );
  // A client may repeat values, so the loops run over the ratings and not over the lists.
  const impacts = ratings.filter((rating) => impact.includes(rating));
  const scores = ratings
    .filter((rating) => probability.includes(rating))
    .flatMap((rating) => impacts.map((other) => rating * other));
  const isPossible = scores.some(
    (score) =>
      score >= min_score && score <= max_score && (!level || level.includes(levelOf(score) as string)),
  );
  if (given.length === 0 || (isPossible && !isUnassessed)) return;
  const names = [...given, ...(isUnassessed ? [filters.assessed === false ? 'assessed' : 'check'] : [])].map(
    (name) => `\`${name}\``,
  );
  throw invalidParameter(
    given[0] as string,
    `No risk can match ${joinWords(names)} together. Change or remove one of them.`,
  );
}

type Residual = { residual_probability?: number | null; residual_impact?: number | null };
type Ratings = Residual & { probability?: number | null; impact?: number | null };

/**
 * Rejects a residual score above the current score. Applies only if the request sets a residual rating: when the current
 * score drops later, the check `residual_above_current` reports it instead.
 */
export function residualErrors(requested: Residual, next: Ratings): FieldError[] {
  const { probability = null, impact = null, residual_probability = null, residual_impact = null } = next;
  const score = scoreOf(probability, impact);
  const residual = scoreOf(residual_probability, residual_impact);
  const setsResidual = requested.residual_probability != null || requested.residual_impact != null;
  if (!setsResidual || score === null || residual === null || residual <= score) return [];
  const detail = `The residual score ${residual} is above the current score ${score}. Lower the residual ratings.`;
  return [fieldError('residual_probability', 'above_current', detail)];
}

/** Maps the impact of a risk to the severity of its issue. */
export const severityOf = (impact: number | null): Issue['severity'] =>
  impact === 5 ? 'critical' : impact === 4 ? 'high' : impact === 3 || impact === null ? 'medium' : 'low';
