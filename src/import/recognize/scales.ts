import { type FieldError, invalidParameter } from '../../core/errors.ts';
import { shortened } from '../../core/text.ts';
import { labelledIn } from './names.ts';

/**
 * The numbers that the ratings of a column can have, decimals included. Percentages are 0 to 100. `isTurned`: the lowest
 * number is the highest rating. `hasLabels`: of `1 - Critical`, the word counts.
 */
export type Scale = { min: 0 | 1; max: number; isTurned?: true; hasLabels?: true };

/** The scale of the risk model itself. */
const ownScale = (ratings: number): Scale => ({ min: 1, max: ratings });
const percent: Scale = { min: 0, max: 100 };
const fraction: Scale = { min: 0, max: 1 };

/** On these scales, a cell can also have a percent sign. */
const isShare = ({ min, max }: Scale) => min === 0 && (max === 1 || max === 100);

/** Longer texts are no ratings. */
const maxLength = 100;

/**
 * The rating of a number on another scale; undefined if the number is not on it. Each rating is an equal part of the scale:
 * of five ratings, up to 20 % is 1, above 80 % is 5. A scale from 1 has steps, which count by their middle.
 */
function ratingOf(number: number, { min, max }: Scale, ratings: number): number | undefined {
  if (number < min || number > max) return undefined;
  const parts = (ratings * (min === 0 ? number : number - 0.5)) / max;
  // Binary fractions can be slightly above the number they stand for.
  return Math.max(1, Math.ceil(Number(parts.toPrecision(12))));
}

type Label = { number: number; label: string };

/** Reads `4`, `4 - Likely`, `Likely (4)` and `70%` as a rating; other cells, and numbers off the scale, stay unchanged. */
export function readRating(
  cell: unknown,
  ratings: number,
  scale: Scale = ownScale(ratings),
  wordFor: (label: string) => unknown = () => undefined,
): unknown {
  const text = String(cell).trim();
  const labelled = labelIn(text);
  if (labelled && scale.hasLabels) return wordFor(labelled.label) ?? cell;
  const found = labelled ? { number: labelled.number, isPercent: false } : numberIn(text);
  if (!found) return cell;
  if (found.isPercent) return (isShare(scale) ? ratingOf(found.number, percent, ratings) : undefined) ?? cell;
  const number = scale.isTurned ? scale.min + scale.max - found.number : found.number;
  // The schema rejects decimals, and numbers that are not on the scale.
  if (scale.min === 1 && scale.max === ratings) return number;
  return ratingOf(number, scale, ratings) ?? cell;
}

/** A cell that is nothing but a number. */
function numberIn(text: string): { number: number; isPercent: boolean } | undefined {
  if (text.length > maxLength) return undefined;
  const [, digits, sign] = /^(\d{1,3}(?:[.,]\d+)?)(\s*%)?$/.exec(text) ?? [];
  return digits === undefined
    ? undefined
    : { number: Number(digits.replace(',', '.')), isPercent: sign !== undefined };
}

function labelIn(text: string): Label | undefined {
  const { code = '', label = '' } = labelledIn(text) ?? {};
  return /^\d+$/.test(code) ? { number: Number(code), label } : undefined;
}

/** The scale in a column name, such as `Impact (1-10)`, `Impact /10` and `Probability (%)`. */
export function scaleIn(name: string): Scale | undefined {
  const text = name.slice(0, maxLength);
  // The percentages in `Probability (1 = up to 10%, 5 = above 90%)` only explain the ratings.
  if (/(?<!\d\s?)%|\b(?:percent|percentage|pct)\b/i.test(text)) return percent;
  const [, min, max] = /\b([01])\s*(?:-|–|—|\.\.|to)\s*(\d{1,3})\b/.exec(text) ?? [];
  const [, total] = /(?:\/|\bout of)\s*(\d{1,3})\b/.exec(text) ?? [];
  return scaleFrom(min === undefined ? (total === '100' ? '0' : '1') : min, max ?? total);
}

/** Parses a scale in the `scales` parameter: `1-10`, `percent` or `%`, or `5-1` if 1 is the highest. */
export function readScale(column: string, text: string): Scale {
  if (/^(?:percent|percentage|%)$/i.test(text)) return percent;
  const [, min, max] = /^([01])\s*-\s*(\d{1,3})$/.exec(text) ?? [];
  const [, highest, lowest] = /^(\d{1,3})\s*-\s*([01])$/.exec(text) ?? [];
  const turned = scaleFrom(lowest, highest);
  const scale = scaleFrom(min, max) ?? (turned && { ...turned, isTurned: true });
  if (scale) return scale;
  const detail =
    `“${shortened(text)}” is not a scale. Write \`${shortened(column)}=1-5\`, \`1-10\`, \`percent\`, or the lowest (0 or 1) ` +
    'and the highest number, or `5-1` if 1 is the highest.';
  throw invalidParameter('scales', detail);
}

function scaleFrom(min: string | undefined, max: string | undefined): Scale | undefined {
  const scale = { min: min === '0' ? 0 : 1, max: Number(max) } as const;
  return scale.max > scale.min && scale.max <= 100 ? scale : undefined;
}

export const describeScale = (
  ratings: number,
  { min, max, hasLabels, isTurned }: Scale = ownScale(ratings),
) =>
  hasLabels
    ? 'the words after its numbers'
    : max === 100 && min === 0
      ? 'percentages'
      : isTurned
        ? `numbers from ${max} to ${min}`
        : `numbers from ${min} to ${max}`;

/** The first cell of each kind in a column. */
export type ScaleEvidence = {
  [kind in 'percent' | 'fraction' | 'point' | 'high' | 'unit' | 'plain' | 'unfit']?: Example;
} & {
  /** The ratings of the words that follow each number, as in `4 - Likely`. */
  labels?: Map<number, Set<unknown>>;
};
type Example = { text: string; line: number };

/** Records what a cell reveals. The numbers 0 and 1 are on every scale. */
export function addRating(
  evidence: ScaleEvidence,
  cell: unknown,
  line: number,
  ratings: number,
  wordFor: (label: string) => unknown = () => undefined,
): void {
  const text = String(cell).trim();
  const example = { text, line };
  const labelled = labelIn(text);
  if (labelled) {
    const { number, label } = labelled;
    const rating = wordFor(label);
    evidence.labels ??= new Map();
    evidence.labels.set(number, (evidence.labels.get(number) ?? new Set()).add(rating));
    if (rating !== number) evidence.unfit ??= example;
  }
  const found = labelled ? { number: labelled.number, isPercent: false } : numberIn(text);
  if (!found) return;
  if (!labelled) evidence.plain ??= example;
  const { number, isPercent } = found;
  const kind = isPercent
    ? 'percent'
    : number > ratings
      ? 'high'
      : number > 1
        ? 'point'
        : number > 0 && number < 1
          ? 'fraction'
          : 'unit';
  evidence[kind] ??= example;
}

/**
 * How the numbers of a column run with the words that follow them; undefined if they do not. If they only have the same order,
 * as in `1 - Low` to `3 - High` of five ratings, they are on a shorter scale.
 */
function directionOf(
  labels: ReadonlyMap<number, ReadonlySet<unknown>>,
  ratings: number,
): 'along' | 'shorter' | 'against' | undefined {
  const pairs = [...labels]
    .sort(([a], [b]) => a - b)
    .map(([number, ratings]) => ({ number, rating: ratings.size === 1 ? [...ratings][0] : undefined }));
  if (pairs.some(({ rating }) => typeof rating !== 'number')) return undefined;
  if (pairs.every(({ number, rating }) => rating === number)) return 'along';
  const steps = pairs.slice(1).map(({ rating }, i) => Number(rating) - Number(pairs[i]?.rating));
  if (steps.length === 0 || steps.every((step) => step === 0)) return undefined;
  if (steps.every((step) => step >= 0)) return labels.has(ratings) ? 'along' : 'shorter';
  return steps.every((step) => step <= 0) ? 'against' : undefined;
}

/** Whether a column name such as `Impact (5-1)` or `Impact (1 = high)` says that 1 is the highest. */
function isTurnedIn(name: string, ratings: number, wordFor: (label: string) => unknown): boolean {
  const text = name.slice(0, maxLength);
  if (/\b(?:[2-9]|\d\d+)\s*(?:-|–|—|\.\.|to|bis)\s*[01]\b/.test(text)) return true;
  const [, after, before] = /\b[01]\s*[=:]\s*(\p{L}+)|(?<!\p{L})(\p{L}+)\s*=\s*[01]\b/u.exec(text) ?? [];
  const word = after ?? before ?? '';
  return /^(?:high|most|worst|top|max|hoch|höch)/i.test(word) || Number(wordFor(word)) > ratings / 2;
}

/**
 * The scale of a column: the one in its name, or else the only one that all of its cells can be on. An error if there
 * is none, because any guess would rate risks wrongly.
 */
export function scaleOf(
  name: string,
  evidence: ScaleEvidence,
  ratings: number,
  wordFor: (label: string) => unknown = () => undefined,
): Scale | FieldError {
  const { percent: sign, fraction: part, point, high, unit, plain, unfit, labels } = evidence;
  const named = scaleIn(name);
  const found = labels && directionOf(labels, ratings);
  const direction = found === 'shorter' && named ? 'along' : found;
  if (labels && direction !== 'along')
    return direction && !plain ? { ...ownScale(ratings), hasLabels: true } : unclear(name, unfit, plain);
  if (isTurnedIn(name, ratings, wordFor) && (plain || labels)) return unclear(name, point ?? high ?? unit);
  if (named && !isShare(named)) return sign ? unclear(name, sign, point ?? high ?? unit) : named;
  // Half of one percent, or half of everything?
  if (named?.max === 100) return part ? unclear(name, part, sign ?? high ?? point) : named;
  if (named) return named;
  const number = point ?? high ?? part ?? unit;
  if (sign) return number ? unclear(name, sign, number) : percent;
  if (part) return (point ?? high) ? unclear(name, part, point ?? high) : fraction;
  return high ? unclear(name, high, point ?? unit) : ownScale(ratings);
}

function unclear(name: string, ...examples: (Example | undefined)[]): FieldError {
  const column = shortened(name);
  const shown = examples.flatMap((one) => (one ? [`“${shortened(one.text)}” on line ${one.line}`] : []));
  const detail =
    `On which scale are the ratings of the column “${column}”, such as ${shown.join(' and ')}? ` +
    `Send \`scales=${column}=1-5\`, \`1-10\` or \`percent\`, or \`5-1\` if 1 is the highest, or name the scale in the column, ` +
    'as in `Impact (1-10)` or `Probability (%)`. If a cell is wrong, correct it.';
  return { column, code: 'unclear_scale', detail };
}
