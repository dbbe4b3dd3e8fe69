import type { Tables } from './tables.ts';

/** The version of each table, incremented by every transaction that writes to it. The same object until one changes. */
export type Versions = Readonly<Record<keyof Tables, number>>;

/**
 * Returns the versions as of some moment after the call, so they include every write acknowledged before it. Synchronous
 * where no round trip is needed; otherwise concurrent callers share one query.
 */
export type ReadVersions = () => Versions | Promise<Versions>;

/** A number that increases whenever one of the tables changes. */
export const versionOf = (versions: Versions, tables: readonly (keyof Tables)[]): number =>
  tables.reduce((sum, table) => sum + versions[table], 0);

/** Runs one check at a time. Callers share the next check to start, never the one that is running: its result may be stale. */
export function coalesced<Result>(check: () => Promise<Result>): () => Promise<Result> {
  let next: Promise<Result> | undefined;
  let running: Promise<unknown> = Promise.resolve();

  function start(): Promise<Result> {
    next = undefined;
    const result = check();
    running = result.catch(() => {});
    return result;
  }
  return () => {
    next ??= running.then(start);
    return next;
  };
}
