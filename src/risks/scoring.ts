/** The scoring rules. The database keeps the same rules in generated columns; a test compares the two. */
export const levels = [
  { level: 'low', from: 1, to: 5 },
  { level: 'medium', from: 6, to: 11 },
  { level: 'high', from: 12, to: 19 },
  { level: 'critical', from: 20, to: 25 },
] as const;

type Level = (typeof levels)[number]['level'];

/** Probability × impact, or null while either is not assessed: no data is not low risk. */
export function scoreOf(probability: number | null, impact: number | null): number | null {
  return probability === null || impact === null ? null : probability * impact;
}

export function levelOf(score: number | null): Level | null {
  return levels.find(({ from, to }) => score !== null && from <= score && score <= to)?.level ?? null;
}
