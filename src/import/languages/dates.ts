import { fold } from '../../core/text.ts';
import { dayAt, isDay } from '../../core/time-zones.ts';
import { months as monthNames } from './months.ts';

export const dateOrders = ['dmy', 'mdy'] as const;
export type DateOrder = (typeof dateOrders)[number];

/** Longer texts are not dates. */
const maxLength = 40;

/** English, German and French, from Sunday on. Any other word before a date, such as “before”, changes its meaning. */
const weekdays = [
  'sun so dim',
  'mon mo lun',
  'tue di mar',
  'wed mi mer',
  'thu do jeu',
  'fri fr ven',
  'sat sa sam',
];
const weekday = String.raw`(?:(?<weekday>(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?|mo|di|mi|do|fr|sa|so|lun|mar|mer|jeu|ven|sam|dim)\.?,?\s+)?`;
const zone = String.raw`(?<zone>(?:\s*(?:z|[+-]\d{2}(?::?\d{2})?|\(?(?:utc|gmt|[a-z]{1,4}[sd]?t)(?:[+-]\d{1,2}(?::?\d{2})?)?\)?)){0,3})`;
/** Nothing but a time may follow a date: other text, such as the end of a period, would be lost. */
const time = String.raw`(?:(?:T|,?\s+(?:at\s+)?|,)(?<hour>[0-2]?\d)(?::(?<minute>[0-5]\d)(?::(?<second>[0-5]\d))?(?:[.,]\d{1,9})?(?:\s*(?<half>[ap])\.?m\.?)?|\s*(?<noon>[ap])\.?m\.?)${zone})?$`;
const yearFirst = new RegExp(
  String.raw`^(?<year>\d{4})[-/.](?<month>\d{1,2})[-/.](?<day>\d{1,2})${time}`,
  'i',
);
const digitsOnly = /^(?<year>\d{4})(?<month>\d\d)(?<day>\d\d)$/;
const numeric = new RegExp(
  String.raw`^${weekday}(?<first>\d{1,2})(?<separator>[-/.])(?<other>\d{1,2})\k<separator>(?<year>\d{4}|\d\d)${time}`,
  'i',
);
const dayName = new RegExp(
  String.raw`^${weekday}(?<day>\d{1,2})(?:st|nd|rd|th|\.)?[\s/-]+(?:de\s+)?(?<name>\p{L}{3,12})\.?[\s,/-]+(?:de\s+)?(?<year>\d{4}|\d\d)${time}`,
  'iu',
);
const nameDay = new RegExp(
  String.raw`^${weekday}(?<name>[a-z]{3,9})\.?\s+(?<day>\d{1,2})(?:st|nd|rd|th)?,?\s+(?<year>\d{4})${time}`,
  'i',
);

/**
 * Reads a date in a usual notation, with or without a time, as a day such as `2026-11-15`. A time with an offset is read as
 * the day in the time zone of the organization. Other texts stay unchanged, so that the schema rejects them: also one with
 * another weekday than that of its day, or with a time zone that has only a name, because several zones share one.
 */
export function readDate(text: string, order: DateOrder | undefined, time_zone: string): string {
  if (text.length > maxLength) return text;
  for (const pattern of [yearFirst, digitsOnly, numeric, dayName, nameDay]) {
    const { groups } = pattern.exec(text) ?? {};
    const day = groups && writtenDay(groups, order);
    if (groups && day !== undefined) return dayInZone(text, day, groups, time_zone);
  }
  return text;
}

type Groups = Readonly<Record<string, string | undefined>>;

function writtenDay(
  { year, month, day, name, first, separator, other }: Groups,
  order: DateOrder | undefined,
): string | undefined {
  if (name !== undefined) return namedDay(year, name, day);
  if (first === undefined) return dayOf(year, month, day);
  return separator === '.' || order !== 'mdy' ? dayOf(year, other, first) : dayOf(year, first, other);
}

/** The day in the time zone of the organization; the text itself if its weekday or its time cannot be. */
function dayInZone(
  text: string,
  day: string,
  { weekday, hour, minute = '0', second = '0', half, noon, zone = '' }: Groups,
  time_zone: string,
): string {
  // The schema says what is wrong with the day.
  if (!isDay(day)) return day;
  const named = weekday && fold(weekday).slice(0, 3);
  const midnight = Date.parse(day);
  if (named && !weekdays[new Date(midnight).getUTCDay()]?.split(' ').includes(named)) return text;
  const [, sign, hours, minutes = '0'] = /([+-])(\d{1,2}):?(\d{2})?/.exec(zone) ?? [];
  if (zone.trim() !== '' && hours === undefined && !/\b(?:z|utc|gmt)\b|^z/i.test(zone.trim())) return text;
  const suffix = (half ?? noon)?.toLowerCase();
  const atHour = suffix === undefined ? Number(hour) : (Number(hour) % 12) + (suffix === 'p' ? 12 : 0);
  if (zone.trim() === '') return day;
  const offset = (Number(hours ?? 0) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1);
  const seconds = (atHour * 60 + Number(minute) - offset) * 60 + Number(second);
  return atHour > 23 || Math.abs(offset) > 14 * 60 ? text : dayAt(midnight + seconds * 1000, time_zone);
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
  const { first, separator, other } = numeric.exec(cell.trim())?.groups ?? {};
  if (!first || !other || separator === '.' || first === other) return;
  const finding = Number(first) > 12 ? 'dmy' : Number(other) > 12 ? 'mdy' : 'either';
  evidence[finding] ??= { text: cell, line };
}
