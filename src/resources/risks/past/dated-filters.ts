import { type RawBuilder, sql } from 'kysely';
import { daysLater, endOf, type Moment } from '../../../core/clock.ts';
import { shiftedDay } from '../../../database/sql/functions.ts';
import type { RiskFilters } from '../register.ts';
import type { Check } from '../rules/checks.ts';
import { dayExpression } from './days.ts';

/** A condition that the same version of a risk fulfills from a day on. Null if there is no such day. */
type DatedCondition = { applies: RawBuilder<boolean>; from: RawBuilder<string | null> };

/** Filters by which the same version of a risk can match on one day and not on another. */
export type DatedFilters = {
  /** The filters without those by day. */
  filters: RiskFilters;
  applies: RawBuilder<boolean>[];
  /** A version matches from the latest of these days on. */
  from: RawBuilder<string | null>[];
  /** It matches before this day; null means no end. */
  until?: RawBuilder<string | null>;
};

/** Sorts after a day and before the next one. */
const afterDay = (day: RawBuilder<unknown>) => sql<string | null>`${day} || '~'`;

/**
 * The checks that depend on the day, as `checkConditions` in `rules/checks.ts` has them for one day. `days` are those that a
 * trend shows.
 */
function datedChecks(days: readonly string[], moment: Moment): Partial<Record<Check, DatedCondition>> {
  const isActive = sql<boolean>`risks.active = 1`;
  const staleAfter = 91;
  const changeDays = days.map((day) => daysLater(day, -staleAfter));
  const changedOn = dayExpression(changeDays, moment);
  return {
    review_overdue: { applies: isActive, from: afterDay(sql.ref('risks.review_on')) },
    due_overdue: { applies: isActive, from: afterDay(sql.ref('risks.due_on')) },
    acceptance_expiring: {
      applies: sql`risks.status = 'accepted'`,
      from: shiftedDay(sql.ref('risks.accepted_until'), sql.lit('-30 days')),
    },
    stale_90d: {
      // Few are stale on the last day: the day is computed for these only.
      applies: sql`(${isActive} and risks.updated_at < ${endOf(changeDays.at(-1) ?? '', moment)})`,
      from: shiftedDay(changedOn(sql.ref('risks.updated_at')), sql.lit(`${staleAfter} days`)),
    },
  };
}

/** Separates the filters that depend on the day, so that one query counts the matches of all days. */
export function splitByDay(
  { review_overdue, check = [], ...filters }: RiskFilters,
  days: readonly string[],
  moment: Moment,
): DatedFilters {
  const dated = datedChecks(days, moment);
  const conditions = check.flatMap((one) => dated[one] ?? []);
  const rest = check.filter((one) => !dated[one]);
  const review = dated.review_overdue as DatedCondition;
  if (review_overdue) conditions.push(review);
  return {
    filters: rest.length === 0 ? filters : { ...filters, check: rest },
    applies: conditions.flatMap(({ applies, from }) => [applies, sql<boolean>`${from} is not null`]),
    from: conditions.map(({ from }) => from),
    ...(review_overdue === false && {
      until: sql<string | null>`case when ${review.applies} then ${review.from} end`,
    }),
  };
}
