import { type Kysely, type RawBuilder, sql } from 'kysely';
import { daysLater } from '../../core/clock.ts';
import { invalidParameter } from '../../core/errors.ts';
import type { Tables } from '../../database/tables.ts';
import { always, holds, isIn } from '../../lists/filters.ts';
import { type Check, checkConditions } from './checks.ts';
import { afterAllIds, cellPrefix, cellPrefixOf } from './ranking.ts';
import { momentIn, type Register, riskConditions, riskRows } from './register.ts';
import { checks, levels, type Risk, type RiskHeatmap, type RiskSummary, type RiskTrend } from './schema.ts';
import { levelOf, scoreOf } from './scoring.ts';

/** Counts of a register by what its entries have in common; most first where there is no order of its own. */
export async function summarizeRisks(db: Kysely<Tables>, register: Register): Promise<RiskSummary> {
  const groups = await countGroups(db, register);
  const sumOf = (what: 'count' | Check) => groups.reduce((sum, group) => sum + group[what], 0);
  const byLevel = addUp(groups, 'level');
  return {
    total: sumOf('count'),
    unassessed: sumOf('unassessed'),
    by_level: [...levels].reverse().map(({ level }) => ({ level, count: byLevel.get(level) ?? 0 })),
    by_status: maxFirst(addUp(groups, 'status')).map(([status, count]) => ({ status, count })),
    by_category: maxFirst(addUp(groups, 'category')).map(([category, count]) => ({ category, count })),
    by_project: await countBy(db, register, {
      project_id: sql`projects.id`,
      project_key: sql`projects.key`,
      project_name: sql`projects.name`,
    }),
    by_owner: await countBy(db, register, {
      owner_user_id: sql`risks.owner_user_id`,
      owner_group_id: sql`risks.owner_group_id`,
      owner_name: sql`coalesce(owner.name, owner_group.name)`,
    }),
    by_check: checks.map((check) => ({ check, count: sumOf(check) })),
  };
}

type Group = Pick<Risk, 'level' | 'status' | 'category'> & Record<'count' | Check, number>;

/** What has few different values is counted in one pass, and added up from there. */
async function countGroups(db: Kysely<Tables>, register: Register): Promise<Group[]> {
  const conditions = checkConditions(momentIn(register));
  const shared = ['level', 'status', 'category'].map((column) => sql.ref(`risks.${column}`));
  const rows = await rowsOf(db, register)
    .select(['risks.level', 'risks.status', 'risks.category', sql<number>`count(*)`.as('count')])
    .select(checks.map((check) => sql<number>`count(case when ${conditions[check]} then 1 end)`.as(check)))
    .groupBy(shared)
    .execute();
  return rows as Group[];
}

function addUp<Field extends 'level' | 'status' | 'category'>(groups: Group[], field: Field) {
  const counts = new Map<Group[Field], number>();
  for (const group of groups) counts.set(group[field], (counts.get(group[field]) ?? 0) + group.count);
  return counts;
}

/** As the database orders them: texts by their bytes, none last. */
const maxFirst = <Value extends string | null>(counts: Map<Value, number>) =>
  [...counts].sort(([a, countOfA], [b, countOfB]) => {
    if (countOfA !== countOfB || a === null || b === null) {
      return countOfB - countOfA || Number(a === null) - Number(b === null);
    }
    return Buffer.compare(Buffer.from(a), Buffer.from(b));
  });

/** The 25 cells of probability and impact, each with its count and the first of its risks. */
export async function getRiskHeatmap(db: Kysely<Tables>, register: Register): Promise<RiskHeatmap> {
  const counts = await countBy(db, register, { cell: cellPrefixOf });
  const cells: RiskHeatmap = [];
  for (let probability = 5; probability >= 1; probability--) {
    for (let impact = 1; impact <= 5; impact++) {
      const cell = cellPrefix(probability, impact);
      const count = counts.find((row) => row.cell === cell)?.count ?? 0;
      cells.push({
        probability,
        impact,
        level: levelOf(scoreOf(probability, impact)),
        count,
        top: count > 0 ? await topOfCell(db, register, cell) : [],
      });
    }
  }
  return cells;
}

type Period = { from: string; to: string; interval: 'day' | 'week' };

/** The exposure at the end of each day, or of each seventh, from one day to another. */
export async function getRiskTrend(
  db: Kysely<Tables>,
  register: Register,
  period: Period,
): Promise<RiskTrend> {
  const days = daysOf(period);
  const { filters } = register;
  // What is overdue or expiring differs from day to day, so each day must be looked at by itself.
  if (filters.review_overdue !== undefined || filters.check !== undefined) {
    return pointsOf(days, [await lookAtEachDay(db, register, days)]);
  }
  const moving = filters.archived === 'any' ? [] : await projectsArchivedWithin(db, period);
  const within = (wanted: boolean) => (moving.length === 0 ? always() : inProjects(moving, wanted));
  const steady = await addUpVersions(db, { ...register, as_of: period.to }, days, within(false));
  if (moving.length === 0) return pointsOf(days, [steady]);
  return pointsOf(days, [steady, await lookAtEachDay(db, register, days, within(true))]);
}

/** For each day, how many risks are of each level, and the sum of their scores. */
type Exposure = Map<string | null, { count: number; sum: number }>[];

/** Counts each version of a risk in on the day it began, and out on the day another followed it: one pass for all days. */
async function addUpVersions(
  db: Kysely<Tables>,
  register: Register,
  days: string[],
  within: RawBuilder<boolean>,
): Promise<Exposure> {
  const matches = riskConditions(register);
  const changes = async (table: 'risks' | 'past_risks', at: string, sign: number) => {
    const day = sql<string>`substr(${sql.ref(`risks.${at}`)}, 1, 10)`;
    const rows = await riskRows(db, undefined, table)
      .where(matches)
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
  const all = [
    ...(await changes('risks', 'updated_at', 1)),
    ...(await changes('past_risks', 'updated_at', 1)),
    ...(await changes('past_risks', 'valid_until', -1)),
  ].sort((a, b) => (a.day < b.day ? -1 : 1));
  const levelsSoFar: Exposure[number] = new Map();
  let next = 0;
  return days.map((day) => {
    for (; (all[next]?.day ?? '~') <= day; next++) {
      const { level, count, sum } = all[next] as (typeof all)[number];
      const before = levelsSoFar.get(level) ?? { count: 0, sum: 0 };
      levelsSoFar.set(level, { count: before.count + count, sum: before.sum + sum });
    }
    return new Map(levelsSoFar);
  });
}

/** The register of each day, counted by itself. */
async function lookAtEachDay(
  db: Kysely<Tables>,
  register: Register,
  days: string[],
  within = always(),
): Promise<Exposure> {
  const exposure: Exposure = [];
  for (const as_of of days) {
    const rows = await rowsOf(db, { ...register, as_of })
      .where(within)
      .select([sql`risks.level`.as('level'), sql`count(*)`.as('count'), sql`sum(risks.score)`.as('sum')])
      .groupBy(sql`risks.level`)
      .execute();
    exposure.push(new Map(rows.map(({ level, count, sum }) => [level, { count, sum: sum ?? 0 }])));
  }
  return exposure;
}

function pointsOf(days: string[], exposures: Exposure[]): RiskTrend {
  return days.map((day, i) => {
    const of = (level: string | null, what: 'count' | 'sum' = 'count') =>
      exposures.reduce((total, exposure) => total + (exposure[i]?.get(level)?.[what] ?? 0), 0);
    const [low, medium, high, critical] = [of('low'), of('medium'), of('high'), of('critical')];
    const assessed = low + medium + high + critical;
    const sum = levels.reduce((total, { level }) => total + of(level, 'sum'), 0);
    const average = assessed === 0 ? null : Math.round((sum / assessed) * 100) / 100;
    const unassessed = of(null);
    return { day, count: assessed + unassessed, low, medium, high, critical, unassessed, sum, average };
  });
}

/** Projects that went into the archive, or came back, after the first of these days. */
async function projectsArchivedWithin(db: Kysely<Tables>, { from, to }: Period): Promise<string[]> {
  const rows = await db
    .selectFrom('history')
    .select('subject_id')
    .distinct()
    // Of people, risks and issues there are many more entries than there are projects.
    .where('subject_id', 'in', (db) => db.selectFrom('projects').select('id'))
    .where('field', '=', 'archived_at')
    .where('at', '>=', from)
    .where('at', '<', daysLater(to, 1))
    .execute();
  return rows.map(({ subject_id }) => subject_id);
}

const inProjects = (ids: string[], wanted: boolean) =>
  holds(isIn('risks.project_id')(ids))(wanted) as RawBuilder<boolean>;

const maxPoints = 400;

function daysOf({ from, to, interval }: Period): string[] {
  if (from > to) throw invalidParameter('from', '`from` is after `to`.');
  const step = interval === 'week' ? 7 : 1;
  const days: string[] = [];
  // From the end backwards, so that the last day is always among them.
  for (let day = to; day >= from; day = daysLater(day, -step)) {
    days.unshift(day);
    if (days.length > maxPoints) {
      throw invalidParameter(
        'from',
        `A trend has ${maxPoints} points at most. Ask for fewer days, or for weeks.`,
      );
    }
  }
  return days;
}

const rowsOf = (db: Kysely<Tables>, register: Register) =>
  riskRows(db, register.as_of).where(riskConditions(register));

/** How many entries share these values, most first. */
async function countBy<Columns extends Record<string, RawBuilder<unknown>>>(
  db: Kysely<Tables>,
  register: Register,
  columns: Columns,
) {
  const groups = Object.entries(columns);
  const rows = await rowsOf(db, register)
    .select(groups.map(([name, value]) => value.as(name)))
    .select(sql<number>`count(*)`.as('count'))
    .groupBy(groups.map(([, value]) => value))
    .orderBy('count', 'desc')
    .orderBy(sql.join(groups.map(([, value]) => sql`${value} nulls last`)))
    .execute();
  // biome-ignore lint/suspicious/noExplicitAny: each column is what its expression gives
  return rows as ({ count: number } & { [Name in keyof Columns]: any })[];
}

async function topOfCell(db: Kysely<Tables>, register: Register, cell: string): Promise<string[]> {
  const rows = await rowsOf(db, register)
    .select(sql<string>`risks.id`.as('id'))
    .where(sql<boolean>`risks.rank_key >= ${cell} and risks.rank_key < ${cell + afterAllIds}`)
    .orderBy(sql`risks.rank_key`)
    .limit(3)
    .execute();
  return rows.map(({ id }) => id as string);
}
