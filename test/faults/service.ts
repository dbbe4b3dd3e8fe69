import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { stallEnvironment } from '../loop-stall.ts';
import { startMuster, temporaryFolder } from '../process.ts';
import type { Cleanup } from './cleanup.ts';
import type { Options } from './outcome.ts';

export type Service = {
  origin: string;
  /** Printed only at the first start on a database. */
  key: string | undefined;
  pid: number;
  isRunning(): boolean;
  kill9(): Promise<void>;
  /** Sends SIGTERM and waits for the exit. */
  terminate(): Promise<number | null>;
  stdout(): string;
  stderr(): string;
};

export type Engine = 'sqlite' | 'postgres';

const environment = {
  ...stallEnvironment,
  MUSTER_RATE_LIMIT: '0',
  MUSTER_FAILED_AUTH_LIMIT: '0',
  MUSTER_LOG_LEVEL: 'error',
};

/** Starts the built service in a child process. */
export async function startService(
  cleanup: Cleanup,
  url: string,
  more: Record<string, string> = {},
): Promise<Service> {
  const folder = temporaryFolder(cleanup);
  const running = await startMuster(cleanup, folder, {
    ...environment,
    MUSTER_DATABASE_URL: url,
    ...more,
  });
  const { child, exit, origin, key, stdout, stderr } = running;
  return {
    origin,
    key,
    pid: child.pid ?? 0,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    async kill9() {
      child.kill('SIGKILL');
      await exit;
    },
    terminate() {
      child.kill('SIGTERM');
      return exit;
    },
    stdout,
    stderr,
  };
}

/** The URL of an empty database. */
export async function emptyDatabase(options: Options, engine: Engine): Promise<string> {
  if (engine === 'postgres') return (await options.postgres()).createDatabase();
  return `sqlite:${temporaryFolder(options.cleanup)}/muster.db`;
}

/** The URL of a SQLite database in memory where the system has `/dev/shm`, so that the disk is not the bottleneck. */
export function databaseInMemory({ cleanup }: Options): string {
  if (!existsSync('/dev/shm')) return `sqlite:${temporaryFolder(cleanup)}/muster.db`;
  const folder = mkdtempSync('/dev/shm/muster-faults-');
  cleanup.after(() => rmSync(folder, { recursive: true, force: true }));
  return `sqlite:${folder}/muster.db`;
}
