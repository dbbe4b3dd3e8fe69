import { levels } from './schema.ts';

type Level = (typeof levels)[number]['level'];

/** Probability × impact, or null while either is not assessed: no data is not low risk. */
export function scoreOf(probability: number | null, impact: number | null): number | null {
  return probability === null || impact === null ? null : probability * impact;
}

export function levelOf(score: number | null): Level | null {
  return levels.find(({ from, to }) => score !== null && from <= score && score <= to)?.level ?? null;
}
