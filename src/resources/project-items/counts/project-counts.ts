import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Moment } from '../../../core/clock.ts';
import { inConstantArray, inJsonArray, jsonRow } from '../../../database/sql/functions.ts';
import type { Tables } from '../../../store/tables.ts';

/** What a resource declares about its items, so that they are counted per project. */
export type Countable = {
  table: 'risks' | 'issues';
  kind: 'risk' | 'issue';
  /** The items of the default status: only these are counted. */
  isCounted: RawBuilder<boolean>;
  /** The column of `projects` with their number. */
  counter: 'active_risks' | 'open_issues';
  /** The number of items that meet each condition is kept. Conditions may refer to `project`. */
  conditions(moment: Moment): Record<string, RawBuilder<boolean>>;
  /** The id of the person or group that an item is counted for. It contains no comma. */
  holder: RawBuilder<string | null>;
  /** Whether the items of inactive people are counted. */
  countsInactive: boolean;
  /** Another field whose values are counted. They are lines without tabs. */
  value: RawBuilder<string | null> | undefined;
};

/** Texts by number, so that the counts of a project refer to them in 4 bytes. The number 0 is null. */
export class Names {
  readonly texts: (string | null)[] = [null];
  readonly #numbers = new Map<string, number>();
  /** About how much memory the texts take. */
  bytes = 0;

  numberOf(text: string | null): number {
    if (text === null) return 0;
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    // A copy: a part of a long text would keep all of it in memory.
    const copy = Buffer.from(text).toString();
    const number = this.texts.push(copy) - 1;
    this.#numbers.set(copy, number);
    this.bytes += 64 + text.length;
    return number;
  }

  find(text: string): number | undefined {
    return this.#numbers.get(text);
  }
}

/** The names of holders and values, by number. */
export type ProjectNames = { holders: Names; values: Names };

/** The numbers of names with their counts, in pairs. */
type Pairs = Uint32Array;

/** The counts of one project: the total and the number for each condition, of each holder and of each value. */
export type ProjectCounts = { numbers: Uint32Array; holders: Pairs; values: Pairs };

/** The counts of a project without items. */
const noItems: ProjectCounts = {
  numbers: new Uint32Array(0),
  holders: new Uint32Array(0),
  values: new Uint32Array(0),
};

/** How many items one statement counts, so that reading its result takes some milliseconds. */
const maxItemsPerSlice = 5_000;
const maxProjectsPerSlice = 100;

/** Above this, the items of a project are counted in parts, because the list of their holders would be too long. */
const maxItemsPerPart = 20_000;

type Project = { id: string; items: number };

/** Projects that one statement counts, or a part of the items of one project. */
type Slice = { ids: string[]; part?: { offset: number; isLast: boolean } };

export function sliceProjects(projects: readonly Project[]): Slice[] {
  const slices: Slice[] = [];
  let open: Slice | undefined;
  let itemsOfOpen = 0;
  for (const { id, items } of projects) {
    if (items > maxItemsPerPart) {
      for (let offset = 0; offset < items; offset += maxItemsPerPart)
        slices.push({ ids: [id], part: { offset, isLast: offset + maxItemsPerPart >= items } });
    } else if (open && open.ids.length < maxProjectsPerSlice && itemsOfOpen + items <= maxItemsPerSlice) {
      open.ids.push(id);
      itemsOfOpen += items;
    } else {
      open = { ids: [id] };
      itemsOfOpen = items;
      slices.push(open);
    }
  }
  return slices;
}

/** Some projects with the number of their items. */
export async function readProjects(
  db: Kysely<Tables>,
  { counter }: Countable,
  ids: readonly string[],
): Promise<Project[]> {
  if (ids.length === 0) return [];
  return db
    .selectFrom('projects')
    .select(['id', `${counter} as items`])
    .where(inJsonArray(sql.ref('id'), ids))
    .orderBy('id')
    .execute();
}

/**
 * Counts the items of some projects and adds the counts. The database reads each item once and only lists holders and
 * values, which are counted here: it would sort all items for each grouping.
 */
export async function countSlice(
  db: Kysely<Tables>,
  countable: Countable,
  moment: Moment,
  { ids, part }: Slice,
  names: ProjectNames,
  counts: Map<string, ProjectCounts | undefined>,
): Promise<void> {
  const { table, isCounted } = countable;
  const conditions = Object.values(countable.conditions(moment));
  const isOfProject = sql`from ${sql.table(table)} where ${sql.ref(`${table}.project_id`)} = project.id and ${isCounted}`;
  const limit = part?.isLast === false ? maxItemsPerPart : Number.MAX_SAFE_INTEGER;
  const items = part
    ? sql`from (select * ${isOfProject} order by ${sql.ref(`${table}.rank_key`)}
        limit ${limit} offset ${part.offset}) as ${sql.table(table)}`
    : isOfProject;
  const rows = await db
    .selectFrom('projects as project')
    .select(['project.id', sql<string>`(select ${countedLines(countable, conditions)} ${items})`.as('lines')])
    .where(sql<boolean>`${inConstantArray(sql.ref('project.id'), ids)}`)
    .execute();
  for (const { id, lines } of rows) addLines(id, lines, countable, names, counts);
}

/** The counts of items as three lines: the numbers, the holders and the values. */
export function countedLines({ holder, value }: Countable, conditions: readonly RawBuilder<boolean>[]) {
  const counted = [sql`count(*)`, ...conditions.map((one) => sql`count(case when ${one} then 1 end)`)];
  const lineFeed = sql.lit('\n');
  return sql<string>`${jsonRow(counted)}
    || ${lineFeed} || coalesce(string_agg(${holder}, ','), '')
    || ${lineFeed} || ${value ? sql`coalesce(string_agg(coalesce(${value}, ''), ${sql.lit('\t')}), '')` : sql.lit('')}`;
}

/** The numbers, and the texts of the holders and of the values. Items without a holder are not listed. */
export function parseLines(lines: string): { numbers: number[]; holders: string[]; values: string[] } {
  const [numbers = '[]', holders = '', values = ''] = lines.split('\n');
  return {
    numbers: JSON.parse(numbers),
    holders: holders === '' ? [] : holders.split(','),
    values: values.split('\t'),
  };
}

/** Adds the counts of a project. */
function addLines(
  id: string,
  lines: string,
  { value }: Countable,
  names: ProjectNames,
  counts: Map<string, ProjectCounts | undefined>,
): void {
  const { numbers, holders, values } = parseLines(lines);
  const [total = 0] = numbers;
  const earlier = counts.get(id);
  if (total === 0) {
    counts.set(id, earlier ?? noItems);
    return;
  }
  const holderCounts = countTexts(holders, names.holders);
  if (holders.length < total) holderCounts.set(0, total - holders.length);
  const valueCounts = value ? countTexts(values, names.values) : new Map<number, number>();
  const added = {
    numbers: Uint32Array.from(numbers),
    holders: pairsOf(holderCounts),
    values: pairsOf(valueCounts),
  };
  counts.set(id, earlier ? mergeParts(earlier, added) : added);
}

/** Counts equal texts, by number. An empty text stands for null. */
function countTexts(texts: readonly string[], names: Names): Map<number, number> {
  const counts = new Map<number, number>();
  for (const text of texts) add(counts, names.numberOf(text === '' ? null : text), 1);
  return counts;
}

function mergeParts(a: ProjectCounts, b: ProjectCounts): ProjectCounts {
  const merge = (one: Pairs, other: Pairs) => {
    const counts = new Map<number, number>();
    for (const pairs of [one, other])
      for (let i = 0; i < pairs.length; i += 2) add(counts, pairs[i] as number, pairs[i + 1] as number);
    return pairsOf(counts);
  };
  return {
    numbers: a.numbers.map((count, i) => count + (b.numbers[i] ?? 0)),
    holders: merge(a.holders, b.holders),
    values: merge(a.values, b.values),
  };
}

const add = (counts: Map<number, number>, number: number, count: number) =>
  counts.set(number, (counts.get(number) ?? 0) + count);

function pairsOf(counts: ReadonlyMap<number, number>): Pairs {
  const pairs = new Uint32Array(2 * counts.size);
  let end = 0;
  for (const [number, count] of counts) {
    pairs[end++] = number;
    pairs[end++] = count;
  }
  return pairs;
}

/** The people among these who are inactive. */
export async function findInactive(db: Kysely<Tables>, user_ids: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('people')
    .select('user_id')
    .where(inJsonArray(sql.ref('user_id'), user_ids))
    .where('status', '=', 'inactive')
    .execute();
  return new Set(rows.map(({ user_id }) => user_id));
}
