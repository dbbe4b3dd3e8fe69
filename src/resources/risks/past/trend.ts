import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { daysLater, endOf, type Moment } from '../../../core/clock.ts';
import { invalidParameter } from '../../../core/errors.ts';
import { Count, Day, OneOf, OrNull, Strict } from '../../../core/schemas.ts';
import { greatest, least } from '../../../database/sql/functions.ts';
import { always, atLeast } from '../../../lists/filters.ts';
import type { RowsQuery } from '../../../lists/list.ts';
import { readRiskModel, readRiskModels } from '../../../store/risk-model.ts';
import type { Tables } from '../../../store/tables.ts';
import { levels } from '../../risk-model/schema.ts';
import { countedRows, scannedRows } from '../counted-rows.ts';
import { isDefault, type Register } from '../register.ts';
import { unassessedPrefix } from '../rules/ranking.ts';
import { cellsOf, countPrefixes } from '../summaries.ts';
import { splitByDay } from './dated-filters.ts';
import { dayExpression } from './days.ts';
import { changedSince, inProjects, projectsArchivedSince } from './versions.ts';

const countByLevel = { very_low: Count, low: Count, medium: Count, high: Count, critical: Count };

export const RiskTrend = Type.Array(
  Strict({
    day: Day(),
    count: Count,
    ...countByLevel,
    unassessed: Count,
    sum: Type.Integer({ description: 'The exposure: the sum of all scores.' }),
    sum_by_level: Strict(countByLevel, { description: 'The exposure of each level.' }),
    average: OrNull(
      Type.Number({ description: 'The average score, rounded to two decimals; null without scores.' }),
    ),
    model_version: Type.Integer({
      minimum: 1,
      description:
        'The version of the risk model at the end of that day. Scores of different versions are not rescaled.',
    }),
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
  const models = await readRiskModels(db);
  const trendPoints = (exposures: Exposure[]) => pointsOf(days, exposures, models, register.moment);
  const changedProjects = await projectsArchivedSince(db, register, period.from);
  const unchanged = await replayVersions(db, register, days, changedProjects);
  if (changedProjects.length === 0) return trendPoints([unchanged]);
  const changed = await countEachDay(db, register, days, inProjects(changedProjects, true));
  return trendPoints([unchanged, changed]);
}

/** For each level: the number of risks and the sum of their scores. */
type Totals = Map<string | null, { count: number; sum: number }>;
type Exposure = Totals[];

function addTotals(totals: Totals, level: string | null, count: number, sum: number): void {
  const before = totals.get(level) ?? { count: 0, sum: 0 };
  totals.set(level, { count: before.count + count, sum: before.sum + sum });
}

/**
 * Counts all days from the current totals backwards: a version that began to match after a day is subtracted, and a version
 * that ended after it is added. In the default register, only the versions that changed since the first day are read, unless most have.
 */
async function replayVersions(
  db: Kysely<Tables>,
  register: Register,
  days: readonly string[],
  excluded: readonly string[],
): Promise<Exposure> {
  const [first = '', last = ''] = [days[0], days.at(-1)];
  const dated = splitByDay(register.filters, days, register.moment);
  const undated = { ...register, filters: dated.filters };
  const within = sql<boolean>`(${sql.join([inProjects(excluded, false), ...dated.applies], sql` and `)})`;
  const past = countedRows(db, { ...undated, as_of: last }, 'past_risks').where(within);
  const dayOf = dayExpression(days, register.moment);
  const end = endOf(first, register.moment);
  const updated = sql<string>`case when risks.updated_at >= ${sql.lit(end)}
    then ${dayOf(sql.ref('risks.updated_at'))} else ${sql.lit(first)} end`;
  // Days after the period are one, so that there are not many groups.
  const never = sql.lit(`${last}~`);
  const began = dated.from.length === 0 ? updated : least(greatest(updated, ...dated.from), never);
  const endedBy = (day: RawBuilder<string | null>) =>
    dated.until ? least(orElse(day, never), greatest(orElse(dated.until, never), sql.lit(first))) : day;
  const isReplaced = atLeast('risks.valid_until')(end);
  const replacedOn = dayOf(sql.ref('risks.valid_until'));
  const replaced = await countVersions(past.where(isReplaced), began, endedBy(replacedOn));
  const readsChanges = isDefault(register) && !(await haveMostChanged(db, end));
  const rows = (readsChanges ? countedRows : scannedRows)(db, undated).where(within);
  const current: Versions[] = [];
  for (const isChanged of readsChanges ? changedSince(first, register.moment) : [always()])
    current.push(...(await countVersions(rows.where(isChanged), began, endedBy(sql.lit(null)))));
  const totals = readsChanges
    ? await countDefault(db, register, excluded)
    : sumLevels(current.filter(({ ended }) => ended === null));
  const changes = [...replaced, ...current]
    .filter(({ began, ended }) => ended === null || began < ended)
    .flatMap(({ began, ended, level, count, sum }) => [
      { day: began, level, count, sum },
      ...(ended ? [{ day: ended, level, count: -count, sum: -sum }] : []),
    ])
    .sort((a, b) => (a.day < b.day ? 1 : -1));
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

/** Whether so many risks have changed since a time that a scan of all of them takes less time than looking these up. */
async function haveMostChanged(db: Kysely<Tables>, time: string): Promise<boolean> {
  const count = (rows: RowsQuery) => rows.select(sql<number>`count(*)`.as('count'));
  const { rows } = await sql<{ changed: number; all: number }>`select
    (${count(db.selectFrom('risks').where('created_at', '>=', time))})
      + (${count(db.selectFrom('past_risks').where('valid_until', '>=', time))}) as changed,
    (select sum(active_risks) from projects) as "all"`.execute(db);
  return Number(rows[0]?.changed) > Number(rows[0]?.all) / 4;
}

const orElse = (day: RawBuilder<string | null>, otherwise: RawBuilder<string>) =>
  sql<string>`coalesce(${day}, ${otherwise})`;

/** The number of versions of a level, and the days on which they began and ended to match: the first day, or a later one. */
type Versions = LevelCount & { began: string; ended: string | null };
type LevelCount = { level: string | null; count: number; sum: number };

function countVersions(rows: RowsQuery, began: RawBuilder<string>, ended: RawBuilder<string | null>) {
  const days = rows.select([began.as('began'), ended.as('ended')]).groupBy(sql`began, ended`);
  return countLevels(days) as Promise<Versions[]>;
}

async function countLevels(rows: RowsQuery): Promise<LevelCount[]> {
  const counted = await rows
    .select([sql`risks.level`.as('level'), sql`count(*)`.as('count'), sql`sum(risks.score)`.as('sum')])
    .groupBy(sql`risks.level`)
    .execute();
  return counted.map((row) => ({ ...row, sum: row.sum ?? 0 }));
}

/** The totals of the default register without some projects, from its index. */
async function countDefault(
  db: Kysely<Tables>,
  register: Register,
  excluded: readonly string[],
): Promise<Totals> {
  const cells = cellsOf(await readRiskModel(db));
  const counts = await countPrefixes(db, [unassessedPrefix, ...cells.map(({ prefix }) => prefix)]);
  const totals = sumLevels(
    cells.map(({ score, level, prefix }) => {
      const count = counts.get(prefix) ?? 0;
      return { level, count, sum: count * score };
    }),
  );
  addTotals(totals, null, counts.get(unassessedPrefix) ?? 0, 0);
  if (excluded.length === 0) return totals;
  const left = await countLevels(countedRows(db, register).where(inProjects(excluded, true)));
  for (const { level, count, sum } of left) addTotals(totals, level, -count, -sum);
  return totals;
}

function sumLevels(counts: readonly LevelCount[]): Totals {
  const totals: Totals = new Map();
  for (const { level, count, sum } of counts) addTotals(totals, level, count, sum);
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
    exposure.push(sumLevels(rows));
  }
  return exposure;
}

function pointsOf(
  days: string[],
  exposures: Exposure[],
  models: readonly { version: number; since: string }[],
  moment: Moment,
): RiskTrend {
  return days.map((day, i) => {
    const end = endOf(day, moment);
    const total = (level: string | null, field: 'count' | 'sum') =>
      exposures.reduce((sum, exposure) => sum + (exposure[i]?.get(level)?.[field] ?? 0), 0);
    const byLevel = (field: 'count' | 'sum') => ({
      very_low: total('very_low', field),
      low: total('low', field),
      medium: total('medium', field),
      high: total('high', field),
      critical: total('critical', field),
    });
    const sumOf = (totals: ReturnType<typeof byLevel>) =>
      levels.reduce((sum, level) => sum + totals[level], 0);
    const [counts, sum_by_level] = [byLevel('count'), byLevel('sum')];
    const [assessed, sum] = [sumOf(counts), sumOf(sum_by_level)];
    const average = assessed === 0 ? null : Math.round((sum / assessed) * 100) / 100;
    const unassessed = total(null, 'count');
    const model_version = models.findLast(({ since }) => since < end)?.version ?? 1;
    return {
      day,
      count: assessed + unassessed,
      ...counts,
      unassessed,
      sum,
      sum_by_level,
      average,
      model_version,
    };
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
