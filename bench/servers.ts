import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../test/ports.ts';
import { authHeaders, type Dataset } from './datasets.ts';
import { memoryOf, resetPeak } from './memory.ts';
import { muster, nodeScript, type Running, start } from './processes.ts';
import { fetchResponse, type HttpResponse } from './responses.ts';

/** A listening server, with its memory before the first request. */
export type Server = Running & { origin: string; ready_mb: number };

/** The rate limit is on, as in production, but too high to be reached. */
const settings = { MUSTER_HOST: '127.0.0.1', MUSTER_PORT: '0', MUSTER_RATE_LIMIT: '1000000000' };

/** Turns the response cache off, so that every response is rebuilt. */
export const withoutCache = { MUSTER_CACHE_MB: '0' };

/** Starts the built service. */
export async function startService(
  dataset: Dataset,
  environment: Record<string, string> = {},
): Promise<Server> {
  const running = launchService(dataset, environment);
  const [, origin = ''] = await running.waitForOutput(/ is ready at (\S+)/);
  // The name may stand for an address on which the service does not listen.
  return describeServer(running, origin.replace('localhost', '127.0.0.1'));
}

/** Starts a `node:http` server that sends the same response to every request. */
export async function startBaseline(
  folder: string,
  { status, headers, body, isStream }: HttpResponse,
): Promise<Server> {
  const file = join(folder, 'baseline-body');
  writeFileSync(file, body);
  const running = start(
    ...nodeScript('children/baseline-server.ts', JSON.stringify({ status, headers, isStream, file })),
  );
  const [, port] = await running.waitForOutput(/^(\d+)\n/);
  return describeServer(running, `http://127.0.0.1:${port}`);
}

/** Starts another server that prints its address. */
export async function startPeer(command: string, args: string[]): Promise<Server> {
  const running = start(command, args);
  const [, origin = ''] = await running.waitForOutput(/^listening at (\S+)/);
  return describeServer(running, origin);
}

/** Starts an empty PostgreSQL server. */
export async function startPostgres(folder: string): Promise<Running & { url: string }> {
  const running = start(...nodeScript('children/postgres.ts', join(folder, 'postgres')));
  const [url] = await running.waitForOutput(/^postgres:\S+(?=\n)/);
  return { ...running, url };
}

/** Creates an empty database on a PostgreSQL server and returns its URL. */
export async function createDatabase(server: string, name: string): Promise<string> {
  const client = new pg.Client(server);
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  return Object.assign(new URL(server), { pathname: name }).href;
}

/** Milliseconds from the start of the service to the end of its first successful response. */
export async function timeToFirstResponse(dataset: Dataset, path: string): Promise<number> {
  const port = await freePort();
  const begin = performance.now();
  await using _service = launchService(dataset, { MUSTER_PORT: String(port) });
  for (;;) {
    const response = await fetchResponse(`http://127.0.0.1:${port}${path}`, authHeaders(dataset)).catch(
      () => undefined,
    );
    if (response?.status === 200) return performance.now() - begin;
    if (performance.now() - begin > 60_000) throw new Error('no response within a minute of the start');
    await setTimeout(2);
  }
}

const launchService = (dataset: Dataset, environment: Record<string, string>) =>
  start(...muster('serve'), { ...settings, MUSTER_DATABASE_URL: dataset.url, ...environment });

function describeServer(running: Running, origin: string): Server {
  resetPeak(running.pid);
  return { ...running, origin, ready_mb: memoryOf(running.pid) };
}
