import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '../test/ports.ts';
import { bearer, type Dataset } from './datasets.ts';
import { forgetPeak, memoryOf } from './memory.ts';
import { muster, type Running, script, start } from './processes.ts';
import { type Answer, ask } from './responses.ts';

/** One that listens, and what it held in memory before the first request. */
export type Server = Running & { origin: string; ready_mb: number };

/** A rate limit as in a real service, but too high to be reached. */
const settings = { MUSTER_HOST: '127.0.0.1', MUSTER_PORT: '0', MUSTER_RATE_LIMIT: '1000000000' };

/** Answers are made anew for each request. */
export const withoutCache = { MUSTER_CACHE_MB: '0' };

/** The real service, as a user starts it. */
export async function startService(dataset: Dataset, more: Record<string, string> = {}): Promise<Server> {
  const running = launchService(dataset, more);
  const [, origin = ''] = await running.says(/ is ready at (\S+)/);
  return server(running, origin);
}

/** A bare `node:http` that sends the bytes of an answer to every request. */
export async function startBaseline(
  folder: string,
  { status, headers, body, isStream }: Answer,
): Promise<Server> {
  const file = join(folder, 'bare-body');
  writeFileSync(file, body);
  const running = start(...script('children/bare.ts', JSON.stringify({ status, headers, isStream, file })));
  const [, port] = await running.says(/^(\d+)\n/);
  return server(running, `http://127.0.0.1:${port}`);
}

/** A PostgreSQL of its own, empty; gives its address. */
export async function startPostgres(folder: string): Promise<Running & { url: string }> {
  const running = start(...script('children/postgres.ts', join(folder, 'postgres')));
  const [url] = await running.says(/^postgres:\S+(?=\n)/);
  return { ...running, url };
}

/** Milliseconds from the start of the service to the end of its first good answer. */
export async function timeToFirstAnswer(dataset: Dataset, path: string): Promise<number> {
  const port = await freePort();
  const begin = performance.now();
  await using _service = launchService(dataset, { MUSTER_PORT: String(port) });
  for (;;) {
    const answer = await ask(`http://127.0.0.1:${port}${path}`, bearer(dataset)).catch(() => undefined);
    if (answer?.status === 200) return performance.now() - begin;
    if (performance.now() - begin > 60_000) throw new Error('no answer within a minute of the start');
    await setTimeout(2);
  }
}

const launchService = (dataset: Dataset, more: Record<string, string>) =>
  start(...muster('serve'), { ...settings, MUSTER_DATABASE_URL: dataset.url, ...more });

function server(running: Running, origin: string): Server {
  forgetPeak(running.pid);
  return { ...running, origin, ready_mb: memoryOf(running.pid) };
}
