import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { daysLater } from '../../core/clock.ts';
import { invalidParameter } from '../../core/errors.ts';
import { Day, OneOf, OrNull, Strict } from '../../core/schemas.ts';
import type { Tables } from '../../database/tables.ts';
import { always, holds, isIn } from '../../lists/filters.ts';
import type { Register } from './register.ts';
import { Count, levels } from './schema.ts';
import { countedRows } from './summaries.ts';

export const RiskTrend = Type.Array(
  Strict({
    day: Day(),
    count: Count,
    low: Count,
    medium: Count,
    high: Count,
    critical: Count,
    unassessed: Count,
    sum: Type.Integer({ description: 'The exposure: the sum of all scores.' }),
    average: OrNull(
      Type.Number({ description: 'The average score, rounded to two decimals; null without scores.' }),
    ),
  }),
  { $id: 'RiskTrend' },
);
export type RiskTrend = Static<typeof RiskTrend>;

export const trendPeriod = {
  from: Day({ description: 'Default: 90 days before `to`.' }),
  to: Day({ description: 'Default: today.' }),
  interval: OneOf(['day', 'week'], { default: 'day' }),
};

type Period = { from: string; to: string; interval: 'day' | 'week' };

/** Computes the exposure at the end of each day or week of a period. */
export async function getRiskTrend(
  db: Kysely<Tables>,
  register: Register,
  period: Period,
): Promise<RiskTrend> {
  const days = daysOf(period);
  const { filters } = register;
  // These filters depend on the day, so each day needs a query of its own.
  if (filters.review_overdue !== undefined || filters.check !== undefined) {
    return trendPoints(days, [await countEachDay(db, register, days)]);
  }
  const changedProjects = filters.archived === 'any' ? [] : await projectsArchivedWithin(db, period);
  const within = (isChanged: boolean) =>
    changedProjects.length === 0 ? always() : inProjects(changedProjects, isChanged);
  const unchanged = await countVersions(db, { ...register, as_of: period.to }, days, within(false));
  if (changedProjects.length === 0) return trendPoints(days, [unchanged]);
  return trendPoints(days, [unchanged, await countEachDay(db, register, days, within(true))]);
}

/** For each day: the number of risks of each level, and the sum of their scores. */
type Exposure = Map<string | null, { count: number; sum: number }>[];

/**
 * Counts all days in one pass: adds a version of a risk on the day it begins, and subtracts it on the day the next version
 * replaces it.
 */
async function countVersions(
  db: Kysely<Tables>,
  register: Register,
  days: string[],
  within: RawBuilder<boolean>,
): Promise<Exposure> {
  const changes = async (table: 'risks' | 'past_risks', at: string, sign: number) => {
    const day = sql<string>`substr(${sql.ref(`risks.${at}`)}, 1, 10)`;
    const rows = await countedRows(db, register, table)
      .where(within)
      .select([
        day.as('day'),
        sql`risks.level`.as('level'),
        sql`count(*)`.as('count'),
        sql`sum(risks.score)`.as('sum'),
      ])
      .groupBy([day, sql`risks.level`])
      .execute();
    return rows.map(({ day, level, count, sum }) => ({
      day,
      level,
      count: sign * count,
      sum: sign * (sum ?? 0),
    }));
  };
  const sortedChanges = [
    ...(await changes('risks', 'updated_at', 1)),
    ...(await changes('past_risks', 'updated_at', 1)),
    ...(await changes('past_risks', 'valid_until', -1)),
  ].sort((a, b) => (a.day < b.day ? -1 : 1));
  const runningTotals: Exposure[number] = new Map();
  let next = 0;
  return days.map((day) => {
    for (; (sortedChanges[next]?.day ?? '~') <= day; next++) {
      const { level, count, sum } = sortedChanges[next] as (typeof sortedChanges)[number];
      const before = runningTotals.get(level) ?? { count: 0, sum: 0 };
      runningTotals.set(level, { count: before.count + count, sum: before.sum + sum });
    }
    return new Map(runningTotals);
  });
}

/** Counts the register of each day with a query of its own. */
async function countEachDay(
  db: Kysely<Tables>,
  register: Register,
  days: string[],
  within = always(),
): Promise<Exposure> {
  const exposure: Exposure = [];
  for (const as_of of days) {
    const rows = await countedRows(db, { ...register, as_of })
      .where(within)
      .select([sql`risks.level`.as('level'), sql`count(*)`.as('count'), sql`sum(risks.score)`.as('sum')])
      .groupBy(sql`risks.level`)
      .execute();
    exposure.push(new Map(rows.map(({ level, count, sum }) => [level, { count, sum: sum ?? 0 }])));
  }
  return exposure;
}

function trendPoints(days: string[], exposures: Exposure[]): RiskTrend {
  return days.map((day, i) => {
    const total = (level: string | null, field: 'count' | 'sum' = 'count') =>
      exposures.reduce((sum, exposure) => sum + (exposure[i]?.get(level)?.[field] ?? 0), 0);
    const [low, medium, high, critical] = [total('low'), total('medium'), total('high'), total('critical')];
    const assessed = low + medium + high + critical;
    const sum = levels.reduce((sum, { level }) => sum + total(level, 'sum'), 0);
    const average = assessed === 0 ? null : Math.round((sum / assessed) * 100) / 100;
    const unassessed = total(null);
    return { day, count: assessed + unassessed, low, medium, high, critical, unassessed, sum, average };
  });
}

/** Finds the projects that were archived or unarchived within the period. */
async function projectsArchivedWithin(db: Kysely<Tables>, { from, to }: Period): Promise<string[]> {
  const rows = await db
    .selectFrom('history')
    .select('subject_id')
    .distinct()
    // Narrow by project first: most history entries belong to people, risks and issues.
    .where('subject_id', 'in', (db) => db.selectFrom('projects').select('id'))
    .where('field', '=', 'archived_at')
    .where('at', '>=', from)
    .where('at', '<', daysLater(to, 1))
    .execute();
  return rows.map(({ subject_id }) => subject_id);
}

const inProjects = (ids: string[], isIncluded: boolean) =>
  holds(isIn('risks.project_id')(ids))(isIncluded) as RawBuilder<boolean>;

const maxPoints = 400;

function daysOf({ from, to, interval }: Period): string[] {
  if (from > to) throw invalidParameter('from', '`from` is after `to`. Swap or change them.');
  const step = interval === 'week' ? 7 : 1;
  const days: string[] = [];
  // Counts back from the end, so that the last day is always included.
  for (let day = to; day >= from; day = daysLater(day, -step)) {
    days.unshift(day);
    if (days.length > maxPoints) {
      throw invalidParameter(
        'from',
        `A trend has at most ${maxPoints} points. Request a shorter period or \`interval=week\`.`,
      );
    }
  }
  return days;
}
