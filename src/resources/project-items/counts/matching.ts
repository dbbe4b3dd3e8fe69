import { setImmediate } from 'node:timers/promises';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { groupsRows } from '../../../database/sql/batches.ts';
import { allOf, always } from '../../../lists/filters.ts';
import type { RowsQuery } from '../../../lists/list.ts';
import type { Tables } from '../../../store/tables.ts';
import { type AcrossProjects, projectConditions } from '../../projects/queries.ts';
import { largestOf, type SummedCounts } from './groups.ts';
import { type Countable, countedLines, parseLines } from './project-counts.ts';
import { type Tallies, Tally } from './tally.ts';

type Matching = {
  countable: Countable;
  conditions: readonly RawBuilder<boolean>[];
  /** The items that match, with their projects, in several queries. The first one may read project by project. */
  parts: readonly RowsQuery[];
  /** The filters that choose projects, if the items can be read project by project. */
  projects?: AcrossProjects | undefined;
};

/**
 * About how many items one statement reads, which bounds the memory of its result. SQLite reads each project on its own;
 * PostgreSQL scans all items for each statement, in the index of the list.
 */
const maxItemsPerStatement = { byProject: 20_000, byScan: 300_000 };

const maxTurnMs = 5;

/**
 * Counts items that match filters, in one pass: the database counts what meets conditions and only lists holders and values,
 * which are counted here. It would sort or hash all items for each grouping.
 */
export async function tallyMatching(
  db: Kysely<Tables>,
  { countable, conditions, parts, projects }: Matching,
): Promise<Tallies> {
  const sums: Tallies = { numbers: [], projects: new Map(), holders: new Tally(), values: new Tally() };
  // As an expression, PostgreSQL cannot read items in its order, which it would do one by one, project by project.
  const project_id = groupsRows(db) ? sql<string>`projects.id || ''` : sql.ref<string>('projects.id');
  const [first, ...rest] = parts;
  const ranges = projects ? await rangesOf(db, countable, projects) : [always()];
  for (const rows of [...(first ? ranges.map((range) => first.where(range)) : []), ...rest]) {
    const found = await rows
      .select([project_id.as('id'), countedLines(countable, conditions).as('lines')])
      .groupBy(sql`${project_id}`)
      .$castTo<{ id: string; lines: string }>()
      .execute();
    let start = performance.now();
    for (const { id, lines } of found) {
      const { numbers, holders, values } = parseLines(lines);
      const [count = 0] = numbers;
      sums.projects.set(id, (sums.projects.get(id) ?? 0) + count);
      numbers.forEach((number, i) => {
        sums.numbers[i] = (sums.numbers[i] ?? 0) + number;
      });
      sums.holders.add(holders, count);
      sums.values.add(values, count);
      if (performance.now() - start < maxTurnMs) continue;
      await setImmediate();
      start = performance.now();
    }
  }
  return sums;
}

/** The same with the largest groups only. */
export async function countMatching(
  db: Kysely<Tables>,
  matching: Matching,
  top: number,
): Promise<SummedCounts> {
  const { numbers, projects, holders, values } = await tallyMatching(db, matching);
  return {
    numbers,
    inactive: matching.countable.countsInactive ? await countInactive(db, holders) : 0,
    projects: largestOf(
      Array.from(projects, ([id, count]) => ({ id, count })),
      top,
    ),
    holders: largestOf(holders.groups(), top),
    values: largestOf(values.groups(), top),
  };
}

async function countInactive(db: Kysely<Tables>, holders: Tally): Promise<number> {
  const { ids } = await db
    .selectFrom('people')
    .select(sql<string | null>`string_agg(user_id, ',')`.as('ids'))
    .where('status', '=', 'inactive')
    .executeTakeFirstOrThrow();
  return (ids?.split(',') ?? []).reduce((sum, id) => sum + holders.countOf(id), 0);
}

/** Divides the projects into ranges of ids, each with a bounded number of items. */
async function rangesOf(
  db: Kysely<Tables>,
  { table }: Countable,
  filters: AcrossProjects,
): Promise<RawBuilder<boolean>[]> {
  const conditions = projectConditions('projects.id');
  const ofProjects = Object.entries(filters).filter(([name]) => name in conditions);
  const chosen = await db
    .selectFrom('projects')
    .select(['id', `${table}_created as items`])
    .where(allOf(Object.fromEntries(ofProjects) as AcrossProjects, conditions))
    .orderBy('id')
    .execute();
  const maxItems = maxItemsPerStatement[groupsRows(db) ? 'byScan' : 'byProject'];
  const ranges: { first: string; last: string }[] = [];
  let items = Number.POSITIVE_INFINITY;
  for (const project of chosen) {
    items += project.items;
    const open = ranges.at(-1);
    if (open && items <= maxItems) {
      open.last = project.id;
    } else {
      ranges.push({ first: project.id, last: project.id });
      items = project.items;
    }
  }
  if (ranges.length === 1) return [always()];
  return ranges.map(({ first, last }) => sql`projects.id >= ${first} and projects.id <= ${last}`);
}
