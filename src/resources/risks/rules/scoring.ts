import { type FieldError, fieldError, invalidParameter } from '../../../core/errors.ts';
import { joinWords } from '../../../core/text.ts';
import { levelOf, type Model } from '../../../store/risk-model.ts';
import type { Issue } from '../../issues/schema.ts';
import { maxScore } from '../../risk-model/schema.ts';

/** Probability × impact, or null if either is missing: an unassessed risk is not a low risk. */
export function scoreOf(probability: number | null, impact: number | null): number | null {
  return probability === null || impact === null ? null : probability * impact;
}

type ScoreFilters = {
  level?: readonly string[];
  min_score?: number;
  max_score?: number;
  probability?: readonly number[];
  impact?: readonly number[];
  assessed?: boolean;
  check?: string[];
};

const scoreFilters = ['level', 'min_score', 'max_score', 'probability', 'impact'] as const;

/** Whether filters depend on scores, so that no risk may match them. */
export const hasScoreFilters = (filters: ScoreFilters) =>
  scoreFilters.some((name) => filters[name] !== undefined);

/** Rejects filters that no cell of these models matches, such as `level=low&min_score=20`. */
export function rejectImpossibleScores(filters: ScoreFilters, models: readonly Model[]): void {
  const { level, min_score = 1, max_score = maxScore, probability, impact, check } = filters;
  const isUnassessed = filters.assessed === false || check?.includes('unassessed');
  const given = scoreFilters.filter((name) => filters[name] !== undefined);
  const isPossible = models.some((model) =>
    model.cells.some((cell) => {
      const score = cell.probability * cell.impact;
      return (
        score >= min_score &&
        score <= max_score &&
        (!level || level.includes(cell.level)) &&
        (!probability || probability.includes(cell.probability)) &&
        (!impact || impact.includes(cell.impact))
      );
    }),
  );
  if (given.length === 0 || (isPossible && !isUnassessed)) return;
  const names = [...given, ...(isUnassessed ? [filters.assessed === false ? 'assessed' : 'check'] : [])].map(
    (name) => `\`${name}\``,
  );
  throw invalidParameter(
    given[0] as string,
    `No risk can match ${joinWords(names)}${names.length > 1 ? ' together' : ''}. Change or remove ${names.length > 1 ? 'one of them' : 'it'}.`,
  );
}

type Residual = { residual_probability?: number | null; residual_impact?: number | null };
type Ratings = Residual & { probability?: number | null; impact?: number | null };

/** Rejects ratings that are not on the scales of the model. */
export function ratingErrors(model: Model, requested: Ratings): FieldError[] {
  return (['probability', 'impact', 'residual_probability', 'residual_impact'] as const).flatMap((field) => {
    const scale = model[field.endsWith('probability') ? 'probability' : 'impact'];
    const rating = requested[field];
    if (rating == null || rating <= scale.length) return [];
    const words = joinWords(scale.map(({ word }, i) => `${i + 1} (${word})`)).replace(
      / and (?!.* and )/,
      ' or ',
    );
    const detail = `The risk model has no ${rating} for \`${field}\`. Use ${words}.`;
    return [fieldError(field, 'not_in_model', detail)];
  });
}

/**
 * Rejects a residual score of a threat above the current score; the response to an opportunity raises it. Applies only if
 * the request sets a residual rating: when the current score drops later, the check `residual_above_current` reports it
 * instead.
 */
export function residualErrors(requested: Residual, next: Ratings & { kind?: string }): FieldError[] {
  if (next.kind === 'opportunity') return [];
  const { probability = null, impact = null, residual_probability = null, residual_impact = null } = next;
  const score = scoreOf(probability, impact);
  const residual = scoreOf(residual_probability, residual_impact);
  const setsResidual = requested.residual_probability != null || requested.residual_impact != null;
  if (!setsResidual || score === null || residual === null || residual <= score) return [];
  const detail = `The residual score ${residual} is above the current score ${score}. Lower the residual ratings.`;
  return [fieldError('residual_probability', 'above_current', detail)];
}

/** The days until the review of a risk with these ratings; null if the model has none. */
export function reviewDaysOf(model: Model, { probability = null, impact = null }: Ratings): number | null {
  const level = levelOf(model, probability, impact);
  return model.levels.find((one) => one.level === level)?.review_days ?? null;
}

/** Maps the impact of a risk to the severity of its issue, by its place on the scale. */
export function severityOf(
  { impact: scale }: Pick<Model, 'impact'>,
  impact: number | null,
): Issue['severity'] {
  if (impact === null) return 'medium';
  const fifths = (impact * 5) / scale.length;
  return fifths > 4 ? 'critical' : fifths > 3 ? 'high' : fifths > 2 ? 'medium' : 'low';
}
