import closeWithGrace from 'close-with-grace';
import { createApp } from '../app.ts';
import type { Config } from '../config.ts';
import { systemClock } from '../core/clock.ts';
import { UsageError } from '../core/errors.ts';
import { version } from '../core/version.ts';
import type { App } from '../http/fastify.ts';
import type { Readiness } from '../http/ops/health.ts';
import { createJobs } from '../jobs/schedule.ts';
import { createFirstKey } from '../resources/keys/queries.ts';
import { openDatabase } from '../store/open.ts';
import { storeTimeZone } from '../store/settings.ts';

type Print = (text: string) => void;

/** Runs the service until a signal stops it. */
export async function serve(config: Config, print: Print): Promise<void> {
  const { app, firstKey } = await startService(config);
  // Before the service says that it is ready: a signal may follow at once.
  stopWithGrace(app);
  print(greeting(app, firstKey));
}

function greeting(app: App, firstKey: string | undefined): string {
  const ready = `Muster ${version} is ready at ${app.baseUrl}
  docs  ${app.baseUrl}/docs
  data  ${app.database.name}`;
  if (firstKey === undefined) return ready;
  return `${ready}

This is the first start, so here is a key with all scopes. It is shown only once:

  ${firstKey}

Try it:

  ${curl(app, firstKey, '/v1/personnel')}
`;
}

/** Listens before it migrates, so that a port in use has no side effects. Requests are rejected until it is ready. */
export async function startService(config: Config, clock = systemClock) {
  const { startTracing } = config.tracing ? await import('../http/ops/tracing.ts') : {};
  // The SDK may report problems before the app, and so its log, exists.
  const created = Promise.withResolvers<App>();
  const tracing = startTracing?.(config, async (message) => (await created.promise).log.warn(message));
  const options = { prepare: config.database_prepare, maxConnections: config.database_pool };
  const report = (level: 'fatal' | 'warn', message: string) => app.log[level](message);
  const database = openDatabase(config.database_url, report, options, tracing?.recordQuery);
  const readiness: Readiness = { state: 'starting' };
  const app: App = await createApp({ config, database, clock, readiness, tracing });
  created.resolve(app);
  const jobs = createJobs(app);
  try {
    await listen(app, config);
    await database.migrate();
    if (config.time_zone) await storeTimeZone(database, config.time_zone);
    const firstKey = await database.write((db) => createFirstKey(db, clock()));
    await jobs.runDue();
    readiness.state = 'ready';
    jobs.start();
    app.webhooks.start();
    return { app, firstKey: firstKey?.secret };
  } catch (error) {
    await app.close();
    throw error;
  }
}

/** On a signal: rejects new requests, waits for requests in flight, and exits with 0. */
export function stopWithGrace(app: App): void {
  const options = { delay: app.config.shutdown_seconds * 1000, logger: app.log };
  closeWithGrace(options, async ({ err }) => {
    if (err) app.log.fatal(err);
    await app.close();
    await app.tracing?.shutdown();
  });
}

export const curl = (app: App, key: string, path: string) =>
  `curl -H 'Authorization: Bearer ${key}' '${app.baseUrl}${path}'`;

async function listen(app: App, { host, port }: Config): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const noAddress = `${host} is not an address of this machine. Set MUSTER_HOST to one, such as 127.0.0.1.`;
    const messages: Record<string, string> = {
      EADDRINUSE: `${host}:${port} is already in use. Stop the other process, or set MUSTER_PORT to another port.`,
      EACCES: `Permission denied to listen on ${host}:${port}. Set MUSTER_PORT to 1024 or more.`,
      EADDRNOTAVAIL: noAddress,
      ENOTFOUND: noAddress,
    };
    const message = messages[(error as NodeJS.ErrnoException).code ?? ''];
    throw message === undefined ? error : new UsageError(message);
  }
}
