/** The time of one request or one transaction: read once, so that all it decides agrees. */
export type Moment = {
  /** RFC 3339, UTC, milliseconds: `2026-11-15T09:30:00.000Z`. */
  now: string;
  /** The UTC day of `now`. */
  today: string;
};

export type Clock = () => Moment;

let latest = { time: 0, moment: momentOf(new Date(0)) };

/** To write it down takes longer than many other things that a request does, of which there are some in a millisecond. */
export const systemClock: Clock = () => {
  const time = Date.now();
  if (time !== latest.time) latest = { time, moment: momentOf(new Date(time)) };
  return latest.moment;
};

export function momentOf(date: Date): Moment {
  const now = date.toISOString();
  return { now, today: now.slice(0, 10) };
}

/** What is made of a moment's day alone, made once a day. */
export function daily<Result>(make: (moment: Moment) => Result): (moment: Moment) => Result {
  let made: { today: string; result: Result } | undefined;
  return (moment) => {
    if (made?.today !== moment.today) made = { today: moment.today, result: make(moment) };
    return made.result;
  };
}

/** The day so many days later, or, if negative, earlier. */
export const daysLater = (day: string, days: number) =>
  new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);
