import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { daysLater } from '../../../core/clock.ts';
import { invalidParameter } from '../../../core/errors.ts';
import { Day, OneOf, OrNull, Strict } from '../../../core/schemas.ts';
import type { Tables } from '../../../database/tables.ts';
import { always, from } from '../../../lists/filters.ts';
import type { RowsQuery } from '../../../lists/list.ts';
import { unassessedPrefix } from '../ranking.ts';
import { endOf, isDefault, type Register } from '../register.ts';
import { Count, levels } from '../schema.ts';
import { levelOf } from '../scoring.ts';
import { cells, countedRows, countPrefixes } from '../summaries.ts';
import { changedSince, dependsOnDay, inProjects, projectsArchivedSince } from './versions.ts';

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
  if (dependsOnDay(register)) return trendPoints(days, [await countEachDay(db, register, days)]);
  const changedProjects = await projectsArchivedSince(db, register, period.from);
  const unchanged = await replayVersions(db, register, days, changedProjects);
  if (changedProjects.length === 0) return trendPoints(days, [unchanged]);
  const changed = await countEachDay(db, register, days, inProjects(changedProjects, true));
  return trendPoints(days, [unchanged, changed]);
}

/** For each level: the number of risks and the sum of their scores. */
type Totals = Map<string | null, { count: number; sum: number }>;
type Exposure = Totals[];

function addTotals(totals: Totals, level: string | null, count: number, sum: number): void {
  const before = totals.get(level) ?? { count: 0, sum: 0 };
  totals.set(level, { count: before.count + count, sum: before.sum + sum });
}

/**
 * Counts all days from the current totals backwards: a version that began after a day is subtracted, and a version that was
 * replaced after it is added. So only the versions that changed since the first day are read.
 */
async function replayVersions(
  db: Kysely<Tables>,
  register: Register,
  days: readonly string[],
  excluded: readonly string[],
): Promise<Exposure> {
  const [first = '', last] = [days[0], days.at(-1)];
  const within = inProjects(excluded, false);
  const past = countedRows(db, { ...register, as_of: last }, 'past_risks').where(within);
  const replaced = past.where(from('risks.valid_until')(endOf(first)));
  const changes = await countChanges(replaced, first, sql`substr(risks.valid_until, 1, 10)`);
  for (const isChanged of changedSince(first)) {
    const rows = countedRows(db, register).where(within).where(isChanged);
    changes.push(...(await countChanges(rows, first, sql.lit(null))));
  }
  changes.sort((a, b) => (a.day < b.day ? 1 : -1));
  const totals = await countCurrent(db, register, excluded);
  let next = 0;
  const exposure = days.toReversed().map((day) => {
    for (; (changes[next]?.day ?? '') > day; next++) {
      const { level, count, sum } = changes[next] as (typeof changes)[number];
      addTotals(totals, level, -count, -sum);
    }
    return new Map(totals);
  });
  return exposure.reverse();
}

/** Counts the versions that began and ended on each day after the first one. */
async function countChanges(rows: RowsQuery, first: string, ended: RawBuilder<string | null>) {
  const began = sql<string>`case when risks.updated_at >= ${sql.lit(endOf(first))}
    then substr(risks.updated_at, 1, 10) end`;
  const counted = await countLevels(
    rows.select([began.as('began'), ended.as('ended')]).groupBy(sql`began, ended`),
  );
  return counted.flatMap(({ began, ended, level, count, sum }) => [
    ...(began ? [{ day: began, level, count, sum }] : []),
    ...(ended ? [{ day: ended, level, count: -count, sum: -sum }] : []),
  ]);
}

async function countLevels(rows: RowsQuery) {
  const counted = await rows
    .select([sql`risks.level`.as('level'), sql`count(*)`.as('count'), sql`sum(risks.score)`.as('sum')])
    .groupBy(sql`risks.level`)
    .execute();
  return counted.map((row) => ({ ...row, sum: row.sum ?? 0 })) as {
    began?: string | null;
    ended?: string | null;
    level: string | null;
    count: number;
    sum: number;
  }[];
}

/** The totals of the current register without some projects. Those of the default register come from its index. */
async function countCurrent(
  db: Kysely<Tables>,
  register: Register,
  excluded: readonly string[],
): Promise<Totals> {
  const totals: Totals = new Map();
  const add = async (rows: RowsQuery, sign: number) => {
    for (const { level, count, sum } of await countLevels(rows)) {
      addTotals(totals, level, sign * count, sign * sum);
    }
  };
  if (!isDefault(register)) {
    await add(countedRows(db, register).where(inProjects(excluded, false)), 1);
    return totals;
  }
  const counts = await countPrefixes(db, [unassessedPrefix, ...cells.map(({ prefix }) => prefix)]);
  for (const { score, prefix } of cells) {
    const count = counts.get(prefix) ?? 0;
    addTotals(totals, levelOf(score), count, count * score);
  }
  addTotals(totals, null, counts.get(unassessedPrefix) ?? 0, 0);
  if (excluded.length > 0) await add(countedRows(db, register).where(inProjects(excluded, true)), -1);
  return totals;
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
    const rows = await countLevels(countedRows(db, { ...register, as_of }).where(within));
    exposure.push(new Map(rows.map(({ level, count, sum }) => [level, { count, sum }])));
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
