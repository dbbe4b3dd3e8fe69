import { dayAt, startOfDay } from './time-zones.ts';

/** The time of one request or transaction, read once so that all its decisions agree. */
export type Moment = {
  /** RFC 3339, UTC, milliseconds: `2026-11-15T09:30:00.000Z`. */
  now: string;
  /** The day of `now` in the time zone of the organization. */
  today: string;
  /** The time zone of the organization, which also divides the past into days. */
  time_zone: string;
};

export type Clock = () => Moment;

let latest = { time: 0, moment: momentOf(new Date(0)) };

/** In UTC. Caches the formatted time, because formatting is slow and many requests arrive within one millisecond. */
export const systemClock: Clock = () => {
  const time = Date.now();
  if (time !== latest.time) latest = { time, moment: momentOf(new Date(time)) };
  return latest.moment;
};

export function momentOf(date: Date, time_zone = 'UTC'): Moment {
  return { now: date.toISOString(), today: dayAt(date.getTime(), time_zone), time_zone };
}

/** The same clock with the day of another time zone, which is computed once a day. */
export function clockIn(time_zone: string, clock: Clock): Clock {
  let day = { today: '', start: '', end: '' };
  return () => {
    const { now } = clock();
    if (now < day.start || now >= day.end) {
      const today = dayAt(Date.parse(now), time_zone);
      day = { today, start: startOf(today, { time_zone }), end: endOf(today, { time_zone }) };
    }
    return { now, today: day.today, time_zone };
  };
}

/** Equal as long as conditions that depend on the day, or on where past days end, are the same. */
export const dayKey = ({ today, time_zone }: Moment) => `${today} ${time_zone}`;

/** Caches a result that depends only on the day. */
export function daily<Result>(create: (moment: Moment) => Result): (moment: Moment) => Result {
  let cached: { today: string; time_zone: string; result: Result } | undefined;
  return (moment) => {
    const { today, time_zone } = moment;
    if (cached?.today !== today || cached.time_zone !== time_zone)
      cached = { today, time_zone, result: create(moment) };
    return cached.result;
  };
}

/** Adds days to a date; negative numbers go back. */
export const daysLater = (day: string, days: number) =>
  new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);

type Zone = Pick<Moment, 'time_zone'>;

/** The first instant of the day. */
export const startOf = (day: string, { time_zone }: Zone) => startOfDay(day, time_zone);

/** The first instant after the day. */
export const endOf = (day: string, zone: Zone) => startOf(daysLater(day, 1), zone);
