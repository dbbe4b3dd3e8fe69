import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { openDatabase } from '../../src/store/open.ts';
import type { Cleanup } from '../cleanup.ts';
import { stallEnvironment } from '../loop-stall.ts';
import { fillPeople } from '../people.ts';
import { startMuster, temporaryFolder } from '../process.ts';
import { type Client, type ClientOptions, createClient } from './client.ts';
import type { Options } from './outcome.ts';

export type Service = Awaited<ReturnType<typeof startService>>;

export type Engine = 'sqlite' | 'postgres';

const environment = {
  ...stallEnvironment,
  MUSTER_RATE_LIMIT: '0',
  MUSTER_FAILED_AUTH_LIMIT: '0',
  MUSTER_LOG_LEVEL: 'error',
};

/** Starts the built service in a child process. Only the first start on a database prints a key. */
export async function startService(cleanup: Cleanup, url: string, more: Record<string, string> = {}) {
  const settings = { ...environment, MUSTER_DATABASE_URL: url, ...more };
  const running = await startMuster(cleanup, temporaryFolder(cleanup), settings);
  const { child, exit } = running;
  const kill9 = async () => {
    child.kill('SIGKILL');
    await exit;
  };
  cleanup.after(kill9);
  return {
    ...running,
    pid: child.pid ?? 0,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    kill9,
    /** Sends SIGTERM and waits for the exit. */
    terminate() {
      child.kill('SIGTERM');
      return exit;
    },
  };
}

/** Starts the service, and a client with its first key, or with the given key after a restart. */
export async function startWithClient(
  options: Options,
  url: string,
  { environment, ...clientOptions }: ClientOptions & { environment?: Record<string, string> } = {},
): Promise<{ service: Service; client: Client }> {
  const service = await startService(options.cleanup, url, environment);
  return { service, client: connect(options, service, clientOptions) };
}

/** A client that is closed with the scenario. It counts what no scenario allows. */
export function connect(
  { cleanup, tally }: Options,
  { origin, key }: Pick<Service, 'origin' | 'key'>,
  clientOptions: ClientOptions = {},
): Client {
  const client = createClient(origin, { tally, ...clientOptions, key: clientOptions.key ?? key });
  cleanup.after(() => client.close());
  return client;
}

/** Fails the scenario if the service has ended. */
export function expectRunning(service: Service, { tally }: Options): void {
  if (!service.isRunning()) tally.fail(`The service died: ${service.stderr().slice(-300)}`);
}

/** The URL of an empty database. */
export async function emptyDatabase(options: Options, engine: Engine): Promise<string> {
  if (engine === 'postgres') return (await options.postgres()).createDatabase();
  return `sqlite:${temporaryFolder(options.cleanup)}/muster.db`;
}

/** Migrates a database and fills it with wide people, so that lists are far larger than the buffers of connections. */
export async function fillWidePeople(url: string, count: number, attributes: Record<string, string>) {
  const database = openDatabase(url);
  await database.migrate();
  await fillPeople(database, count, { attributes });
  await database.close();
}

/** The URL of an empty database, for SQLite in memory if the system has `/dev/shm`: the disk is not the bottleneck then. */
export async function fastDatabase(options: Options, engine: Engine): Promise<string> {
  if (engine === 'postgres' || !existsSync('/dev/shm')) return emptyDatabase(options, engine);
  const folder = mkdtempSync('/dev/shm/muster-faults-');
  options.cleanup.after(() => rmSync(folder, { recursive: true, force: true }));
  return `sqlite:${folder}/muster.db`;
}
