import { type FieldError, invalidParameter } from '../../core/errors.ts';
import { shortened } from '../../core/text.ts';

/** The numbers that the ratings of a column can have, decimals included. Percentages are 0 to 100. */
export type Scale = { min: 0 | 1; max: number };

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

/** Reads `4`, `4 - Likely`, `Likely (4)` and `70%` as a rating; other cells, and numbers off the scale, stay unchanged. */
export function readRating(cell: unknown, ratings: number, scale: Scale = ownScale(ratings)): unknown {
  const found = numberIn(cell);
  if (!found) return cell;
  if (found.isPercent) return (isShare(scale) ? ratingOf(found.number, percent, ratings) : undefined) ?? cell;
  // The schema rejects decimals, and numbers that are not on the scale.
  if (scale.min === 1 && scale.max === ratings) return found.number;
  return ratingOf(found.number, scale, ratings) ?? cell;
}

function numberIn(cell: unknown): { number: number; isPercent: boolean } | undefined {
  const text = String(cell).trim();
  if (text.length > maxLength) return undefined;
  const [, share] = /^(\d{1,3}(?:[.,]\d+)?)\s*%$/.exec(text) ?? [];
  const [, before, after] =
    /^(\d{1,3}(?:[.,]\d+)?)(?:\s*[-–=:.)(]\s*\D+)?$|^\D+[(:=-]\s*(\d{1,3})\)?$/.exec(text) ?? [];
  const number = Number((share ?? before ?? after)?.replace(',', '.'));
  return Number.isNaN(number) ? undefined : { number, isPercent: share !== undefined };
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

/** Parses a scale in the `scales` parameter: `1-10`, `percent` or `%`. */
export function readScale(column: string, text: string): Scale {
  if (/^(?:percent|percentage|%)$/i.test(text)) return percent;
  const [, min, max] = /^([01])\s*-\s*(\d{1,3})$/.exec(text) ?? [];
  const scale = scaleFrom(min, max);
  if (scale) return scale;
  const detail = `“${shortened(text)}” is not a scale. Write \`${shortened(column)}=1-5\`, \`1-10\`, \`percent\`, or the lowest (0 or 1) and the highest number.`;
  throw invalidParameter('scales', detail);
}

function scaleFrom(min: string | undefined, max: string | undefined): Scale | undefined {
  const scale = { min: min === '0' ? 0 : 1, max: Number(max) } as const;
  return scale.max > scale.min && scale.max <= 100 ? scale : undefined;
}

export const describeScale = (ratings: number, scale = ownScale(ratings)) =>
  scale.max === 100 && scale.min === 0 ? 'percentages' : `numbers from ${scale.min} to ${scale.max}`;

/** The first cell of each kind in a column. */
export type ScaleEvidence = { [kind in 'percent' | 'fraction' | 'point' | 'high' | 'unit']?: Example };
type Example = { text: string; line: number };

/** Records what a cell reveals. The numbers 0 and 1 are on every scale. */
export function addRating(evidence: ScaleEvidence, cell: unknown, line: number, ratings: number): void {
  const found = numberIn(cell);
  if (!found) return;
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
  evidence[kind] ??= { text: String(cell).trim(), line };
}

/**
 * The scale of a column: the one in its name, or else the only one that all of its cells can be on. An error if there
 * is none, because any guess would rate risks wrongly.
 */
export function scaleOf(name: string, found: ScaleEvidence, ratings: number): Scale | FieldError {
  const { percent: sign, fraction: part, point, high, unit } = found;
  const named = scaleIn(name);
  if (named && !isShare(named)) return sign ? unclear(name, sign, point ?? high ?? unit) : named;
  // Half of one percent, or half of everything?
  if (named?.max === 100) return part ? unclear(name, part, sign ?? high ?? point) : named;
  if (named) return named;
  const plain = point ?? high ?? part ?? unit;
  if (sign) return plain ? unclear(name, sign, plain) : percent;
  if (part) return (point ?? high) ? unclear(name, part, point ?? high) : fraction;
  return high ? unclear(name, high, point ?? unit) : ownScale(ratings);
}

function unclear(name: string, ...examples: (Example | undefined)[]): FieldError {
  const column = shortened(name);
  const shown = examples.flatMap((one) => (one ? [`“${shortened(one.text)}” on line ${one.line}`] : []));
  const detail =
    `On which scale are the ratings of the column “${column}”, such as ${shown.join(' and ')}? ` +
    `Send \`scales=${column}=1-5\`, \`1-10\` or \`percent\`, or name the scale in the column, as in \`Impact (1-10)\` or ` +
    '`Probability (%)`. If a cell is wrong, correct it.';
  return { column, code: 'unclear_scale', detail };
}
