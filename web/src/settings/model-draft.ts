import type { RiskModel, RiskModelInput, RiskModelPreset } from '../api/openapi.ts';
import { humanize } from '../format.ts';

/** A whole model, as the service takes it. */
export type ModelDraft = Required<
  Pick<
    RiskModelInput,
    'probability' | 'impact' | 'levels' | 'cells' | 'default_appetite' | 'longest_acceptance_days'
  >
>;

export type Axis = 'probability' | 'impact';

/** The fields of a model that can be changed. */
export const draftOf = (model: RiskModel | RiskModelPreset['model']): ModelDraft => ({
  probability: model.probability.map(({ word, description }) => ({ word, description })),
  impact: model.impact.map(({ word, description }) => ({ word, description })),
  levels: model.levels.map(({ level, label, color, review_days }) => ({ level, label, color, review_days })),
  cells: model.cells,
  default_appetite: model.default_appetite,
  longest_acceptance_days: model.longest_acceptance_days,
});

/** Changes the number of ratings. New cells have the level of the nearest cell that was there. */
export function resized(draft: ModelDraft, axis: Axis, size: number): ModelDraft {
  const steps = Array.from(
    { length: size },
    (_, i) => draft[axis][i] ?? { word: `${humanize(axis)} ${i + 1}`, description: null },
  );
  const next = { ...draft, [axis]: steps };
  const nearest = (probability: number, impact: number) =>
    draft.cells.find(
      (cell) =>
        cell.probability === Math.min(probability, draft.probability.length) &&
        cell.impact === Math.min(impact, draft.impact.length),
    );
  const cells = next.probability.flatMap((_, row) =>
    next.impact.map((__, column) => ({
      probability: row + 1,
      impact: column + 1,
      level: nearest(row + 1, column + 1)?.level ?? ('low' as const),
      color: nearest(row + 1, column + 1)?.color ?? null,
    })),
  );
  const highest = next.probability.length * next.impact.length;
  return { ...next, cells, default_appetite: Math.min(draft.default_appetite, highest) };
}

/** Adds or removes the lowest level. Its cells become low. */
export const withVeryLow = (draft: ModelDraft, isUsed: boolean): ModelDraft => ({
  ...draft,
  levels: isUsed
    ? [{ level: 'very_low', label: 'Very low', color: null, review_days: null }, ...draft.levels]
    : draft.levels.filter(({ level }) => level !== 'very_low'),
  cells: draft.cells.map((cell) => (!isUsed && cell.level === 'very_low' ? { ...cell, level: 'low' } : cell)),
});
