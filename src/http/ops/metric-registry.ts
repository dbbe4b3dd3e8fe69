import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { Counter, Gauge, type Metric, Registry } from 'prom-client';
import { Problem } from '../../core/errors.ts';
import { readBackupRecord } from '../../store/backup/record.ts';
import { newestBackup } from './backups.ts';
import { bucketBounds, type Histogram } from './request-histogram.ts';

type Labels = Record<string, string | number>;
type Sample = { labels?: Labels; value: number };

/** Statuses that alerts watch. Each has a series from the start, so that the first such response is an increase. */
const watchedStatuses = [500, 503, 507];

/**
 * All metrics of the service; values are read when a scrape asks for them. The default metrics of prom-client are left
 * out because its event loop lag is reset by every scrape, so two scrapers would corrupt each other.
 */
export function createRegistry(
  app: FastifyInstance,
  eventLoopDelay: Histogram,
  isReady: () => Promise<boolean>,
): Registry {
  const registry = new Registry();
  const metrics: Metrics = {
    gauge: metricsOf(registry, Gauge),
    counter: metricsOf(registry, Counter),
    histogram: histogramsOf(registry),
    readGauge: readGaugesOf(registry),
  };
  metrics.readGauge('muster_ready', 'Whether GET /readyz is 200.', async () => Number(await isReady()));
  httpMetrics(metrics, app);
  databaseMetrics(metrics, app);
  webhookMetrics(metrics, app);
  metrics.counter('muster_sign_ins_total', 'Attempts to sign in, by way and result.', () =>
    app.signIns.samples(),
  );
  jobMetrics(metrics, app);
  metrics.gauge(
    'muster_acceptances_expired',
    'Risks whose acceptance has expired and that are still to be reopened.',
    () => app.acceptances.left,
  );
  metrics.histogram(
    'muster_event_loop_delay_seconds',
    'Delay of a timer that fires every 20 ms, which is the delay of the event loop.',
    () => [{ labels: {}, histogram: eventLoopDelay }],
  );
  processMetrics(metrics);
  return registry;
}

/** Functions that register metrics of each kind. */
type Metrics = Record<'gauge' | 'counter', ReturnType<typeof metricsOf>> & {
  histogram: ReturnType<typeof histogramsOf>;
  readGauge: ReturnType<typeof readGaugesOf>;
};

function httpMetrics({ gauge, counter, histogram }: Metrics, app: FastifyInstance): void {
  const { load, connections, slowReaders, listSpool, responseCache: cache, requestHistogram } = app;
  histogram(
    'muster_http_request_duration_seconds',
    'Duration of requests, from their headers to the end of the response.',
    () => requestHistogram.series(),
  );
  counter('muster_http_server_errors_total', 'Responses with these statuses, from 0 on.', () =>
    watchedStatuses.map((status) => ({ labels: { status }, value: requestHistogram.count(status) })),
  );
  gauge('muster_http_requests_in_flight', 'Requests whose response has not ended.', () => [
    { labels: { state: 'processing' }, value: load.active },
    { labels: { state: 'transferring' }, value: load.inFlight - load.active },
  ]);
  counter('muster_http_requests_shed_total', 'Requests rejected because of overload.', () => load.shed);
  gauge(
    'muster_http_shedding_seconds',
    'How long requests have been rejected because of overload.',
    () => load.sheddingSeconds,
  );
  gauge(
    'muster_http_unsent_bytes',
    'Bytes of responses that clients have not read yet.',
    () => slowReaders.unsentBytes,
  );
  counter(
    'muster_http_slow_readers_closed_total',
    'Connections closed because their clients did not read the response.',
    () => slowReaders.closed,
  );
  gauge('muster_list_streams', 'Whole lists being streamed.', () => listSpool.readers.size);
  gauge('muster_list_spool_bytes', 'Bytes of lists in temporary files, for slow readers.', () =>
    [...listSpool.readers].reduce((sum, { bytes }) => sum + bytes, 0),
  );
  gauge('muster_http_connections', 'Open connections.', () => connections.open.size);
  counter('muster_http_bytes_total', 'Bytes on connections, headers included.', () => {
    const { received, sent } = connections.totals();
    return [
      { labels: { direction: 'received' }, value: received },
      { labels: { direction: 'sent' }, value: sent },
    ];
  });
  gauge('muster_response_cache_entries', 'Responses in the cache.', () => cache.count);
  gauge('muster_response_cache_bytes', 'Memory used by the response cache.', () => cache.bytes);
  gauge('muster_response_cache_max_bytes', 'Memory the response cache may use.', () => cache.maxBytes);
  counter('muster_response_cache_requests_total', 'Cacheable requests, by cache result.', () => [
    { labels: { result: 'hit' }, value: cache.hits },
    { labels: { result: 'miss' }, value: cache.misses },
  ]);
}

function databaseMetrics({ gauge, histogram, readGauge }: Metrics, app: FastifyInstance): void {
  histogram('muster_database_commit_duration_seconds', 'Duration of commits, on disk.', () => [
    { labels: {}, histogram: app.commitDurations },
  ]);
  let reading: ReturnType<typeof app.database.storage> | undefined;
  /** One read for the gauges of a scrape, which are read at the same time. */
  const storage = () => {
    reading ??= app.database.storage().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  readGauge(
    'muster_database_size_bytes',
    'Size of the database.',
    async () => (await storage()).databaseBytes,
  );
  readGauge(
    'muster_database_wal_bytes',
    'Size of the write-ahead log, if the database is a file.',
    async () => (await storage()).walBytes,
  );
  readGauge(
    'muster_disk_free_bytes',
    'Free disk space, if the database is a file.',
    async () => (await storage()).freeBytes,
  );
  const { backup_dir } = app.config;
  // Settings of the whole service: no project limits them.
  const { database } = app;
  const newest = () => newestBackup(database.db, backup_dir);
  readGauge(
    'muster_backup_last_success_timestamp_seconds',
    'When the newest backup was made; 0 if there is none.',
    async () => (await newest()) / 1000,
  );
  readGauge('muster_backup_age_seconds', 'Age of the newest backup.', async () => {
    const at = await newest();
    return at === 0 ? undefined : (Date.now() - at) / 1000;
  });
  const record = () => readBackupRecord(database.db);
  readGauge(
    'muster_backup_last_size_bytes',
    'Size of the newest backup of muster backup.',
    async () => (await record()).bytes ?? undefined,
  );
  readGauge(
    'muster_backup_last_result',
    '1 if the last run of muster backup succeeded, 0 if it failed.',
    async () => {
      const { succeeded_at, failed_at } = await record();
      if (succeeded_at === null && failed_at === null) return undefined;
      return (succeeded_at ?? '') >= (failed_at ?? '') ? 1 : 0;
    },
  );
  readGauge('muster_database_writable', '1 if the database accepts writes, 0 if not.', () =>
    app.database.checkWritable().then(
      () => 1,
      // Whether a database that does not respond accepts writes is unknown.
      (error) => (error instanceof Problem ? 0 : undefined),
    ),
  );
  const pools = () => Object.entries(app.database.pools());
  gauge('muster_database_connections', 'Database connections, by pool and state.', () =>
    pools().flatMap(([pool, { used, idle }]) => [
      { labels: { pool, state: 'used' }, value: used },
      { labels: { pool, state: 'idle' }, value: idle },
    ]),
  );
  gauge('muster_database_pool_max', 'Connections that a pool may open, if the database is a server.', () =>
    pools().flatMap(([pool, { max }]) => (max === undefined ? [] : { labels: { pool }, value: max })),
  );
  gauge('muster_database_pool_waiting', 'Operations waiting for a connection, by pool.', () =>
    pools().map(([pool, { waiting }]) => ({ labels: { pool }, value: waiting })),
  );
}

function webhookMetrics({ gauge, counter }: Metrics, { deliveryCounts: counts }: FastifyInstance): void {
  gauge(
    'muster_webhook_deliveries_pending',
    'Deliveries that wait for an attempt or its result.',
    () => counts.pending,
  );
  counter(
    'muster_webhook_events_missed_total',
    'Events that were deleted before a webhook that was behind got them.',
    () => counts.missed,
  );
  counter('muster_webhook_attempts_total', 'Attempts to deliver an event, by result.', () => [
    { labels: { result: 'delivered' }, value: counts.delivered },
    { labels: { result: 'retried' }, value: counts.retried },
    { labels: { result: 'failed' }, value: counts.failed },
  ]);
}

function jobMetrics({ counter }: Metrics, { jobCounts }: FastifyInstance): void {
  const { runs, seconds, deleted } = jobCounts;
  counter('muster_job_runs_total', 'Runs of jobs, by result.', () => runs.samples());
  counter('muster_job_seconds_total', 'How long jobs have taken.', () => seconds.samples());
  counter('muster_retention_deleted_total', 'Rows that jobs have deleted because of their age.', () =>
    deleted.samples(),
  );
}

/** Named as prom-client and other Node services name them, so that existing dashboards work. */
function processMetrics({ gauge, counter }: Metrics): void {
  gauge('process_resident_memory_bytes', 'Resident memory of the process.', process.memoryUsage.rss);
  gauge('nodejs_heap_size_used_bytes', 'Used heap of the main thread.', () => process.memoryUsage().heapUsed);
  gauge('nodejs_external_memory_bytes', 'Memory of buffers.', () => process.memoryUsage().external);
  counter('process_cpu_seconds_total', 'CPU time of the process, user and system.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  const startTime = Math.round(performance.timeOrigin) / 1000;
  gauge('process_start_time_seconds', 'Start of the process, in seconds since 1970.', () => startTime);
}

/**
 * Returns a function that registers metrics of one kind. `read` returns the current value, or one per label. Counters are
 * counted elsewhere, too: prom-client cannot set one, so it is reset and increased.
 */
function metricsOf(registry: Registry, Kind: typeof Gauge | typeof Counter) {
  return (name: string, help: string, read: () => number | Sample[]): void => {
    const samples = (): Sample[] => {
      const value = read();
      return typeof value === 'number' ? [{ value }] : value;
    };
    new Kind({
      name,
      help,
      registers: [registry],
      labelNames: Object.keys(samples()[0]?.labels ?? {}),
      collect() {
        this.reset();
        for (const { labels = {}, value } of samples()) this.inc(labels, value);
      },
    });
  };
}

/** Prometheus waits for 10 seconds by default, but a frozen database must not make the other values late. */
const maxReadMs = 1_500;

/** Returns a function that registers gauges that take a query or a system call. Without a value there is no sample. */
function readGaugesOf(registry: Registry) {
  const type = 'gauge';
  return (name: string, help: string, read: () => Promise<number | undefined>): void => {
    const get = async () => {
      // A scrape must not fail because one value is missing.
      const value = await Promise.race([
        read().catch(() => undefined),
        setTimeout(maxReadMs, undefined, { ref: false }),
      ]);
      return { name, help, type, values: value === undefined ? [] : [{ value, labels: {} }] };
    };
    registry.registerMetric({ name, type, get } as unknown as Metric);
  };
}

type HistogramSeries = { labels: Labels; histogram: Histogram };

/** Returns a function that registers histograms. They are counted elsewhere; prom-client only writes them. */
function histogramsOf(registry: Registry) {
  const type = 'histogram';
  return (name: string, help: string, read: () => HistogramSeries[]): void => {
    const get = async () => ({
      name,
      help,
      type,
      values: read().flatMap((one) => histogramValues(name, one)),
    });
    registry.registerMetric({ name, type, get } as unknown as Metric);
  };
}

function histogramValues(name: string, { labels, histogram: { counts, sum } }: HistogramSeries) {
  let count = 0;
  const buckets = [...bucketBounds, '+Inf'].map((le, index) => {
    count += counts[index] ?? 0;
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
