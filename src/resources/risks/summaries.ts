import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { Id, Line, OneOf, OrNull, Rating, Strict } from '../../core/schemas.ts';
import type { Tables } from '../../database/tables.ts';
import { type Check, checkConditions } from './checks.ts';
import { afterAllIds, cellPrefix, cellPrefixOf } from './ranking.ts';
import { momentOfRegister, type Register, registerRows } from './register.ts';
import { Count, checks, Level, levels, type Risk, riskStatuses } from './schema.ts';
import { levelOf, scoreOf } from './scoring.ts';

export const RiskSummary = Strict(
  {
    total: Count,
    unassessed: Count,
    by_level: Type.Array(Strict({ level: OneOf(levels.map(({ level }) => level)), count: Count })),
    by_status: Type.Array(Strict({ status: OneOf(riskStatuses), count: Count })),
    by_category: Type.Array(Strict({ category: OrNull(Line()), count: Count })),
    by_project: Type.Array(
      Strict({ project_id: Id('project'), project_key: Type.String(), project_name: Line(), count: Count }),
    ),
    by_owner: Type.Array(
      Strict({
        owner_user_id: OrNull(Id('person')),
        owner_group_id: OrNull(Id('group')),
        owner_name: OrNull(Line({ description: 'null for risks without an owner.' })),
        count: Count,
      }),
    ),
    by_check: Type.Array(Strict({ check: OneOf(checks), count: Count })),
  },
  { $id: 'RiskSummary' },
);
export type RiskSummary = Static<typeof RiskSummary>;

export const RiskHeatmap = Type.Array(
  Strict({
    probability: Rating(),
    impact: Rating(),
    level: Level,
    count: Count,
    top: Type.Array(Id('risk'), { description: 'The first three by rank.' }),
  }),
  { $id: 'RiskHeatmap', minItems: 25, maxItems: 25 },
);
export type RiskHeatmap = Static<typeof RiskHeatmap>;

/** Counts the risks of a register by their fields. Groups without an order of their own come largest first. */
export async function summarizeRisks(db: Kysely<Tables>, register: Register): Promise<RiskSummary> {
  const groups = await countGroups(db, register);
  const sumOf = (field: 'count' | Check) => groups.reduce((sum, group) => sum + group[field], 0);
  const byLevel = sumBy(groups, 'level');
  return {
    total: sumOf('count'),
    unassessed: sumOf('unassessed'),
    by_level: [...levels].reverse().map(({ level }) => ({ level, count: byLevel.get(level) ?? 0 })),
    by_status: largestFirst(sumBy(groups, 'status')).map(([status, count]) => ({ status, count })),
    by_category: largestFirst(sumBy(groups, 'category')).map(([category, count]) => ({ category, count })),
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

/** Counts by all fields with few distinct values in one query; the caller sums these counts for each field. */
async function countGroups(db: Kysely<Tables>, register: Register): Promise<Group[]> {
  const conditions = checkConditions(momentOfRegister(register));
  const columns = ['level', 'status', 'category'].map((column) => sql.ref(`risks.${column}`));
  const rows = await registerRows(db, register)
    .select(['risks.level', 'risks.status', 'risks.category', sql<number>`count(*)`.as('count')])
    .select(checks.map((check) => sql<number>`count(case when ${conditions[check]} then 1 end)`.as(check)))
    .groupBy(columns)
    .execute();
  return rows as Group[];
}

function sumBy<Field extends 'level' | 'status' | 'category'>(groups: Group[], field: Field) {
  const counts = new Map<Group[Field], number>();
  for (const group of groups) counts.set(group[field], (counts.get(group[field]) ?? 0) + group.count);
  return counts;
}

/** Sorts like the database: largest count first, then texts by bytes, null last. */
const largestFirst = <Value extends string | null>(counts: Map<Value, number>) =>
  [...counts].sort(([a, countOfA], [b, countOfB]) => {
    if (countOfA !== countOfB || a === null || b === null) {
      return countOfB - countOfA || Number(a === null) - Number(b === null);
    }
    return Buffer.compare(Buffer.from(a), Buffer.from(b));
  });

/** Counts the risks in each of the 25 cells of probability and impact, with the top risks of each cell. */
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

/** Counts the risks of a register by the values of some columns, largest count first. */
async function countBy<Columns extends Record<string, RawBuilder<unknown>>>(
  db: Kysely<Tables>,
  register: Register,
  columns: Columns,
) {
  const groups = Object.entries(columns);
  const rows = await registerRows(db, register)
    .select(groups.map(([name, value]) => value.as(name)))
    .select(sql<number>`count(*)`.as('count'))
    .groupBy(groups.map(([, value]) => value))
    .orderBy('count', 'desc')
    .orderBy(sql.join(groups.map(([, value]) => sql`${value} nulls last`)))
    .execute();
  // biome-ignore lint/suspicious/noExplicitAny: the type of each column depends on its expression
  return rows as ({ count: number } & { [Name in keyof Columns]: any })[];
}

async function topOfCell(db: Kysely<Tables>, register: Register, cell: string): Promise<string[]> {
  const rows = await registerRows(db, register)
    .select(sql<string>`risks.id`.as('id'))
    .where(sql<boolean>`risks.rank_key >= ${cell} and risks.rank_key < ${cell + afterAllIds}`)
    .orderBy(sql`risks.rank_key`)
    .limit(3)
    .execute();
  return rows.map(({ id }) => id as string);
}
