import { type FieldError, fieldError } from '../../core/errors.ts';
import type { Issue } from '../issues/schema.ts';
import { levels } from './schema.ts';

type Level = (typeof levels)[number]['level'];

/** Probability × impact, or null if either is missing: an unassessed risk is not a low risk. */
export function scoreOf(probability: number | null, impact: number | null): number | null {
  return probability === null || impact === null ? null : probability * impact;
}

export function levelOf(score: number | null): Level | null {
  return levels.find(({ from, to }) => score !== null && from <= score && score <= to)?.level ?? null;
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
