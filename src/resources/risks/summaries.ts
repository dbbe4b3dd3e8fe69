import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { Count, Id, Line, OneOf, OrNull, Rating, Strict } from '../../core/schemas.ts';
import { jsonItems, notIndexed } from '../../database/sql/functions.ts';
import type { RowsQuery } from '../../lists/list.ts';
import type { Tables } from '../../store/tables.ts';
import {
  endOfRegister,
  isDefault,
  momentOfRegister,
  type Register,
  registerRows,
  riskConditions,
  riskRows,
  storedRisks,
} from './register.ts';
import { type Check, checkConditions } from './rules/checks.ts';
import { afterAllIds, cellPrefix, cellPrefixOf } from './rules/ranking.ts';
import { levelOf, scoreOf } from './rules/scoring.ts';
import { checks, Level, levels, riskStatuses } from './schema.ts';

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

/**
 * Counts the risks of a register by their fields. Groups without an order of their own come largest first. Values that are
 * known before are counted in one pass without grouping, for which SQLite would sort all rows; names are joined to counts,
 * not to risks.
 */
export async function summarizeRisks(db: Kysely<Tables>, register: Register): Promise<RiskSummary> {
  const owners = await countOwners(db, register);
  const groups = await countProjectsAndCategories(db, register);
  const projects = new Map(groups.map((group) => [group.id, group]));
  const counts = { ...(await countKnownValues(db, register)), ...ownerChecks(owners) };
  return {
    total: counts.total,
    unassessed: counts.unassessed,
    by_level: [...levels].reverse().map(({ level }) => ({ level, count: counts[level] })),
    by_status: riskStatuses
      .map((status) => ({ status, count: counts[status] }))
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count || (a.status < b.status ? -1 : 1)),
    by_category: sumBy(groups, ({ category }) => category).map(([category, count]) => ({ category, count })),
    by_project: sumBy(groups, ({ id }) => id).map(([project_id, count]) => {
      const { key, name } = projects.get(project_id) ?? { key: '', name: '' };
      return { project_id, project_key: key, project_name: name, count };
    }),
    by_owner: owners.map(({ active, is_inactive, ...owner }) => owner),
    by_check: checks.map((check) => ({ check, count: counts[check] })),
  };
}

type KnownValue = 'total' | (typeof levels)[number]['level'] | (typeof riskStatuses)[number] | Check;

async function countKnownValues(db: Kysely<Tables>, register: Register): Promise<Record<KnownValue, number>> {
  const appetite = sql.ref('project.appetite');
  const { unowned, owner_inactive, ...conditions } = checkConditions(momentOfRegister(register), {
    appetite,
  });
  const counted = {
    ...Object.fromEntries(levels.map(({ level }) => [level, sql<boolean>`risks.level = ${sql.lit(level)}`])),
    ...Object.fromEntries(
      riskStatuses.map((status) => [status, sql<boolean>`risks.status = ${sql.lit(status)}`]),
    ),
    ...conditions,
  };
  return countedRows(db, register)
    .innerJoin('projects as project', 'project.id', 'risks.project_id')
    .select(sql<number>`count(*)`.as('total'))
    .select(
      Object.entries(counted).map(([name, condition]) =>
        sql<number>`count(case when ${condition} then 1 end)`.as(name),
      ),
    )
    .executeTakeFirstOrThrow() as Promise<Record<KnownValue, number>>;
}

/** The checks that depend only on the owner. They flag active risks. */
function ownerChecks(owners: Awaited<ReturnType<typeof countOwners>>) {
  const sumOf = (isFlagged: (owner: (typeof owners)[number]) => boolean) =>
    owners.filter(isFlagged).reduce((sum, { active }) => sum + active, 0);
  return {
    unowned: sumOf(({ owner_user_id, owner_group_id }) => owner_user_id === null && owner_group_id === null),
    owner_inactive: sumOf(({ is_inactive }) => is_inactive === 1),
  };
}

const countOwners = (db: Kysely<Tables>, register: Register) =>
  db
    .selectFrom(
      countBy(db, register, ['owner_user_id', 'owner_group_id'])
        .select(sql<number>`sum(risks.active)`.as('active'))
        .as('counted'),
    )
    .leftJoin('people as owner', 'owner.user_id', 'counted.owner_user_id')
    .leftJoin('groups as owner_group', 'owner_group.id', 'counted.owner_group_id')
    .select(['counted.owner_user_id', 'counted.owner_group_id'])
    .select(sql<string | null>`coalesce(owner.name, owner_group.name)`.as('owner_name'))
    .select(sql<number>`case owner.status when 'inactive' then 1 else 0 end`.as('is_inactive'))
    .select(['counted.count', 'counted.active'])
    .orderBy('counted.count', 'desc')
    .orderBy(sql`counted.owner_user_id nulls last, counted.owner_group_id nulls last`)
    .execute();

/** Counts by two fields at once, because each count reads all risks. */
const countProjectsAndCategories = (db: Kysely<Tables>, register: Register) =>
  db
    .selectFrom(countBy(db, register, ['project_id', 'category']).as('counted'))
    .innerJoin('projects', 'projects.id', 'counted.project_id')
    .select(['projects.id', 'projects.key', 'projects.name', 'counted.category', 'counted.count'])
    .execute();

/** Sums the counts of each value. Sorts like the database: largest count first, then texts by bytes, null last. */
function sumBy<Row extends { count: number }, Value extends string | null>(
  rows: Row[],
  pick: (row: Row) => Value,
) {
  const counts = new Map<Value, number>();
  for (const row of rows) counts.set(pick(row), (counts.get(pick(row)) ?? 0) + row.count);
  return [...counts].sort(([a, countOfA], [b, countOfB]) => {
    if (countOfA !== countOfB || a === null || b === null) {
      return countOfB - countOfA || Number(a === null) - Number(b === null);
    }
    return Buffer.compare(Buffer.from(a), Buffer.from(b));
  });
}

/** Counts the risks in each of the 25 cells of probability and impact, with the top risks of each cell. */
export async function getRiskHeatmap(db: Kysely<Tables>, register: Register): Promise<RiskHeatmap> {
  const counts = await countCells(db, register);
  const heatmap: RiskHeatmap = [];
  for (const { probability, impact, score, prefix } of cells) {
    const count = counts.get(prefix) ?? 0;
    const top = count > 0 ? await topOfCell(db, register, prefix) : [];
    heatmap.push({ probability, impact, level: levelOf(score), count, top });
  }
  return heatmap;
}

/** The cells of the heat map, row by row. */
export const cells = [5, 4, 3, 2, 1].flatMap((probability) =>
  [1, 2, 3, 4, 5].map((impact) => ({
    probability,
    impact,
    score: scoreOf(probability, impact) as number,
    prefix: cellPrefix(probability, impact),
  })),
);

/** Counts the risks by the prefix of their cell. */
async function countCells(db: Kysely<Tables>, register: Register): Promise<Map<string, number>> {
  if (isDefault(register))
    return countPrefixes(
      db,
      cells.map(({ prefix }) => prefix),
    );
  const rows = await countedRows(db, register)
    .select([cellPrefixOf.as('prefix'), sql<number>`count(*)`.as('count')])
    .groupBy(cellPrefixOf)
    .execute();
  return new Map(rows.map(({ prefix, count }) => [prefix, count]));
}

/** Counts the risks of the default register whose rank keys have these prefixes. */
export async function countPrefixes(
  db: Kysely<Tables>,
  prefixes: readonly string[],
): Promise<Map<string, number>> {
  const counts = await countRanges(
    db,
    prefixes.map((prefix) => ({ after: prefix, to: prefix + afterAllIds })),
  );
  return new Map(prefixes.map((prefix, i) => [prefix, counts[i] ?? 0]));
}

/**
 * Counts the risks of the default register in ranges of rank keys, without and with their last key. Reads only indexes:
 * counts all active risks and subtracts those of archived projects, which is faster than a look at the project of each risk.
 */
export async function countRanges(
  db: Kysely<Tables>,
  ranges: readonly { after: string; to: string }[],
): Promise<number[]> {
  const isInRange = sql`risks.active = 1
    and risks.rank_key > ranges.value ->> 'after' and risks.rank_key <= ranges.value ->> 'to'`;
  const { rows } = await sql<{ end: string; count: number }>`select ranges.value ->> 'to' as "end",
    (select count(*) from risks where ${isInRange})
    - (select coalesce(sum((select count(*) from risks where risks.project_id = projects.id and ${isInRange})), 0)
      from projects where archived_at is not null) as count
    from ${jsonItems(sql`${JSON.stringify(ranges)}`)} as ranges`.execute(db);
  const counts = new Map(rows.map(({ end, count }) => [end, Number(count)]));
  return ranges.map(({ to }) => counts.get(to) ?? 0);
}

type Counted<Column extends string> = { count: number } & Record<Column, string | null>;

/** Counts the risks of a register by the values of some columns, largest count first. */
const countBy = <Column extends string>(db: Kysely<Tables>, register: Register, columns: readonly Column[]) =>
  countedRows(db, register)
    .select(columns.map((column) => sql.ref(`risks.${column}`).as(column)))
    .select(sql<number>`count(*)`.as('count'))
    .groupBy(columns.map((column) => notIndexed(sql.ref(`risks.${column}`)))) as SelectQueryBuilder<
    Tables,
    never,
    Counted<Column>
  >;

async function topOfCell(db: Kysely<Tables>, register: Register, cell: string): Promise<string[]> {
  const rows = await registerRows(db, register)
    .select(sql<string>`risks.id`.as('id'))
    .where(sql<boolean>`risks.rank_key >= ${cell} and risks.rank_key < ${cell + afterAllIds}`)
    .orderBy(sql`risks.rank_key`)
    .limit(3)
    .execute();
  return rows.map(({ id }) => id as string);
}

/**
 * Selects the rows of a register to count them, now or in all versions of a table. A count reads most rows, so it reads
 * them in the order they are stored, and the matching projects once: the joins of a list take longer than counting.
 */
export function countedRows(
  db: Kysely<Tables>,
  register: Register,
  table?: 'risks' | 'past_risks',
): RowsQuery {
  const { archived, project_status, ...filters } = register.filters;
  const end = table ? undefined : endOfRegister(register);
  if (filters.check !== undefined || filters.above_appetite !== undefined)
    return riskRows(db, end, table).where(riskConditions(register));
  const ofProject = riskConditions({
    ...register,
    filters: { ...(archived && { archived }), ...(project_status && { project_status }) },
  });
  const project_id = notIndexed(sql.ref('risks.project_id'));
  // Past risks may belong to a project that has been deleted. Usually, few projects do not match.
  const isInProjects = register.as_of
    ? sql<boolean>`${project_id} in (select projects.id from projects where ${ofProject})`
    : sql<boolean>`${project_id} not in (select projects.id from projects where not ${ofProject})`;
  const ofRisk = riskConditions({ ...register, filters }, notIndexed(sql.ref('risks.active')));
  return db.selectFrom(storedRisks(end, table)).where(ofRisk).where(isInProjects) as RowsQuery;
}
