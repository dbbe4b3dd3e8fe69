import { setImmediate } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { Moment } from '../../../core/clock.ts';
import { allOf } from '../../../lists/filters.ts';
import type { Tables } from '../../../store/tables.ts';
import { type AcrossProjects, projectConditions } from '../../projects/queries.ts';
import type { Counts, SummarySnapshot } from './kept-counts.ts';
import type { Names } from './project-counts.ts';
import type { Group, Tallies, Tally } from './tally.ts';

/** The largest groups, and the number and the sum of all. */
export type LargestGroups = { shown: Group[]; groups: number; count: number };

/** The holder of a group comes after the people: see `ownerOf`. */
const groupMark = '~';

/** The person or group that owns an item, as one text. Its order is that of the summaries: people, then groups. */
export const ownerKey = (table: string) =>
  sql<
    string | null
  >`coalesce(${sql.ref(`${table}.owner_user_id`)}, ${sql.lit(groupMark)} || ${sql.ref(`${table}.owner_group_id`)})`;

/** The columns of an owner. */
export const ownerOf = (key: string | null) =>
  key?.startsWith(groupMark)
    ? { owner_user_id: null, owner_group_id: key.slice(groupMark.length) }
    : { owner_user_id: key, owner_group_id: null };

const maxTurnMs = 5;

export type SummedCounts = {
  numbers: number[];
  inactive: number;
  projects: LargestGroups;
  holders: LargestGroups;
  values: LargestGroups;
};

/**
 * Sums kept counts over the projects that the key sees and the filters choose, without the items that other filters leave
 * out. Undefined if counts are not kept.
 */
export async function sumCounts(
  { db, counts }: SummarySnapshot,
  moment: Moment,
  filters: AcrossProjects,
  top: number,
  leftOut?: LeftOut,
): Promise<SummedCounts | undefined> {
  if (!counts) return undefined;
  const ids = await findProjects(db, filters);
  const kept = await counts(moment, ids);
  if (!kept || (leftOut && !(await leftOut.areFew(sampleOf(kept, ids))))) return undefined;
  return sumProjects(kept, ids, top, await leftOut?.tally());
}

/** The items that other filters leave out: their counts are subtracted. */
type LeftOut = {
  /** Whether fewer items are left out than match, judged by the items of some projects. */
  areFew(sample: readonly string[]): Promise<boolean>;
  tally(): Promise<Tallies>;
};

const sampledProjects = 16;
const maxSampledItems = 5_000;

/** Some projects from all parts of the list. */
function sampleOf({ projects }: Counts, ids: readonly string[]): string[] {
  const sample: string[] = [];
  let items = 0;
  for (let i = 0; i < ids.length; i += Math.ceil(ids.length / sampledProjects)) {
    const id = ids[i] as string;
    const [count = 0] = projects.get(id)?.numbers ?? [];
    if (items + count > maxSampledItems) continue;
    sample.push(id);
    items += count;
  }
  return sample;
}

async function sumProjects(
  counts: Counts,
  ids: readonly string[],
  top: number,
  leftOut: Tallies | undefined,
): Promise<SummedCounts> {
  const { names, isInactive } = counts;
  const numbers: number[] = [];
  const projects: Group[] = [];
  const holders = new Uint32Array(names.holders.texts.length);
  const values = new Uint32Array(names.values.texts.length);
  let start = performance.now();
  for (const id of ids) {
    const project = counts.projects.get(id);
    if (!project || project.numbers.length === 0) continue;
    project.numbers.forEach((count, i) => {
      numbers[i] = (numbers[i] ?? 0) + count;
    });
    const count = (project.numbers[0] ?? 0) - (leftOut?.projects.get(id) ?? 0);
    if (count > 0) projects.push({ id, count });
    addPairs(holders, project.holders);
    addPairs(values, project.values);
    if (performance.now() - start < maxTurnMs) continue;
    await setImmediate();
    start = performance.now();
  }
  if (leftOut) {
    leftOut.numbers.forEach((count, i) => {
      numbers[i] = (numbers[i] ?? 0) - count;
    });
    subtract(holders, names.holders, leftOut.holders);
    subtract(values, names.values, leftOut.values);
  }
  let inactive = 0;
  isInactive.forEach((flag, number) => {
    inactive += flag * (holders[number] ?? 0);
  });
  return {
    numbers,
    inactive,
    projects: largestOf(projects, top),
    holders: largestOf(groupsOf(names.holders, holders), top),
    values: largestOf(groupsOf(names.values, values), top),
  };
}

/** The ids are read as one text, because there may be thousands. */
async function findProjects(db: Kysely<Tables>, filters: AcrossProjects): Promise<string[]> {
  const { ids } = await db
    .selectFrom('projects')
    .select(sql<string | null>`string_agg(projects.id, ',')`.as('ids'))
    .where(allOf(filters, projectConditions('projects.id')))
    .executeTakeFirstOrThrow();
  return ids?.split(',') ?? [];
}

function addPairs(sums: Uint32Array, pairs: Uint32Array): void {
  for (let i = 0; i < pairs.length; i += 2) (sums[pairs[i] as number] as number) += pairs[i + 1] as number;
}

function subtract(sums: Uint32Array, names: Names, tally: Tally): void {
  for (const { id, count } of tally.groups()) {
    const number = id === null ? 0 : names.find(id);
    if (number !== undefined) (sums[number] as number) -= count;
  }
}

function* groupsOf({ texts }: Names, counts: Uint32Array): Generator<Group> {
  for (let number = 0; number < counts.length; number++) {
    const count = counts[number] as number;
    if (count > 0) yield { id: texts[number] ?? null, count };
  }
}

/** Selects the largest groups without sorting all of them. */
export function largestOf(all: Iterable<Group>, top: number): LargestGroups {
  let shown: Group[] = [];
  let last: Group | undefined;
  let [groups, count] = [0, 0];
  for (const group of all) {
    groups++;
    count += group.count;
    if (last && largestFirst(group, last) > 0) continue;
    shown.push(group);
    if (shown.length < 2 * top + 100) continue;
    shown = shown.sort(largestFirst).slice(0, top);
    last = shown.at(-1);
  }
  return { shown: shown.sort(largestFirst).slice(0, top), groups, count };
}

/** Sorts like the database: largest count first, then texts by bytes, null last. */
function largestFirst(a: Group, b: Group): number {
  if (a.count !== b.count || a.id === null || b.id === null)
    return b.count - a.count || Number(a.id === null) - Number(b.id === null);
  return compareBytes(a.id, b.id);
}

/** Compares texts by their bytes in UTF-8. JavaScript puts surrogates, which are the largest code points, before some. */
function compareBytes(a: string, b: string): number {
  if (hasLargeCode.test(a) && hasLargeCode.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

const hasLargeCode = /[\ud800-\uffff]/;
