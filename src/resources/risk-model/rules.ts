import { type FieldError, fieldError, invalidBody } from '../../core/errors.ts';
import { fold, joinWords } from '../../core/text.ts';
import { type Model, maxScoreOf } from '../../store/risk-model.ts';
import { levels, type RatingsMap, type RiskModelInput, requiredLevels, type StoredModel } from './schema.ts';

const required = [
  'probability',
  'impact',
  'levels',
  'cells',
  'default_appetite',
  'longest_acceptance_days',
] as const satisfies (keyof RiskModelInput)[];

/** The model in a request, or undefined if it restores an earlier version. Throws with all errors at once. */
export function modelIn(input: RiskModelInput): StoredModel | undefined {
  const given = required.filter((field) => input[field] !== undefined);
  if (input.restore_version !== undefined) {
    const errors = given.map((field) =>
      fieldError(field, 'contradiction', `Send either a model or \`restore_version\`, not \`${field}\` too.`),
    );
    if (errors.length > 0) throw invalidBody(errors);
    return undefined;
  }
  const missing = required.filter((field) => !given.includes(field));
  if (missing.length > 0)
    throw invalidBody(
      missing.map((field) =>
        fieldError(
          field,
          'required',
          `\`${field}\` is required: send a whole model, or \`restore_version\`.`,
        ),
      ),
    );
  const model = normalized(input as Required<RiskModelInput>);
  const errors = modelErrors(model);
  if (errors.length > 0) throw invalidBody(errors);
  return model;
}

/** With nulls for what was left out, and the cells in order. */
const normalized = (input: Required<RiskModelInput>): StoredModel => ({
  probability: input.probability.map(({ word, description = null }) => ({ word, description })),
  impact: input.impact.map(({ word, description = null }) => ({ word, description })),
  levels: input.levels.map(({ level, label, color = null, review_days = null }) => ({
    level,
    label,
    color,
    review_days,
  })),
  cells: input.cells
    .map(({ probability, impact, level, color = null }) => ({ probability, impact, level, color }))
    .sort((a, b) => a.probability - b.probability || a.impact - b.impact),
  default_appetite: input.default_appetite,
  longest_acceptance_days: input.longest_acceptance_days,
});

function modelErrors(model: StoredModel): FieldError[] {
  return [
    ...repeatedWords(
      'probability',
      model.probability.map(({ word }) => word),
    ),
    ...repeatedWords(
      'impact',
      model.impact.map(({ word }) => word),
    ),
    ...repeatedWords(
      'levels',
      model.levels.map(({ label }) => label),
    ),
    ...levelErrors(model),
    ...cellErrors(model),
    ...appetiteErrors(model),
  ];
}

/** Imports read the words, so each must mean one rating. */
const repeatedWords = (field: string, words: readonly string[]): FieldError[] =>
  words.flatMap((word, i) => {
    if (words.findIndex((other) => fold(other) === fold(word)) === i) return [];
    return [fieldError(`${field}/${i}`, 'duplicate', `“${word}” is there twice. Use different labels.`)];
  });

function levelErrors({ levels: given }: StoredModel): FieldError[] {
  const ids = given.map(({ level }) => level);
  const expected = levels.filter((level) => requiredLevels.includes(level) || ids.includes(level));
  if (ids.join() === expected.join()) return [];
  const detail = `Levels are ${joinWords([...requiredLevels])}, each once and in this order, and optionally very_low before them.`;
  return [fieldError('levels', 'levels', detail)];
}

function cellErrors({ probability, impact, levels: given, cells }: StoredModel): FieldError[] {
  const errors: FieldError[] = [];
  const found = new Map<string, number>();
  for (const cell of cells) {
    const name = `${cell.probability} × ${cell.impact}`;
    found.set(name, (found.get(name) ?? 0) + 1);
    if (cell.probability > probability.length || cell.impact > impact.length)
      errors.push(fieldError('cells', 'not_in_model', `The cell ${name} is not in the matrix. Remove it.`));
    else if (!given.some(({ level }) => level === cell.level))
      errors.push(
        fieldError(
          'cells',
          'unknown_level',
          `The cell ${name} has the level ${cell.level}, which \`levels\` does not have.`,
        ),
      );
  }
  for (let row = 1; row <= probability.length; row++) {
    for (let column = 1; column <= impact.length; column++) {
      const times = found.get(`${row} × ${column}`) ?? 0;
      if (times === 1) continue;
      const detail = `The cell ${row} × ${column} is there ${times === 0 ? 'not at all' : `${times} times`}. Each combination of probability and impact needs one level.`;
      errors.push(fieldError('cells', times === 0 ? 'required' : 'duplicate', detail));
    }
  }
  return errors;
}

function appetiteErrors(model: StoredModel): FieldError[] {
  const highest = maxScoreOf(model);
  if (model.default_appetite <= highest) return [];
  const detail = `The highest score of this model is ${highest}. Use a default appetite from 1 to ${highest}.`;
  return [fieldError('default_appetite', 'not_in_model', detail)];
}

/** What a change of the model does to ratings. */
export type Mapping = { from: StoredModel; to: StoredModel; ratings: RatingsMap };

/** The mapping in the request, or the proposed one. */
export function mappingOf(from: Model, to: StoredModel, given: RatingsMap | undefined): Mapping {
  const proposed = {
    probability: spread(from.probability.length, to.probability.length),
    impact: spread(from.impact.length, to.impact.length),
  };
  const ratings = given ?? proposed;
  const errors = (['probability', 'impact'] as const).flatMap((axis) => {
    if (ratings[axis].length === from[axis].length && ratings[axis].every((new_) => new_ <= to[axis].length))
      return [];
    const detail = `\`ratings_map\` needs a new ${axis} from 1 to ${to[axis].length} for each of the ${from[axis].length} old ones, such as [${proposed[axis].join(', ')}].`;
    return [fieldError(`ratings_map/${axis}`, 'not_in_model', detail)];
  });
  if (errors.length > 0) throw invalidBody(errors);
  return { from, to, ratings };
}

/** Spreads old ratings evenly: the lowest becomes the lowest, the highest the highest, and a half is rounded up. */
const spread = (from: number, to: number): number[] =>
  Array.from({ length: from }, (_, i) => Math.round(1 + (i * (to - 1)) / (from - 1)));

/** Each old cell with its score before and after. */
const scoresOf = ({ from, ratings }: Mapping) =>
  from.cells.map(({ probability, impact }) => ({
    before: probability * impact,
    after: (ratings.probability[probability - 1] ?? 0) * (ratings.impact[impact - 1] ?? 0),
  }));

/** For each score that an old model can have: the average of the new scores of its cells. Initial scores have no ratings. */
export function mapScores(mapping: Mapping): Map<number, number> {
  const groups = Map.groupBy(scoresOf(mapping), ({ before }) => before);
  return new Map(
    [...groups].map(([before, cells]) => [
      before,
      Math.round(cells.reduce((sum, { after }) => sum + after, 0) / cells.length),
    ]),
  );
}

/** The appetite with which the fewest cells change from above to below or back; of several, the nearest in proportion. */
export function mapAppetite(mapping: Mapping, appetite: number): number {
  const scores = scoresOf(mapping);
  const highest = maxScoreOf(mapping.to);
  const proportional = (appetite * highest) / maxScoreOf(mapping.from);
  const candidates = Array.from({ length: highest }, (_, i) => {
    const candidate = i + 1;
    const changes = scores.filter(({ before, after }) => before > appetite !== after > candidate).length;
    return { candidate, changes, distance: Math.abs(candidate - proportional) };
  });
  candidates.sort((a, b) => a.changes - b.changes || a.distance - b.distance);
  return candidates[0]?.candidate ?? highest;
}
