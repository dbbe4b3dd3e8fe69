import { type RawBuilder, sql } from 'kysely';
import { daysLater, endOf, type Moment } from '../../../core/clock.ts';
import { shiftedDay } from '../../../database/sql/functions.ts';

/**
 * Returns an expression for the day of a timestamp, precise enough to tell which of these days end before it: between two
 * days whose ends have different offsets from UTC, it is the later one.
 */
export function dayExpression(days: readonly string[], moment: Moment) {
  if (moment.time_zone === 'UTC') return (time: RawBuilder<unknown>) => sql<string>`substr(${time}, 1, 10)`;
  const ends = days.map((day) => {
    const end = endOf(day, moment);
    return { day, end, offset: (Date.parse(daysLater(day, 1)) - Date.parse(end)) / 1000 };
  });
  return (time: RawBuilder<unknown>) => {
    const dayWith = (offset = 0) => shiftedDay(time, sql.lit(`${offset} seconds`));
    const cases = ends.flatMap(({ day, end, offset }, i) => {
      const before = ends[i - 1];
      if (!before || before.offset === offset) return [];
      return [
        sql`when ${time} < ${sql.lit(before.end)} then ${dayWith(before.offset)}`,
        sql`when ${time} < ${sql.lit(end)} then ${sql.lit(day)}`,
      ];
    });
    const last = dayWith(ends.at(-1)?.offset);
    return cases.length === 0 ? last : sql<string>`case ${sql.join(cases, sql` `)} else ${last} end`;
  };
}
