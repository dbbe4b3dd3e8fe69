/** The time of one request or transaction, read once so that all its decisions agree. */
export type Moment = {
  /** RFC 3339, UTC, milliseconds: `2026-11-15T09:30:00.000Z`. */
  now: string;
  /** The UTC day of `now`. */
  today: string;
};

export type Clock = () => Moment;

let latest = { time: 0, moment: momentOf(new Date(0)) };

/** Caches the formatted time, because formatting is slow and many requests arrive within one millisecond. */
export const systemClock: Clock = () => {
  const time = Date.now();
  if (time !== latest.time) latest = { time, moment: momentOf(new Date(time)) };
  return latest.moment;
};

export function momentOf(date: Date): Moment {
  const now = date.toISOString();
  return { now, today: now.slice(0, 10) };
}

/** Caches a result that depends only on the day. */
export function daily<Result>(create: (moment: Moment) => Result): (moment: Moment) => Result {
  let cached: { today: string; result: Result } | undefined;
  return (moment) => {
    if (cached?.today !== moment.today) cached = { today: moment.today, result: create(moment) };
    return cached.result;
  };
}

/** Adds days to a date; negative numbers go back. */
export const daysLater = (day: string, days: number) =>
  new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);
