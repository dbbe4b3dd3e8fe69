import fc from 'fast-check';
import { levels, type StoredModel } from '../src/resources/risk-model/schema.ts';

const words = (prefix: string, length: number) =>
  Array.from({ length }, (_, i) => ({ word: `${prefix} ${i + 1}`, description: null }));

/** Any valid risk model: its levels need not follow from the score. */
export const riskModels: fc.Arbitrary<StoredModel> = fc
  .record({
    rows: fc.integer({ min: 3, max: 7 }),
    columns: fc.integer({ min: 3, max: 7 }),
    hasVeryLow: fc.boolean(),
    cells: fc.array(fc.nat(), { minLength: 49, maxLength: 49 }),
    appetite: fc.nat(),
  })
  .map(({ rows, columns, hasVeryLow, cells, appetite }) => {
    const used = levels.slice(hasVeryLow ? 0 : 1);
    return {
      probability: words('probability', rows),
      impact: words('impact', columns),
      levels: used.map((level) => ({ level, label: `The ${level}`, color: null, review_days: null })),
      cells: Array.from({ length: rows * columns }, (_, i) => ({
        probability: Math.floor(i / columns) + 1,
        impact: (i % columns) + 1,
        level: used[(cells[i] ?? 0) % used.length] ?? 'low',
        color: null,
      })),
      default_appetite: (appetite % (rows * columns)) + 1,
      longest_acceptance_days: null,
    };
  });

type Rated = {
  id: string;
  probability: number | null;
  impact: number | null;
  due_on: string | null;
  raised_on: string;
};

/** The level of a risk, by looking its cell up. */
export const plainLevel = ({ cells }: Pick<StoredModel, 'cells'>, { probability, impact }: Rated) =>
  cells.find((cell) => cell.probability === probability && cell.impact === impact)?.level ?? null;

/** Risks in the order of the register, by comparing them one by one. */
export const plainRanking = <R extends Rated>(risks: readonly R[]): R[] => {
  const scoreOf = ({ probability, impact }: Rated) => (probability ?? 0) * (impact ?? 0);
  const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return risks.toSorted(
    (a, b) =>
      scoreOf(b) - scoreOf(a) ||
      (b.impact ?? 0) - (a.impact ?? 0) ||
      (b.probability ?? 0) - (a.probability ?? 0) ||
      byText(a.due_on ?? '9999', b.due_on ?? '9999') ||
      byText(a.raised_on, b.raised_on) ||
      byText(a.id, b.id),
  );
};
