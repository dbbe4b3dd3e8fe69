import { setImmediate } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { dayKey, type Moment } from '../../../core/clock.ts';
import { createLimiter } from '../../../core/concurrency.ts';
import { unavailable } from '../../../core/errors.ts';
import type { Snapshot } from '../../../database/open.ts';
import type { ScopedDatabase } from '../../../store/project-scope.ts';
import type { Tables } from '../../../store/tables.ts';
import { withoutProjectScope } from '../../../store/writes/tracker.ts';
import { findChanges, isSamePosition, type Position, readPosition } from './changes.ts';
import {
  type Countable,
  countSlice,
  findInactive,
  Names,
  type ProjectCounts,
  readProjects,
  sliceProjects,
} from './project-counts.ts';

/** The counts of projects at a position of the event log. Never changed: a later position has counts of its own. */
export type Counts = {
  day: string;
  now: string;
  position: Position;
  names: { holders: Names; values: Names };
  /** The memory of the names that projects had when they were counted first. Names are only added. */
  firstBytes: number;
  /** 1 for holders that are inactive people. */
  isInactive: Uint8Array;
  /** Those that were requested. Undefined if a project has changed since it was counted. */
  projects: ReadonlyMap<string, ProjectCounts | undefined>;
};

/** A snapshot in which the counts can be read without counting everything again. */
export type CountedSnapshot = Snapshot & {
  /**
   * The counts of these projects as of this snapshot; undefined if they are not kept, because they would take too much
   * memory.
   */
  counts(moment: Moment, projects: readonly string[]): Promise<Counts | undefined>;
};

/** A snapshot for a summary, in which counts may be kept. */
export type SummarySnapshot = Pick<Snapshot, 'db'> & Partial<Pick<CountedSnapshot, 'counts'>>;

export type KeptCounts = {
  countable: Countable;
  /** Whether there are counts of this day, which only have to be brought up to date. */
  has(moment: Moment): boolean;
  open(database: Pick<ScopedDatabase, 'snapshot'>): Promise<CountedSnapshot>;
};

/** About how much memory the counts may take: with 1,000,000 risks of 88,000 owners they take 20 MB. */
const maxCountBytes = 96 * 1024 * 1024;

/** As long as a request waits for a connection. */
const maxWaitMs = 9_000;

/**
 * Keeps the counts of each project in memory. A request counts only those of its projects that were not counted today or
 * have changed since, which the events tell. Requests wait for their turn before they open a snapshot, so a snapshot is never older than the kept
 * counts, and requests that arrive together count once. After an error, the former counts are kept.
 */
export function keepCounts(countable: Countable, maxBytes = maxCountBytes): KeptCounts {
  const turns = createLimiter(1);
  let kept: Counts | undefined;
  /** The day on which the counts took too much memory. */
  let largeDay: string | undefined;

  async function refresh(
    db: Kysely<Tables>,
    moment: Moment,
    ids: readonly string[],
  ): Promise<Counts | undefined> {
    const day = dayKey(moment);
    // A request that began before midnight must not undo the counts of the new day.
    if (day === largeDay || (kept && kept.day !== day && moment.now < kept.now)) return undefined;
    const counts = await countsAt(db, { countable, moment, maxBytes, ids }, kept);
    if (!counts) largeDay = day;
    kept = counts;
    return counts;
  }

  return {
    countable,
    has: (moment) => kept?.day === dayKey(moment),
    async open(database) {
      const release = await acquire(turns);
      try {
        const snapshot = await database.snapshot('slow');
        return {
          db: snapshot.db,
          end: () => {
            release();
            return snapshot.end();
          },
          counts: (moment, ids) => refresh(withoutProjectScope(snapshot.db), moment, ids).finally(release),
        };
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}

/** Waits for a turn. Returns a function that ends it and may be called more than once. */
function acquire(turns: ReturnType<typeof createLimiter>): Promise<() => void> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      reject(unavailable('Other requests for a summary are still running. Try again shortly.', 5));
    }, maxWaitMs);
    turns.run(() => {
      clearTimeout(timer);
      return new Promise<void>((release) => (isLate ? release() : resolve(release)));
    });
  });
}

type Task = { countable: Countable; moment: Moment; maxBytes: number; ids: readonly string[] };

/** The counts as of this snapshot; undefined if they take too much memory. */
async function countsAt(
  db: Kysely<Tables>,
  task: Task,
  kept: Counts | undefined,
): Promise<Counts | undefined> {
  const { countable, moment } = task;
  const position = await readPosition(db, countable);
  const none = (): Counts => ({
    day: dayKey(moment),
    now: moment.now,
    position,
    names: { holders: new Names(), values: new Names() },
    firstBytes: 0,
    isInactive: new Uint8Array(1),
    projects: new Map(),
  });
  if (kept?.day !== dayKey(moment)) return countMissing(db, task, none());
  if (isSamePosition(kept.position, position)) return countMissing(db, task, kept);
  const changes = await findChanges(db, countable, kept.position, position);
  if (!changes || hasOldNames(kept)) return countMissing(db, task, none());
  const projects = new Map(kept.projects);
  for (const id of changes.projects) if (projects.has(id)) projects.set(id, undefined);
  const isInactive = await flagInactive(db, countable, kept, changes.people);
  return countMissing(db, task, { ...kept, now: moment.now, position, projects, isInactive });
}

/** Counts those of the requested projects that have no counts. */
async function countMissing(
  db: Kysely<Tables>,
  { countable, moment, maxBytes, ids }: Task,
  kept: Counts,
): Promise<Counts | undefined> {
  const missing = ids.filter((id) => !kept.projects.get(id));
  if (missing.length === 0) return kept;
  const { names } = kept;
  const projects = new Map(kept.projects);
  let { firstBytes } = kept;
  // Apart from those that have changed, whose former names may be left over.
  for (const isFirst of [true, false]) {
    const before = namesBytes(names);
    const counted = missing.filter((id) => kept.projects.has(id) !== isFirst);
    for (const slice of sliceProjects(await readProjects(db, countable, counted))) {
      await countSlice(db, countable, moment, slice, names, projects);
      if (namesBytes(names) > maxBytes) return undefined;
      await setImmediate();
    }
    if (isFirst) firstBytes += namesBytes(names) - before;
  }
  if (bytesOf(names, projects) > maxBytes) return undefined;
  const isInactive = await flagInactive(db, countable, kept, []);
  return { ...kept, firstBytes, projects, isInactive };
}

/** Whether many names are left of people and categories that have no items any more. Counting everything drops them. */
const hasOldNames = ({ names, firstBytes }: Counts) => namesBytes(names) > 2 * firstBytes + 1024 * 1024;

const namesBytes = ({ holders, values }: Counts['names']) => holders.bytes + values.bytes;

function bytesOf(names: Counts['names'], projects: Counts['projects']): number {
  let bytes = namesBytes(names);
  for (const counts of projects.values())
    bytes += 500 + (counts ? counts.holders.byteLength + counts.values.byteLength : 0);
  return bytes;
}

const peoplePerStatement = 2_000;

/** Reads who is inactive: of the holders that were not known before, and of the people who changed, or of all. */
async function flagInactive(
  db: Kysely<Tables>,
  { countsInactive }: Countable,
  { names: { holders }, isInactive: before }: Counts,
  changed: readonly string[] | undefined,
): Promise<Uint8Array> {
  if (!countsInactive) return before;
  const first = changed ? before.length : 1;
  const known = (changed ?? []).flatMap((id) => holders.find(id) ?? []).filter((number) => number < first);
  const total = holders.texts.length - first + known.length;
  if (total === 0) return before;
  const flags = new Uint8Array(holders.texts.length);
  flags.set(before);
  const numbers = Array.from({ length: total }, (_, i) => known[i] ?? first + i - known.length);
  for (let start = 0; start < total; start += peoplePerStatement) {
    const batch = numbers.slice(start, start + peoplePerStatement);
    const inactive = await findInactive(
      db,
      batch.flatMap((number) => holders.texts[number] ?? []),
    );
    for (const number of batch) flags[number] = Number(inactive.has(holders.texts[number] ?? ''));
    await setImmediate();
  }
  return flags;
}
