import { type Static, Type } from 'typebox';
import { Line, OneOf, Strict } from '../../core/schemas.ts';
import { defaultModel, type LevelId, levels, StoredModel } from './schema.ts';

export const RiskModelPreset = Strict(
  {
    id: OneOf(['default', 'four_by_four', 'three_by_three', 'iso_31000']),
    name: Line(),
    description: Type.String(),
    model: StoredModel,
  },
  { $id: 'RiskModelPreset' },
);
export type RiskModelPreset = Static<typeof RiskModelPreset>;

/** A scale from `word: description` texts. */
const scale = (...steps: string[]) =>
  steps.map((step) => {
    const [word = '', description = null] = step.split(': ');
    return { word, description };
  });

/** A row for each probability, the lowest first, with a character for each impact: v, l, m, h or c. */
const matrix = (...rows: string[]) =>
  rows.flatMap((row, i) =>
    [...row].map((letter, j) => ({
      probability: i + 1,
      impact: j + 1,
      level: levels.find((level) => level[0] === letter) as LevelId,
      color: null,
    })),
  );

const labelled = (labels: Partial<Record<LevelId, string>>) =>
  levels
    .filter((level) => labels[level] !== undefined)
    .map((level) => ({ level, label: labels[level] ?? '', color: null, review_days: null }));

/** Models to start from. */
export const presets: RiskModelPreset[] = [
  {
    id: 'default',
    name: '5 × 5',
    description: 'The model that the service starts with: four levels by the score.',
    model: defaultModel,
  },
  {
    id: 'four_by_four',
    name: '4 × 4',
    description: 'Without a middle rating, so that nobody can avoid a decision.',
    model: {
      probability: scale('unlikely', 'possible', 'likely', 'almost certain'),
      impact: scale('minor', 'moderate', 'major', 'severe'),
      levels: labelled({ low: 'Low', medium: 'Medium', high: 'High', critical: 'Critical' }),
      cells: matrix('llmm', 'lmmh', 'mmhc', 'mhcc'),
      default_appetite: 8,
      longest_acceptance_days: 365,
    },
  },
  {
    id: 'three_by_three',
    name: '3 × 3',
    description: 'For small organizations: low, medium and high on both axes.',
    model: {
      probability: scale('low', 'medium', 'high'),
      impact: scale('low', 'medium', 'high'),
      levels: labelled({ low: 'Low', medium: 'Medium', high: 'High', critical: 'Critical' }),
      cells: matrix('llm', 'lmh', 'mhc'),
      default_appetite: 4,
      longest_acceptance_days: 365,
    },
  },
  {
    id: 'iso_31000',
    name: 'ISO 31000 style',
    description:
      'Likelihood and consequence in the words of the standard and its usual guides, with five levels and review intervals.',
    model: {
      probability: scale(
        'rare: Only in exceptional circumstances.',
        'unlikely: Could occur, but is not expected.',
        'possible: Might occur at some time.',
        'likely: Will probably occur.',
        'almost certain: Is expected to occur.',
      ),
      impact: scale(
        'insignificant: No effect on objectives.',
        'minor: An effect that routine absorbs.',
        'moderate: An objective is at stake.',
        'major: An objective is missed.',
        'catastrophic: The organization itself is at stake.',
      ),
      levels: [
        { level: 'very_low', label: 'Negligible', color: null, review_days: null },
        { level: 'low', label: 'Low', color: null, review_days: 365 },
        { level: 'medium', label: 'Moderate', color: null, review_days: 180 },
        { level: 'high', label: 'High', color: null, review_days: 90 },
        { level: 'critical', label: 'Extreme', color: null, review_days: 30 },
      ],
      cells: matrix('vvllm', 'vllmm', 'llmhh', 'lmhhc', 'mmhcc'),
      default_appetite: 9,
      longest_acceptance_days: 365,
    },
  },
];
