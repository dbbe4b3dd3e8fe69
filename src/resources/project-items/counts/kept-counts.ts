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

/** The counts of all projects at a position of the event log. Never changed: a later position has counts of its own. */
export type Counts = {
  day: string;
  now: string;
  position: Position;
  names: { holders: Names; values: Names };
  /** The memory of the names when all projects were counted last. Names are only added. */
  firstBytes: number;
  /** 1 for holders that are inactive people. */
  isInactive: Uint8Array;
  projects: ReadonlyMap<string, ProjectCounts>;
};

/** A snapshot in which the counts can be read without counting everything again. */
export type CountedSnapshot = Snapshot & {
  /** The counts as of this snapshot; undefined if they are not kept, because they would take too much memory. */
  counts(moment: Moment): Promise<Counts | undefined>;
};

export type KeptCounts = {
  countable: Countable;
  open(database: Pick<ScopedDatabase, 'snapshot'>): Promise<CountedSnapshot>;
};

/** About how much memory the counts may take: with 1,000,000 risks of 88,000 owners they take 20 MB. */
const maxCountBytes = 96 * 1024 * 1024;

/** As long as a request waits for a connection. */
const maxWaitMs = 9_000;

/**
 * Keeps the counts of each project in memory. A request counts only the projects that changed since the last one, which
 * the events tell. Requests wait for their turn before they open a snapshot, so a snapshot is never older than the kept
 * counts, and requests that arrive together count once. After an error, the former counts are kept.
 */
export function keepCounts(countable: Countable, maxBytes = maxCountBytes): KeptCounts {
  const turns = createLimiter(1);
  let kept: Counts | undefined;
  /** The day on which the counts took too much memory. */
  let largeDay: string | undefined;

  async function refresh(db: Kysely<Tables>, moment: Moment): Promise<Counts | undefined> {
    const day = dayKey(moment);
    // A request that began before midnight must not undo the counts of the new day.
    if (day === largeDay || (kept && kept.day !== day && moment.now < kept.now)) return undefined;
    const counts = await countsAt(db, { countable, moment, maxBytes }, kept);
    if (!counts) largeDay = day;
    kept = counts;
    return counts;
  }

  return {
    countable,
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
          counts: (moment) => refresh(withoutProjectScope(snapshot.db), moment).finally(release),
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

type Task = { countable: Countable; moment: Moment; maxBytes: number };

/** The counts as of this snapshot; undefined if they take too much memory. */
async function countsAt(
  db: Kysely<Tables>,
  task: Task,
  kept: Counts | undefined,
): Promise<Counts | undefined> {
  const { countable, moment, maxBytes } = task;
  const position = await readPosition(db, countable);
  if (kept?.day !== dayKey(moment)) return countAll(db, task, position);
  if (isSamePosition(kept.position, position)) return kept;
  const changes = await findChanges(db, countable, kept.position, position);
  if (!changes || changes.projects.length > Math.max(20, kept.projects.size / 3) || hasOldNames(kept))
    return countAll(db, task, position);
  const { names } = kept;
  const projects = new Map(kept.projects);
  for (const id of changes.projects) projects.delete(id);
  for (const slice of sliceProjects(await readProjects(db, countable, changes.projects))) {
    await countSlice(db, countable, moment, slice, names, projects);
    await setImmediate();
  }
  const isInactive = await flagInactive(db, countable, names.holders, changes.people, kept.isInactive);
  if (bytesOf(names, projects) > maxBytes) return undefined;
  return { ...kept, now: moment.now, position, isInactive, projects };
}

async function countAll(
  db: Kysely<Tables>,
  { countable, moment, maxBytes }: Task,
  position: Position,
): Promise<Counts | undefined> {
  const names = { holders: new Names(), values: new Names() };
  const projects = new Map<string, ProjectCounts>();
  for (const slice of sliceProjects(await readProjects(db, countable))) {
    await countSlice(db, countable, moment, slice, names, projects);
    if (namesBytes(names) > maxBytes) return undefined;
    await setImmediate();
  }
  if (bytesOf(names, projects) > maxBytes) return undefined;
  return {
    day: dayKey(moment),
    now: moment.now,
    position,
    names,
    firstBytes: namesBytes(names),
    isInactive: await flagInactive(db, countable, names.holders),
    projects,
  };
}

/** Whether many names are left of people and categories that have no items any more. Counting everything drops them. */
const hasOldNames = ({ names, firstBytes }: Counts) => namesBytes(names) > 2 * firstBytes + 1024 * 1024;

const namesBytes = ({ holders, values }: Counts['names']) => holders.bytes + values.bytes;

function bytesOf(names: Counts['names'], projects: Counts['projects']): number {
  let bytes = namesBytes(names);
  for (const { holders, values } of projects.values()) bytes += 500 + holders.byteLength + values.byteLength;
  return bytes;
}

const peoplePerStatement = 2_000;

/** Reads who is inactive: of the holders that were not known before, and of the people who changed, or of all. */
async function flagInactive(
  db: Kysely<Tables>,
  { countsInactive }: Countable,
  holders: Names,
  changed?: readonly string[],
  before: Uint8Array = new Uint8Array(1),
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
