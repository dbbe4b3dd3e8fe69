import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import type { Moment } from '../../core/clock.ts';
import { Count, Id, Line, OneOf, OrNull, Rating, Strict } from '../../core/schemas.ts';
import { inJsonArray, jsonItems } from '../../database/sql/functions.ts';
import { isInactive } from '../../lists/filters.ts';
import { type Model, readRiskModel, readRiskModelBefore } from '../../store/risk-model.ts';
import type { Tables } from '../../store/tables.ts';
import {
  type LargestGroups,
  ownerKey,
  ownerOf,
  type SummedCounts,
  sumCounts,
} from '../project-items/counts/groups.ts';
import type { SummarySnapshot } from '../project-items/counts/kept-counts.ts';
import { countMatching, tallyMatching } from '../project-items/counts/matching.ts';
import { readOwnerNames, readProjectNames } from '../project-items/counts/names.ts';
import type { Countable } from '../project-items/counts/project-counts.ts';
import { boundArrays } from '../project-items/counts/summary-size.ts';
import { ignoresStatusIndex, isNarrow } from '../project-items/order.ts';
import { Rest } from '../project-items/schema.ts';
import { type LevelId, levels, maxScore, minRatings } from '../risk-model/schema.ts';
import { scannedParts, scannedRows } from './counted-rows.ts';
import {
  endOfRegister,
  isDefault,
  momentOfRegister,
  type Register,
  registerRows,
  riskConditions,
} from './register.ts';
import { type Check, checkConditions } from './rules/checks.ts';
import { afterAllIds, cellPrefix, cellPrefixOf } from './rules/ranking.ts';
import { checks, Level, riskStatuses } from './schema.ts';

export const RiskSummary = Strict(
  {
    total: Count,
    unassessed: Count,
    by_level: Type.Array(Strict({ level: OneOf(levels), count: Count })),
    by_status: Type.Array(Strict({ status: OneOf(riskStatuses), count: Count })),
    by_category: Type.Array(Strict({ category: OrNull(Line()), count: Count })),
    by_category_rest: Rest,
    by_project: Type.Array(
      Strict({ project_id: Id('project'), project_key: Type.String(), project_name: Line(), count: Count }),
    ),
    by_project_rest: Rest,
    by_owner: Type.Array(
      Strict({
        owner_user_id: OrNull(Id('person')),
        owner_group_id: OrNull(Id('group')),
        owner_name: OrNull(Line({ description: 'null for risks without an owner.' })),
        count: Count,
      }),
    ),
    by_owner_rest: Rest,
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
  { $id: 'RiskHeatmap', minItems: minRatings ** 2, maxItems: maxScore },
);
export type RiskHeatmap = Static<typeof RiskHeatmap>;

/** Counts the risks of a register by their fields. Groups without an order of their own come largest first. */
export async function summarizeRisks(
  snapshot: SummarySnapshot,
  register: Register,
  top: number,
  shownFilters: unknown,
): Promise<RiskSummary> {
  const { db } = snapshot;
  const { numbers, projects, owners, categories } =
    (await sumKept(snapshot, register, top)) ?? (await countRisks(db, register, top));
  const model = await modelOf(db, register);
  const keys = await readProjectNames(db, projects.shown);
  const names = await readOwnerNames(db, owners.shown);
  const arrays = boundArrays(shownFilters, {
    by_category: { of: categories, rows: categories.shown.map(({ id, count }) => ({ category: id, count })) },
    by_project: { of: projects, rows: projects.shown.map(({ id, count }) => ({ ...keys(id), count })) },
    by_owner: {
      of: owners,
      rows: owners.shown.map(({ id, count }) => ({ ...ownerOf(id), owner_name: names(id), count })),
    },
  });
  return {
    total: numbers.total,
    unassessed: numbers.unassessed,
    // `very_low` only if the model has it, or had it on that day.
    by_level: levels
      .toReversed()
      .map((level) => ({ level, count: numbers[level] }))
      .filter(({ level, count }) => count > 0 || model.levels.some((one) => one.level === level)),
    by_status: riskStatuses
      .map((status) => ({ status, count: numbers[status] }))
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count || (a.status < b.status ? -1 : 1)),
    by_category: arrays.by_category,
    by_category_rest: arrays.by_category_rest,
    by_project: arrays.by_project,
    by_project_rest: arrays.by_project_rest,
    by_owner: arrays.by_owner,
    by_owner_rest: arrays.by_owner_rest,
    by_check: checks.map((check) => ({ check, count: numbers[check] })),
  };
}

type KnownValue = 'total' | LevelId | (typeof riskStatuses)[number] | Check;

type RiskCounts = {
  numbers: Record<KnownValue, number>;
  projects: LargestGroups;
  owners: LargestGroups;
  categories: LargestGroups;
};

/** What is counted without grouping, for which SQLite would sort all rows. `owner_inactive` needs the owners. */
function countedConditions(
  moment: Moment,
  appetite = sql.ref('project.appetite'),
): Record<string, RawBuilder<boolean>> {
  const { owner_inactive, ...conditions } = checkConditions(moment, { appetite });
  return {
    ...Object.fromEntries(levels.map((level) => [level, sql<boolean>`risks.level = ${sql.lit(level)}`])),
    ...Object.fromEntries(
      riskStatuses.map((status) => [status, sql<boolean>`risks.status = ${sql.lit(status)}`]),
    ),
    ...conditions,
  };
}

const owner = ownerKey('risks');
const category = sql.ref<string | null>('risks.category');

/** What is kept of each project. */
export const countableRisks: Countable = {
  table: 'risks',
  kind: 'risk',
  isCounted: sql`risks.active = 1`,
  counter: 'active_risks',
  conditions: countedConditions,
  holder: owner,
  countsInactive: true,
  value: category,
};

/** Whether the kept counts have all that a summary needs: those of active risks, of any projects. */
export function isKept({ filters, as_of }: Register): boolean {
  const { project, project_status, archived, status, ...others } = filters;
  return as_of === undefined && String(status) === 'active' && Object.keys(others).length === 0;
}

/** Whether a summary may be the kept counts without those of active risks that other filters leave out. */
export const canSubtract = ({ filters, as_of }: Register): boolean =>
  as_of === undefined &&
  String(filters.status) === 'active' &&
  !isNarrow(filters) &&
  !ignoresStatusIndex(filters);

async function sumKept(
  snapshot: SummarySnapshot,
  register: Register,
  top: number,
): Promise<RiskCounts | undefined> {
  const { moment, filters } = register;
  const { project, project_status, archived, status, ...others } = filters;
  const ofProjects = {
    ...(project && { project }),
    ...(project_status && { project_status }),
    ...(archived && { archived }),
  };
  const conditions = countedConditions(moment);
  const all = { ...ofProjects, ...(status && { status }) };
  const isLeftOut = sql<boolean>`${riskConditions({ moment, filters: others })} is not true`;
  const rows = scannedRows(snapshot.db, { moment, filters: all });
  const leftOut = {
    async areFew(sample: readonly string[]) {
      const { read, left_out } = await rows
        .select([
          sql<number>`count(*)`.as('read'),
          sql<number>`count(case when ${isLeftOut} then 1 end)`.as('left_out'),
        ])
        .where(inJsonArray(sql.ref('projects.id'), sample))
        .$castTo<{ read: number; left_out: number }>()
        .executeTakeFirstOrThrow();
      return left_out < read / 2;
    },
    tally: () =>
      tallyMatching(snapshot.db, {
        countable: countableRisks,
        conditions: Object.values(countedConditions(moment, sql.ref('projects.appetite'))),
        parts: [rows.where(isLeftOut)],
        projects: all,
      }),
  };
  const hasOthers = Object.keys(others).length > 0;
  const sums = await sumCounts(snapshot, moment, ofProjects, top, hasOthers ? leftOut : undefined);
  return sums && namedCounts(sums, Object.keys(conditions));
}

function namedCounts(sums: SummedCounts, conditions: readonly string[]): RiskCounts {
  const { numbers, inactive, projects, holders, values } = sums;
  const named = Object.fromEntries(['total', ...conditions].map((name, i) => [name, numbers[i] ?? 0]));
  return {
    numbers: { owner_inactive: inactive, ...named } as RiskCounts['numbers'],
    projects,
    owners: holders,
    categories: values,
  };
}

async function countRisks(db: Kysely<Tables>, register: Register, top: number): Promise<RiskCounts> {
  const { filters, as_of } = register;
  const { archived, ...others } = filters;
  const isInactiveOwner = sql<boolean>`(risks.active = 1 and ${isInactive('risks.owner_user_id')})`;
  const conditions = {
    ...countedConditions(momentOfRegister(register), sql.ref('projects.appetite')),
    // Otherwise it follows from the counts of the owners, which takes less time.
    ...(String(filters.status) !== 'active' && { owner_inactive: isInactiveOwner }),
  };
  const sums = await countMatching(
    db,
    {
      countable: countableRisks,
      conditions: Object.values(conditions),
      parts: scannedParts(db, register),
      // Other projects may have been archived then.
      projects: isNarrow(filters) || ignoresStatusIndex(filters) ? undefined : as_of ? others : filters,
    },
    top,
  );
  return namedCounts(sums, Object.keys(conditions));
}

/** The model that the ratings of a register belong to. */
const modelOf = (db: Kysely<Tables>, register: Register): Promise<Model> => {
  const end = endOfRegister(register);
  return end === undefined ? readRiskModel(db) : readRiskModelBefore(db, end);
};

/** Counts the risks in each cell of probability and impact, with the top risks of each cell. */
export async function getRiskHeatmap(db: Kysely<Tables>, register: Register): Promise<RiskHeatmap> {
  const cells = cellsOf(await modelOf(db, register));
  const counts = await countCells(db, register, cells);
  const { filters, as_of } = register;
  const isSorted = as_of || filters.check || sum([...counts.values()]) <= maxRowsToSort;
  const few = isSorted ? await topOfCells(db, register) : undefined;
  const heatmap: RiskHeatmap = [];
  for (const { probability, impact, level, prefix } of cells) {
    const count = counts.get(prefix) ?? 0;
    const top = count === 0 ? [] : (few?.get(prefix) ?? (await topOfCell(db, register, prefix)));
    heatmap.push({ probability, impact, level, count, top });
  }
  return heatmap;
}

type Cell = { probability: number; impact: number; level: LevelId; score: number; prefix: string };

/** The cells of the heat map, row by row, the highest probability first. */
export const cellsOf = ({ cells }: Model): Cell[] =>
  cells
    .map(({ probability, impact, level }) => ({
      probability,
      impact,
      level,
      score: probability * impact,
      prefix: cellPrefix(probability, impact),
    }))
    .sort((a, b) => b.probability - a.probability || a.impact - b.impact);

/** Counts the risks by the prefix of their cell. */
async function countCells(
  db: Kysely<Tables>,
  register: Register,
  cells: readonly Cell[],
): Promise<Map<string, number>> {
  if (isDefault(register))
    return countPrefixes(
      db,
      cells.map(({ prefix }) => prefix),
    );
  const counts = new Map<string, number>();
  for (const part of scannedParts(db, register)) {
    const rows = await part
      .select([cellPrefixOf.as('prefix'), sql<number>`count(*)`.as('count')])
      .groupBy(cellPrefixOf)
      .execute();
    for (const { prefix, count } of rows) counts.set(prefix, (counts.get(prefix) ?? 0) + count);
  }
  return counts;
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

/**
 * Up to this many rows are sorted to find the first of each cell. Beyond, they are soon found in the order of the rank,
 * unless its index lacks what a filter reads.
 */
const maxRowsToSort = 60_000;

/** The first risks of each cell, by its prefix. */
async function topOfCells(db: Kysely<Tables>, register: Register): Promise<Map<string, string[]>> {
  const position = sql<number>`row_number() over (partition by ${cellPrefixOf} order by risks.rank_key)`;
  const keys: string[] = [];
  for (const part of scannedParts(db, register)) {
    const ranked = part.select([sql<string>`risks.rank_key`.as('rank_key'), position.as('position')]);
    const rows = await db
      .selectFrom(ranked.as('ranked'))
      .select('ranked.rank_key')
      .where('ranked.position', '<=', 3)
      .execute();
    keys.push(...rows.map(({ rank_key }) => rank_key as string));
  }
  const byCell = Map.groupBy(keys.sort(), (key) => key.slice(0, 4));
  return new Map([...byCell].map(([prefix, top]) => [prefix, top.slice(0, 3).map((key) => key.slice(24))]));
}

const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0);

async function topOfCell(db: Kysely<Tables>, register: Register, cell: string): Promise<string[]> {
  const rows = await registerRows(db, register)
    .select(sql<string>`risks.id`.as('id'))
    .where(sql<boolean>`risks.rank_key >= ${cell} and risks.rank_key < ${cell + afterAllIds}`)
    .orderBy(sql`risks.rank_key`)
    .limit(3)
    .execute();
  return rows.map(({ id }) => id as string);
}
