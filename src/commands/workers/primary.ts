import cluster, { type Worker } from 'node:cluster';
import { setTimeout } from 'node:timers/promises';
import closeWithGrace from 'close-with-grace';
import type { Config } from '../../config.ts';
import type { FromWorker, ToWorker } from '../../http/ops/peers.ts';
import { createMetricsCollector } from './metrics.ts';
import { createTurnQueue } from './turns.ts';

/** How much longer than its workers the primary process waits for requests in flight. */
const extraStopMs = 5000;

/** The wait before a worker is replaced. It doubles with each worker that ended within the last minute. */
const minRestartMs = 100;
const maxRestartMs = 10_000;

/**
 * Runs the service in `config.workers` processes that share its port. This process starts them, replaces a worker that
 * ends, and passes messages between them.
 */
export function serve(config: Config, print: (text: string) => void): void {
  let settings = shareOf(config);
  let port = config.port;
  const metrics = createMetricsCollector((id, number) => send(id, { type: 'collect', number }));
  const turns = createTurnQueue(send);
  const ready = new Set<number>();
  const endedAt: number[] = [];
  /** Set when the first worker is ready, until all of them are. */
  let greeting: string | undefined;
  let hasStarted = false;
  let isStopping = false;
  let hasFailed = false;

  function start(): void {
    const worker = cluster.fork();
    worker.on('message', (message: FromWorker) => receive(worker, message));
    worker.once('exit', (code, signal) => onExit(worker, code, signal));
    send(worker.id, { type: 'start', config: settings, isFirst: !hasStarted });
  }

  function receive({ id }: Worker, message: FromWorker): void {
    if (message.type === 'ready') onReady(id, message);
    if (message.type === 'charges') for (const other of workerIds()) if (other !== id) send(other, message);
    if (message.type === 'take turn') turns.take(id);
    if (message.type === 'end turn') turns.end(id);
    if (message.type === 'metrics') metrics.receive(id, message.number, message.values);
    if (message.type === 'scrape') {
      const { number } = message;
      void metrics.collect([...ready]).then((sums) => send(id, { type: 'scraped', number, ...sums }));
    }
  }

  function onReady(id: number, message: Extract<FromWorker, { type: 'ready' }>): void {
    ready.add(id);
    port = message.port;
    if (!hasStarted) {
      hasStarted = true;
      greeting = message.greeting;
      for (let count = 1; count < config.workers; count++) start();
    }
    if (greeting !== undefined && ready.size === config.workers) {
      print(greeting);
      greeting = undefined;
    }
  }

  async function onExit({ id, process: { pid } }: Worker, code: number, signal: string | null) {
    const wasReady = ready.delete(id);
    metrics.retire(id);
    turns.remove(id);
    if (isStopping) {
      hasFailed ||= code !== 0;
      return;
    }
    // A worker that exits by itself has printed why it cannot start. With another one the service goes on.
    if (!wasReady && (!hasStarted || (ready.size === 0 && signal === null))) process.exit(code || 1);
    if (ready.size === 0 && settings.port !== port) {
      // The workers shared a free port that the first one picked. Those that start now would pick another one.
      settings = { ...settings, port };
      for (const worker of workers()) worker.process.kill('SIGKILL');
    }
    const now = performance.now();
    endedAt.splice(0, endedAt.length, ...endedAt.filter((time) => time > now - 60_000), now);
    const waitMs = Math.min(maxRestartMs, minRestartMs * 2 ** (endedAt.length - 1));
    logError(config, `Worker ${pid} ended with ${signal ?? code}. Another one starts in ${waitMs} ms.`);
    await setTimeout(waitMs);
    if (!isStopping) start();
  }

  // The workers accept connections themselves. If this process passed them on, one that was on its way to a worker that
  // dies would never be closed.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ args: ['serve-worker'] });
  const delay = config.shutdown_seconds * 1000 + extraStopMs;
  closeWithGrace({ delay, logger: false }, async ({ err }) => {
    if (err) logError(config, String(err.stack));
    isStopping = true;
    const ended = workers().map((worker) => new Promise((resolve) => worker.once('exit', resolve)));
    for (const id of workerIds()) send(id, { type: 'stop' });
    await Promise.all(ended);
    if (hasFailed) throw new Error('A worker did not stop in time.');
  });

  // The first worker starts alone, because it creates and migrates the database.
  start();
}

/** The settings of one worker: what is set for the service is divided among them. */
const shareOf = (config: Config): Config => ({
  ...config,
  database_pool: Math.floor(config.database_pool / config.workers),
  max_concurrent_requests: Math.ceil(config.max_concurrent_requests / config.workers),
  cache_mb: config.cache_mb / config.workers,
});

const workers = () => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
const workerIds = () => workers().map(({ id }) => id);

/** Does nothing if the worker has ended. */
function send(workerId: number, message: ToWorker): void {
  const worker = cluster.workers?.[workerId];
  if (worker?.isConnected()) worker.send(message, () => {});
}

/** A line like those of the workers, whose logger this process does not load. */
function logError({ log_level }: Config, msg: string): void {
  if (log_level === 'silent' || log_level === 'fatal') return;
  process.stderr.write(`${JSON.stringify({ level: 50, time: Date.now(), pid: process.pid, msg })}\n`);
}
