import { Problem } from '../../core/errors.ts';
import { isDay } from '../../core/schemas.ts';
import { fold, shortened } from '../../core/text.ts';
import { dayAt } from '../../core/time-zones.ts';
import { months as monthNames } from '../languages/months.ts';

export const dateOrders = ['dmy', 'mdy'] as const;
export type DateOrder = (typeof dateOrders)[number];

/** Longer texts are not dates. */
const maxLength = 40;

// English, German or French. Any other word before a date, such as “before”, changes its meaning.
const weekday = String.raw`(?:(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?|mo|di|mi|do|fr|sa|so|lun|mar|mer|jeu|ven|sam|dim)\.?,?\s+)?`;
const zone = String.raw`(?:\s*(?:z|[+-]\d{2}(?::?\d{2})?|\(?(?:utc|gmt|[a-z]{1,4}[sd]?t)(?:[+-]\d{1,2}(?::?\d{2})?)?\)?)){0,3}`;
/** Nothing but a time may follow a date: other text, such as the end of a period, would be lost. */
const time = String.raw`(?:(?:T|,?\s+(?:at\s+)?|,)[0-2]?\d(?:(?::[0-5]\d){1,2}(?:[.,]\d{1,9})?(?:\s*[ap]\.?m\.?)?|\s*[ap]\.?m\.?)${zone})?$`;
const yearFirst = new RegExp(String.raw`^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})${time}`, 'i');
const digitsOnly = /^(\d{4})(\d\d)(\d\d)$/;
const numeric = new RegExp(String.raw`^${weekday}(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d\d)${time}`, 'i');
const dayName = new RegExp(
  String.raw`^${weekday}(\d{1,2})(?:st|nd|rd|th|\.)?[\s/-]+(?:de\s+)?(\p{L}{3,12})\.?[\s,/-]+(?:de\s+)?(\d{4}|\d\d)${time}`,
  'iu',
);
const nameDay = new RegExp(
  String.raw`^${weekday}([a-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})${time}`,
  'i',
);

/** A time that names its offset from UTC, such as `2026-11-16T01:30:00Z`. */
const instant = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)? ?(Z|UTC|[+-]\d\d:?\d\d)$/i;

/**
 * Reads a date in a usual notation, with or without a time, as a day such as `2026-11-15`. A time with an offset is read as
 * the day in the time zone of the organization. Other texts stay unchanged, so that the schema rejects them.
 */
export function readDate(text: string, order: DateOrder | undefined, time_zone: string): string {
  if (text.length > maxLength) return text;
  // JavaScript parses 31 February as a day in March.
  const time = instant.test(text) && isDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return dayAt(time, time_zone);
  const [, year, month, day] = yearFirst.exec(text) ?? digitsOnly.exec(text) ?? [];
  if (year) return dayOf(year, month, day);
  const [, first, separator, second, yearLast] = numeric.exec(text) ?? [];
  if (yearLast)
    return separator === '.' || order !== 'mdy'
      ? dayOf(yearLast, second, first)
      : dayOf(yearLast, first, second);
  const named = dayName.exec(text);
  if (named) return namedDay(named[3], named[2], named[1]) ?? text;
  const nameFirst = nameDay.exec(text);
  return (nameFirst && namedDay(nameFirst[3], nameFirst[1], nameFirst[2])) ?? text;
}

function namedDay(year: string | undefined, name = '', day: string | undefined): string | undefined {
  // Excel abbreviates the German March to `Mrz`, and the Dutch one to `mrt`.
  const word = fold(name).replace(/^mr[zt]$/, 'mar');
  const found = new Set(
    months.flatMap((names) => names.flatMap((month, at) => (month.startsWith(word) ? at : []))),
  );
  const [month, other] = found;
  // `jui` is June or July.
  return month === undefined || other !== undefined ? undefined : dayOf(year, String(month + 1), day);
}

const months = monthNames.map((names) => names.map(fold));

/** Two digits are a year from 1970 to 2069. */
function dayOf(year = '', month = '', day = ''): string {
  const century = year.length === 4 ? '' : Number(year) < 70 ? '20' : '19';
  return `${century}${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
}

/** What the dates of a column reveal about the order of day and month: for each, a date and its line. */
export type DateEvidence = { [finding in DateOrder | 'either']?: { text: string; line: number } };

/** Records what a cell reveals. Only numeric dates that are not separated by points leave the order open. */
export function addEvidence(evidence: DateEvidence, cell: unknown, line: number): void {
  if (typeof cell !== 'string' || cell.length > maxLength) return;
  const [, first, separator, second] = numeric.exec(cell.trim()) ?? [];
  if (!first || !second || separator === '.' || first === second) return;
  const finding = Number(first) > 12 ? 'dmy' : Number(second) > 12 ? 'mdy' : 'either';
  evidence[finding] ??= { text: cell, line };
}

/** The order of day and month in a column, by its own dates or else by those of the other columns. */
export function orderOf(
  own: DateEvidence,
  all: readonly DateEvidence[],
  name: string,
): DateOrder | undefined {
  if (own.dmy && own.mdy) throw ambiguous(name, own.dmy, own.mdy);
  if (own.dmy || own.mdy) return own.dmy ? 'dmy' : 'mdy';
  if (!own.either) return undefined;
  const found = dateOrders.filter((order) => all.some((evidence) => evidence[order]));
  if (found.length !== 1) throw ambiguous(name, own.either);
  return found[0];
}

/** 422: the file does not show whether the day or the month comes first. */
function ambiguous(name: string, ...dates: { text: string; line: number }[]): Problem {
  const shown = dates.map(({ text, line }) => `“${text}” on line ${line}`).join(' and ');
  const detail =
    `Is ${shown} of the column “${shortened(name)}” day/month or month/day? ` +
    'Send `date_order=dmy` or `date_order=mdy`.';
  return new Problem('invalid_body', detail, {
    errors: [{ column: shortened(name), code: 'ambiguous_dates', detail }],
  });
}
