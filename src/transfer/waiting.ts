import { fold } from '../core/text.ts';
import type { Importable } from './importable.ts';
import type { ParsedRow } from './parse-rows.ts';

/** How often one row of each cycle is given up, before all rows that still wait are. */
const maxCycleRounds = 10;

/** Longer texts are neither ids nor names. */
const maxKeyLength = 500;

/**
 * The texts by which other rows of the file may refer to a row: its id, external id, e-mail or name. They are folded:
 * a row that waits for longer than it must is still resolved correctly.
 */
export function keysOf(draft: ParsedRow, { keys }: Importable): Set<string> {
  const found = new Set<string>();
  for (const value of [
    draft.values.name,
    ...keys.map(({ field }) => draft.identity[field] ?? draft.values[field]),
  ]) {
    if (typeof value === 'string' && value.length <= maxKeyLength) found.add(fold(value));
  }
  return found;
}

/**
 * The rows that wait for other rows of the same file. A row is released when all rows with the texts it waits for are
 * done, whatever became of them, so that each row waits once and chains of any length take time in proportion to it.
 *
 * What happens inside of a transaction may happen again: `rollback` takes back what was not followed by `commit`.
 */
export function createWaitingRows(
  importable: Importable,
  /** How many rows of the file have each text. */
  rowsByKey: ReadonlyMap<string, number>,
) {
  const toCome = new Map(rowsByKey);
  const waiters = new Map<string, ParsedRow[]>();
  const waitingFor = new Map<ParsedRow, { keys: readonly string[]; left: number }>();
  const ready: { draft: ParsedRow; mayWait: boolean }[] = [];
  let firstReady = 0;
  let cycleRounds = 0;
  let undo: (() => void)[] = [];

  function release(draft: ParsedRow, mayWait: boolean): void {
    const wait = waitingFor.get(draft);
    if (!wait) return;
    waitingFor.delete(draft);
    ready.push({ draft, mayWait });
    undo.push(() => {
      ready.pop();
      waitingFor.set(draft, wait);
    });
  }

  function releaseWaiters(key: string): void {
    for (const draft of waiters.get(key) ?? []) {
      const wait = waitingFor.get(draft);
      if (!wait) continue;
      wait.left--;
      undo.push(() => {
        wait.left++;
      });
      if (wait.left === 0) release(draft, true);
    }
  }

  /** One row of each cycle: every row that waits leads to a cycle, for all rows that wait for nothing are done. */
  function oneOfEachCycle(): ParsedRow[] {
    const byKey = new Map<string, ParsedRow>();
    for (const draft of waitingFor.keys()) {
      for (const key of keysOf(draft, importable)) if (!byKey.has(key)) byKey.set(key, draft);
    }
    const next = (draft: ParsedRow) => {
      const key = waitingFor.get(draft)?.keys.find((key) => (toCome.get(key) ?? 0) > 0);
      return key === undefined ? undefined : byKey.get(key);
    };
    const walkOf = new Map<ParsedRow, number>();
    const found: ParsedRow[] = [];
    let walk = 0;
    for (const start of waitingFor.keys()) {
      walk++;
      let draft: ParsedRow | undefined = start;
      while (draft && !walkOf.has(draft)) {
        walkOf.set(draft, walk);
        draft = next(draft);
      }
      if (draft && walkOf.get(draft) === walk) found.push(draft);
    }
    return found;
  }

  return {
    hasToCome: (text: string) => (toCome.get(fold(text)) ?? 0) > 0,

    wait(draft: ParsedRow, keys: readonly string[]): void {
      waitingFor.set(draft, { keys, left: keys.length });
      for (const key of keys) {
        const others = waiters.get(key);
        if (others) others.push(draft);
        else waiters.set(key, [draft]);
      }
      undo.push(() => {
        waitingFor.delete(draft);
        for (const key of keys) waiters.get(key)?.pop();
      });
    },

    /** The row was written, or cannot be. */
    done(draft: ParsedRow): void {
      for (const key of keysOf(draft, importable)) {
        const left = (toCome.get(key) ?? 0) - 1;
        toCome.set(key, left);
        undo.push(() => {
          toCome.set(key, left + 1);
        });
        if (left === 0) releaseWaiters(key);
      }
    },

    /** Rows that wait no longer; where rows wait for each other, some that may not wait again. */
    next(maxRows: number): { drafts: ParsedRow[]; mayWait: boolean } | undefined {
      if (firstReady === ready.length && waitingFor.size > 0) {
        const isLastRound = ++cycleRounds > maxCycleRounds;
        const given = isLastRound ? [...waitingFor.keys()] : oneOfEachCycle();
        undo.push(() => {
          cycleRounds--;
        });
        for (const draft of given) release(draft, false);
      }
      const [first] = ready.slice(firstReady, firstReady + 1);
      if (!first) return undefined;
      const { mayWait } = first;
      const drafts: ParsedRow[] = [];
      const start = firstReady;
      while (drafts.length < maxRows && ready[firstReady]?.mayWait === mayWait)
        drafts.push((ready[firstReady++] as typeof first).draft);
      undo.push(() => {
        firstReady = start;
      });
      return { drafts, mayWait };
    },

    /** To be undone with the rest. */
    onRollback(action: () => void): void {
      undo.push(action);
    },

    commit(): void {
      undo = [];
      ready.splice(0, firstReady);
      firstReady = 0;
    },

    rollback(): void {
      for (const action of undo.reverse()) action();
      undo = [];
    },
  };
}
