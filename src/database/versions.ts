import type { TableName } from './tables.ts';

/** How often each table has been changed. It is the same object for as long as none is. */
export type Versions = Readonly<Record<TableName, number>>;

/**
 * The versions as they stood at some moment after the call, so that whoever asks sees every write acknowledged before.
 * At once where that costs no round trip; otherwise with all others who ask meanwhile.
 */
export type ReadVersions = () => Versions | Promise<Versions>;

/** A number that differs whenever one of the tables has been changed in between, and never becomes smaller. */
export const versionOf = (versions: Versions, tables: readonly TableName[]): number =>
  tables.reduce((sum, table) => sum + versions[table], 0);

/** One check at a time, each shared by all who asked before it began: none is answered with what was true earlier. */
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
