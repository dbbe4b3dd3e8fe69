import { unavailable } from '../core/errors.ts';
import type { Tables } from './tables.ts';

/** The version of each table, incremented by every transaction that writes to it. The same object until one changes. */
export type Versions = Readonly<Record<keyof Tables | 'timeline' | 'lost_until', number>> & {
  /** Where there is a server. It increases when a standby is promoted. */
  readonly server_timeline?: number;
};

/**
 * Returns the versions as of some moment after the call, so they include every write acknowledged before it. Synchronous
 * where no round trip is needed; otherwise concurrent callers share one query.
 */
export type ReadVersions = () => Versions | Promise<Versions>;

/** A number that increases whenever one of the tables changes. */
export const versionOf = (versions: Versions, tables: readonly (keyof Tables)[]): number =>
  tables.reduce((sum, table) => sum + versions[table], 0);

/** Whether commits were lost: a standby was promoted, whose timeline is not the stored one, or the events go back. */
export const isBehind = ({ timeline, server_timeline = timeline, events }: Versions, sequence = 0): boolean =>
  timeline !== server_timeline || events < sequence;

/** Returns versions that only grow: where commits were lost, they would come again with other data, so `renew` comes first. */
export function growing(
  read: ReadVersions,
  renew: (versions: Versions, sequence?: number) => Promise<unknown>,
): ReadVersions {
  let last: Versions | undefined;
  let renewal: Promise<unknown> | undefined;
  async function readRenewed(versions: Versions): Promise<Versions> {
    renewal ??= renew(versions, last?.events)
      .catch((cause) => {
        throw unavailable(
          'The service is adapting to a change of the database. Try again shortly.',
          1,
          cause,
        );
      })
      .finally(() => {
        renewal = undefined;
      });
    await renewal;
    last = await read();
    return last;
  }
  function accept(versions: Versions): Versions | Promise<Versions> {
    if (isBehind(versions, last?.events)) return readRenewed(versions);
    last = versions;
    return versions;
  }
  return () => {
    const versions = read();
    return versions instanceof Promise ? versions.then(accept) : accept(versions);
  };
}

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
