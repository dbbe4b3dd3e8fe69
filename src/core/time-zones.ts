/**
 * Days in a time zone. A day has 23, 24 or 25 hours where clocks change, and need not begin at 0:00: in Santiago a day in
 * September begins at 1:00.
 */

/** Accepts dates that exist, in the years that both databases support. */
export const isDay = (text: string) =>
  /^[1-9]\d{3}-\d\d-\d\d$/.test(text) &&
  // JavaScript parses 31 February as a day in March.
  new Date(`${text}T00:00:00Z`).getUTCDate() === Number(text.slice(8));

/** Whether this is a time zone of the IANA database, such as `Europe/Berlin`. An offset such as `+01:00` is not. */
export function isTimeZone(text: string): boolean {
  try {
    return /^[a-z]/i.test(text) && formatOf(text) !== undefined;
  } catch {
    return false;
  }
}

/** The day at a time, in milliseconds. */
export function dayAt(time: number, timeZone: string): string {
  if (timeZone === 'UTC') return new Date(time).toISOString().slice(0, 10);
  // `11/15/2026`. `formatToParts` takes twice as long.
  const text = formatOf(timeZone).format(time);
  return `${text.slice(6)}-${text.slice(0, 2)}-${text.slice(3, 5)}`;
}

/** The first instant of a day, in UTC. Of a day that a change of the calendar has skipped, that of the next day. */
export function startOfDay(day: string, timeZone: string): string {
  if (timeZone === 'UTC') return `${day}T00:00:00.000Z`;
  const name = `${timeZone} ${day}`;
  const cached = starts.get(name);
  if (cached !== undefined) return cached;
  const start = new Date(findStart(day, timeZone)).toISOString();
  if (starts.size >= maxCached) starts.clear();
  starts.set(name, start);
  return start;
}

const maxCached = 2000;
const starts = new Map<string, string>();

/** The offset of the last result for each time zone, which is usually that of the next one too. */
const offsets = new Map<string, number>();

/** More than the largest offset of any time zone. */
const maxOffset = 16 * 3_600_000;

function findStart(day: string, timeZone: string): number {
  const midnight = Date.parse(day);
  const hasBegun = (time: number) => dayAt(time, timeZone) >= day;
  let start = midnight - (offsets.get(timeZone) ?? 0);
  if (!hasBegun(start) || hasBegun(start - 1000)) {
    // Offsets are whole seconds.
    let [before, after] = [(midnight - maxOffset) / 1000, (midnight + maxOffset) / 1000];
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (hasBegun(middle * 1000)) after = middle;
      else before = middle;
    }
    start = after * 1000;
  }
  offsets.set(timeZone, midnight - start);
  return start;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Creating a format takes much longer than using it. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      calendar: 'gregory',
      numberingSystem: 'latn',
      timeZone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    });
    formats.set(timeZone, format);
  }
  return format;
}
