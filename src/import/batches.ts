import { type FieldError, fieldError } from '../core/errors.ts';
import { fold, shortened } from '../core/text.ts';
import { createPacer } from '../formats/pace.ts';
import type { Row } from '../formats/rows.ts';
import {
  type Importable,
  type ImportKey,
  keyValue,
  type Resource,
  type SkippedNumbers,
  uniqueKeysOf,
} from './importable.ts';
import type { ParsedRow } from './parse-rows.ts';

/** Rows to write together, and whether a row among them may still wait for another row of the file. */
export type Batch = { rows: readonly ParsedRow[]; mayWait: boolean };

const minBatchRows = 25;
const maxBatchRows = 1000;

/** Adapts the number of rows in a batch to the time that the previous batches took. */
export class AdaptiveBatchSize {
  rows = minBatchRows;
  readonly #targetMs: number;
  readonly #maxRows: number;

  constructor(targetMs: number, maxRows = maxBatchRows) {
    this.#targetMs = targetMs;
    this.#maxRows = maxRows;
  }

  adapt(rows: number, milliseconds: number): void {
    const fittingRows = (rows * this.#targetMs) / Math.max(milliseconds, 1);
    this.rows = Math.round(Math.min(this.#maxRows, Math.max(minBatchRows, (this.rows + fittingRows) / 2)));
  }
}

/** How many rows are sorted by their projects, and how long they may be together: about what batches read ahead may take. */
const stretchRows = 10_000;
const stretchLength = 16 * 1024 * 1024;

/**
 * Parses the rows of a file and groups them into batches. If they name their projects, a stretch of them is written project by
 * project: rows of one project are looked up and written together.
 */
export async function* readBatches(
  file: AsyncIterable<Row[]>,
  parse: (row: Row, index: number) => ParsedRow,
  size: AdaptiveBatchSize,
  isByProject: boolean,
): AsyncGenerator<Batch> {
  const pause = createPacer();
  let index = 0;
  let stretch: ParsedRow[] = [];
  let length = 0;
  function* batches(): Generator<Batch> {
    const projectOf = ({ projects = [] }: ParsedRow) => fold(projects.join(' '));
    const rows = isByProject ? [...Map.groupBy(stretch, projectOf).values()].flat() : stretch;
    stretch = [];
    length = 0;
    while (rows.length > 0) yield { rows: rows.splice(0, size.rows), mayWait: true };
  }
  for await (const chunk of file) {
    for (const row of chunk) {
      if (row.isHeader || row.skipped !== undefined) continue;
      stretch.push(parse(row, index++));
      for (const cell of row.cells) if (typeof cell === 'string') length += cell.length;
      await pause();
      const isComplete = isByProject
        ? stretch.length === stretchRows || length > stretchLength
        : stretch.length >= size.rows;
      if (isComplete) yield* batches();
    }
  }
  yield* batches();
}

/** A row with an unknown id comes from another service, in which the same key may belong to another item. */
export const isOfAnother = ({ input, keys }: Importable, key: ImportKey, row: ParsedRow) =>
  key.field === 'key' && !('key' in input.properties) && keys[0].field in row.identity;

/**
 * With `mode=upsert`, a second row about the same resource is an error: it would overwrite the first, each time the file is
 * imported, or create the resource again if the first has replaced its key. So the keys that it had before count, too. Rows
 * that only add to lists, such as those of group members, may be many. `onRollback` is for a transaction that is retried.
 */
export function createRepeatCheck(onRollback: (undo: () => void) => void) {
  const rows = new Map<string, { line: number; id: unknown }>();
  return (importable: Importable, row: ParsedRow, current: Resource | undefined): FieldError[] => {
    const { what, keys, project, additive } = importable;
    if (additive) return [];
    const scoped = (key: string) => `${project?.id ?? ''} ${key}`;
    const all = [
      ...uniqueKeysOf(row, { keys: keys.filter((key) => !isOfAnother(importable, key, row)) }),
      ...(current ? uniqueKeysOf({ identity: {}, values: current }, importable) : []),
    ];
    const id = current?.[keys[0].field];
    // Two rows about others who exist, one of which gets what the other had, are not about the same.
    const isOfSame = (other: { id: unknown } | undefined) =>
      other && (other.id === undefined || id === undefined || other.id === id);
    const repeated = all.find((key) => isOfSame(rows.get(scoped(key))));
    const first = rows.get(scoped(repeated ?? ''))?.line;
    for (const key of all.map(scoped)) {
      if (rows.has(key)) continue;
      rows.set(key, { line: row.line, id });
      onRollback(() => rows.delete(key));
    }
    // A row without a project is not written, and has no key.
    if (repeated === undefined || row.errors.length > 0) return [];
    const [field = '', text = ''] = repeated.split(/ (.*)/s);
    const detail = `Line ${first} is about the same ${what}, with the ${field} ${shortened(text)}. Remove one of the two lines, or correct it.`;
    return [fieldError(field, 'repeated_key', detail)];
  };
}

/** After this many rounds of releasing one row of each cycle, all waiting rows are released. */
const maxCycleRounds = 10;

/** No id, email or name is longer. */
const maxKeyLength = 500;

/**
 * The texts by which other rows of the file can refer to a row: its id, external id, email or name. They are folded, so
 * a row may wait for more rows than it needs to, which does no harm.
 */
export function keysOf(row: ParsedRow, { keys }: Importable): Set<string> {
  const found = new Set<string>();
  for (const value of [row.values.name, ...keys.map((key) => keyValue(row, key))]) {
    if (typeof value === 'string' && value.length <= maxKeyLength) found.add(fold(value));
  }
  return found;
}

/**
 * The rows that wait for other rows of the same file. A row is released when all rows with the keys it waits for are
 * done, imported or failed. Each row waits once, so the time is linear in the length of a chain. Later rows about the
 * same resource wait behind it, so that they are imported in the order of the file.
 *
 * A transaction can be retried: `rollback` undoes every change since the last `commit`.
 */
export function createWaitingRows(
  importable: Importable,
  /** The number of rows in the file that have each key. */
  rowsByKey: ReadonlyMap<string, number>,
) {
  const pending = new Map(rowsByKey);
  const waiters = new Map<string, ParsedRow[]>();
  const waitingFor = new Map<ParsedRow, { keys: readonly string[]; left: number }>();
  /** The index of the first row with each unique key that had to wait and is not done, and the rows behind it. */
  const blockers = new Map<string, number>();
  const followers = new Map<number, ParsedRow[]>();
  /** The lines of rows that failed, by their keys. */
  const failedLines = new Map<string, number>();
  const ready: { row: ParsedRow; mayWait: boolean }[] = [];
  let firstReady = 0;
  let cycleRounds = 0;
  let undo: (() => void)[] = [];

  function rollback(length = 0): void {
    for (const action of undo.splice(length).reverse()) action();
  }

  /** Sets or, if the value is undefined, deletes an entry. */
  function set<K, V>(map: Map<K, V>, key: K, value: V | undefined): void {
    const write = (value: V | undefined) => (value === undefined ? map.delete(key) : map.set(key, value));
    const previous = map.get(key);
    write(value);
    undo.push(() => write(previous));
  }

  function push<T>(list: T[], item: T): void {
    list.push(item);
    undo.push(() => list.pop());
  }

  function release(row: ParsedRow, mayWait: boolean): void {
    if (!waitingFor.has(row)) return;
    set(waitingFor, row, undefined);
    push(ready, { row, mayWait });
  }

  function releaseWaiters(key: string): void {
    for (const row of waiters.get(key) ?? []) {
      const wait = waitingFor.get(row);
      if (!wait) continue;
      wait.left--;
      undo.push(() => {
        wait.left++;
      });
      if (wait.left === 0) release(row, true);
    }
  }

  function block(row: ParsedRow): void {
    for (const key of uniqueKeysOf(row, importable)) if (!blockers.has(key)) set(blockers, key, row.index);
  }

  function unblock(row: ParsedRow): void {
    if (blockers.size === 0) return;
    for (const key of uniqueKeysOf(row, importable))
      if (blockers.get(key) === row.index) set(blockers, key, undefined);
    for (const follower of followers.get(row.index) ?? []) push(ready, { row: follower, mayWait: true });
  }

  /** Finds one row of each cycle. Every waiting row leads to a cycle, because all other rows are done. */
  function findCycleRows(): ParsedRow[] {
    const byKey = new Map<string, ParsedRow>();
    for (const row of waitingFor.keys()) {
      for (const key of keysOf(row, importable)) if (!byKey.has(key)) byKey.set(key, row);
    }
    const next = (row: ParsedRow) => {
      const key = waitingFor.get(row)?.keys.find((key) => (pending.get(key) ?? 0) > 0);
      return key === undefined ? undefined : byKey.get(key);
    };
    const walkOf = new Map<ParsedRow, number>();
    const found: ParsedRow[] = [];
    let walk = 0;
    for (const start of waitingFor.keys()) {
      walk++;
      let row: ParsedRow | undefined = start;
      while (row && !walkOf.has(row)) {
        walkOf.set(row, walk);
        row = next(row);
      }
      if (row && walkOf.get(row) === walk) found.push(row);
    }
    return found;
  }

  return {
    isPending: (text: string) => (pending.get(fold(text)) ?? 0) > 0,
    failedLine: (text: string) => failedLines.get(fold(text)),

    wait(row: ParsedRow, keys: readonly string[]): void {
      set(waitingFor, row, { keys, left: keys.length });
      for (const key of keys) push(listIn(waiters, key), row);
      block(row);
    },

    /** Whether the row is about the same resource as a waiting one. Then it is released when that one is done. */
    waitsBehindAnother(row: ParsedRow): boolean {
      if (blockers.size === 0) return false;
      const blocker = uniqueKeysOf(row, importable)
        .map((key) => blockers.get(key))
        .find((index) => index !== undefined && index !== row.index);
      if (blocker === undefined) return false;
      push(listIn(followers, blocker), row);
      return true;
    },

    /** Marks a row as imported or failed. */
    done(row: ParsedRow, hasFailed: boolean): void {
      for (const key of keysOf(row, importable)) {
        if (hasFailed) set(failedLines, key, row.line);
        const left = (pending.get(key) ?? 0) - 1;
        set(pending, key, left);
        if (left === 0) releaseWaiters(key);
      }
      unblock(row);
    },

    hasNext: () => firstReady < ready.length || waitingFor.size > 0,

    /** The next released rows. If only cycles are left, breaks them with rows that may not wait again. */
    next(maxRows: number): Batch | undefined {
      if (firstReady === ready.length && waitingFor.size > 0) {
        const cycleRows = ++cycleRounds > maxCycleRounds ? [] : findCycleRows();
        // A row may also wait for one that waits behind it, which is no cycle of keys.
        const released = cycleRows.length > 0 ? cycleRows : [...waitingFor.keys()];
        undo.push(() => {
          cycleRounds--;
        });
        for (const row of released) release(row, false);
      }
      const [first] = ready.slice(firstReady, firstReady + 1);
      if (!first) return undefined;
      const { mayWait } = first;
      const rows: ParsedRow[] = [];
      const start = firstReady;
      while (rows.length < maxRows && ready[firstReady]?.mayWait === mayWait)
        rows.push((ready[firstReady++] as typeof first).row);
      undo.push(() => {
        firstReady = start;
      });
      return { rows, mayWait };
    },

    /** Registers an action for `rollback`. */
    onRollback(action: () => void): void {
      undo.push(action);
    },

    commit(): void {
      undo = [];
      ready.splice(0, firstReady);
      firstReady = 0;
    },

    rollback,
    /** Returns a function that undoes every change since. */
    mark: () => rollback.bind(undefined, undo.length),
  };
}

/** `waiting` undoes what a transaction that is retried has added. */
export function createSkippedNumbers({
  mark,
  onRollback,
}: Pick<ReturnType<typeof createWaitingRows>, 'mark' | 'onRollback'>): SkippedNumbers {
  const ranges = new Map<string, { from: number; upTo: number }[]>();
  const given = new Set<string>();
  return {
    has: (prefix, number) =>
      !given.has(`${prefix}${number}`) &&
      (ranges.get(prefix) ?? []).some(({ from, upTo }) => number > from && number <= upTo),
    add(prefix, from, upTo, keys) {
      const list = listIn(ranges, prefix);
      // Without other writers, all numbers are one range.
      const previous = list.at(-1)?.upTo === from ? list.pop() : undefined;
      list.push({ from: previous?.from ?? from, upTo });
      const added = [...keys].filter((key) => !given.has(key));
      for (const key of added) given.add(key);
      onRollback(() => {
        list.pop();
        if (previous) list.push(previous);
        for (const key of added) given.delete(key);
      });
    },
    mark,
  };
}

function listIn<K, T>(lists: Map<K, T[]>, key: K): T[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}
