import { setTimeout } from 'node:timers/promises';
import closeWithGrace from 'close-with-grace';
import { createApp } from '../app.ts';
import type { Config } from '../config.ts';
import { systemClock } from '../core/clock.ts';
import { UsageError } from '../core/errors.ts';
import { version } from '../core/version.ts';
import type { App } from '../http/fastify.ts';
import { newestBackup } from '../http/ops/backups.ts';
import type { Readiness } from '../http/ops/health.ts';
import { createJobs } from '../jobs/schedule.ts';
import { storeConfiguredTimeZone } from '../resources/organization/queries.ts';
import { openDatabase } from '../store/open.ts';
import { storePasswords } from '../store/settings.ts';
import { createFirst, type First } from './first-key.ts';

type Print = (text: string) => void;

/** Runs the service until a signal stops it. */
export async function serve(config: Config, print: Print): Promise<void> {
  for (const signal of [...ignoredSignals, 'SIGUSR1']) process.on(signal, () => {});
  const { app, first } = await startService(config);
  // Before the service says that it is ready: a signal may follow at once.
  stopWithGrace(app, ignoredSignals);
  print(greeting(app, first));
}

/**
 * Other daemons read their settings again or open their logs again on these. Without a listener, SIGHUP and SIGUSR2 end
 * the process, and SIGUSR1 opens a debugger, which can read everything.
 */
const ignoredSignals: IgnoredSignals = ['SIGHUP', 'SIGUSR2'];
type IgnoredSignals = ('SIGHUP' | 'SIGUSR2')[];

function greeting(app: App, first: First | undefined): string {
  const ready = `Muster ${version} is ready at ${app.baseUrl}
  docs  ${app.baseUrl}/docs
  data  ${app.database.name}`;
  if (!first) return ready;
  if (first.file !== undefined)
    return `${ready}

This is the first start. A key with all scopes is in ${first.file}. Open the console and sign in with it.`;
  return `${ready}

This is the first start. Open the console, and become its first administrator (the link works once, for an hour):

  ${signInUrl(app, first.link)}

For programs, here is a key with all scopes. It is shown only once:

  ${first.key}

Try it:

  ${curl(app, first.key, '/v1/personnel')}
`;
}

export const signInUrl = ({ baseUrl }: App, token: string) => `${baseUrl}/sign-in#${token}`;

/**
 * Listens before it migrates, so that a port in use has no side effects. Requests are rejected until it is ready. `fill`
 * writes sample data before the first key is created, so that their events are in the order of time.
 */
export async function startService(config: Config, clock = systemClock, fill?: (app: App) => Promise<void>) {
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
  // `onClose` hooks run in reverse order, so this one runs before the database is closed.
  app.addHook('onClose', jobs.stop);
  try {
    await listen(app, config);
    await database.waitUntilReachable((error) =>
      report('warn', `Waiting up to 30 s for the database ${database.name} (${(error as Error).message}).`),
    );
    const shared = database.claim();
    if (shared) report('warn', shared);
    await database.migrate();
    await database.checkSetup();
    if (config.time_zone) await storeConfiguredTimeZone(database, config.time_zone, clock());
    await storePasswords(database, config.passwords);
    await fill?.(app);
    const first = await createFirst(database, clock(), config.first_key_file);
    if (!first) await logNewestBackup(app);
    await jobs.runDue();
    readiness.state = 'ready';
    jobs.start();
    app.webhooks.start();
    return { app, first };
  } catch (error) {
    await app.close();
    throw error;
  }
}

/** Logs how old the newest backup is: by default only if there is none or an old one. */
async function logNewestBackup(app: App): Promise<void> {
  const at = await newestBackup(app.database.db, app.config.backup_dir).catch(() => undefined);
  if (at === undefined) return;
  const hours = Math.round((Date.now() - at) / 3_600_000);
  if (at === 0) app.log.warn('No backup of this database is known. `muster backup` makes one.');
  else app.log[hours > 36 ? 'warn' : 'info'](`The newest backup is ${hours} hours old.`);
}

/** On a signal: drains, rejects new requests, waits for requests in flight, and exits with 0. */
export function stopWithGrace(app: App, skip: IgnoredSignals = []): void {
  const { drain_seconds, shutdown_seconds } = app.config;
  const options = { delay: (drain_seconds + shutdown_seconds) * 1000, logger: app.log, skip };
  // Those of the start, which end the process at once: see `main.ts`.
  const earlier = (['SIGINT', 'SIGTERM'] as const).map((signal) => ({
    signal,
    all: process.listeners(signal),
  }));
  closeWithGrace(options, async ({ err }) => {
    if (err) app.log.fatal(err);
    else if (drain_seconds > 0) {
      app.startDraining();
      await setTimeout(drain_seconds * 1000);
    }
    await app.close();
    await app.tracing?.shutdown();
  });
  for (const { signal, all } of earlier) for (const listener of all) process.off(signal, listener);
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
