import type { FastifyInstance } from 'fastify';
import { Counter, Gauge, type Metric, Registry } from 'prom-client';
import type { watchConnections } from './connections.ts';
import { bucketBounds, type Histogram } from './request-histogram.ts';

type Labels = Record<string, string | number>;
type Sample = { labels?: Labels; value: number };

export type MetricSources = {
  app: FastifyInstance;
  readConnections: ReturnType<typeof watchConnections>;
  eventLoopDelay: Histogram;
};

/**
 * All metrics of the service; values are read when a scrape asks for them. The default metrics of prom-client are left
 * out because its event loop lag is reset by every scrape, so two scrapers would corrupt each other.
 */
export function createRegistry(sources: MetricSources): Registry {
  const registry = new Registry();
  httpMetrics(registry, sources);
  databaseMetrics(registry, sources);
  processMetrics(registry, sources);
  return registry;
}

function httpMetrics(registry: Registry, { app, readConnections }: MetricSources): void {
  const { load, listSpool, responseCache: cache, requestHistogram } = app;
  histogram(
    registry,
    'muster_http_request_duration_seconds',
    'Duration of requests, from their headers to the end of the response.',
    () => requestHistogram.series(),
  );
  gauge(registry, 'muster_http_requests_in_flight', 'Requests whose response has not ended.', () => [
    { labels: { state: 'processing' }, value: load.active },
    { labels: { state: 'transferring' }, value: load.inFlight - load.active },
  ]);
  counter(registry, 'muster_http_requests_shed_total', 'Requests rejected because of overload.', () => [
    { value: load.shed },
  ]);
  gauge(registry, 'muster_list_streams', 'Whole lists being streamed.', () => [
    { value: listSpool.readers.size },
  ]);
  gauge(registry, 'muster_list_spool_bytes', 'Bytes of lists in temporary files, for slow readers.', () => [
    { value: [...listSpool.readers].reduce((sum, { bytes }) => sum + bytes, 0) },
  ]);
  gauge(registry, 'muster_http_connections', 'Open connections.', () => [{ value: readConnections().open }]);
  counter(registry, 'muster_http_bytes_total', 'Bytes on connections, headers included.', () => {
    const { received, sent } = readConnections();
    return [
      { labels: { direction: 'received' }, value: received },
      { labels: { direction: 'sent' }, value: sent },
    ];
  });
  gauge(registry, 'muster_response_cache_entries', 'Responses in the cache.', () => [{ value: cache.count }]);
  gauge(registry, 'muster_response_cache_bytes', 'Memory used by the response cache.', () => [
    { value: cache.bytes },
  ]);
  gauge(registry, 'muster_response_cache_max_bytes', 'Memory the response cache may use.', () => [
    { value: cache.maxBytes },
  ]);
  counter(registry, 'muster_response_cache_requests_total', 'Cacheable requests, by cache result.', () => [
    { labels: { result: 'hit' }, value: cache.hits },
    { labels: { result: 'miss' }, value: cache.misses },
  ]);
}

function databaseMetrics(registry: Registry, { app }: MetricSources): void {
  const pools = () => Object.entries(app.database.pools());
  gauge(registry, 'muster_database_connections', 'Database connections, by pool and state.', () =>
    pools().flatMap(([pool, { used, idle }]) => [
      { labels: { pool, state: 'used' }, value: used },
      { labels: { pool, state: 'idle' }, value: idle },
    ]),
  );
  gauge(registry, 'muster_database_pool_waiting', 'Operations waiting for a connection, by pool.', () =>
    pools().map(([pool, { waiting }]) => ({ labels: { pool }, value: waiting })),
  );
}

/** Named as prom-client and other Node services name them, so that existing dashboards work. */
function processMetrics(registry: Registry, { eventLoopDelay }: MetricSources): void {
  histogram(
    registry,
    'muster_event_loop_delay_seconds',
    'Delay of a timer that fires every 20 ms, which is the delay of the event loop.',
    () => [{ labels: {}, histogram: eventLoopDelay }],
  );
  gauge(registry, 'process_resident_memory_bytes', 'Resident memory of the process.', () => [
    { value: process.memoryUsage.rss() },
  ]);
  gauge(registry, 'nodejs_heap_size_used_bytes', 'Used heap of the main thread.', () => [
    { value: process.memoryUsage().heapUsed },
  ]);
  gauge(registry, 'nodejs_external_memory_bytes', 'Memory of buffers.', () => [
    { value: process.memoryUsage().external },
  ]);
  counter(registry, 'process_cpu_seconds_total', 'CPU time of the process, user and system.', () => {
    const { user, system } = process.cpuUsage();
    return [{ value: (user + system) / 1e6 }];
  });
  gauge(registry, 'process_start_time_seconds', 'Start of the process, in seconds since 1970.', () => [
    { value: Math.round(performance.timeOrigin) / 1000 },
  ]);
}

function gauge(registry: Registry, name: string, help: string, read: () => Sample[]): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    labelNames: labelNames(read),
    collect() {
      this.reset();
      for (const { labels = {}, value } of read()) this.set(labels, value);
    },
  });
}

/** The value is counted elsewhere and only ever grows; prom-client has no way to set a counter. */
function counter(registry: Registry, name: string, help: string, read: () => Sample[]): void {
  new Counter({
    name,
    help,
    registers: [registry],
    labelNames: labelNames(read),
    collect() {
      this.reset();
      for (const { labels = {}, value } of read()) this.inc(labels, value);
    },
  });
}

const labelNames = (read: () => Sample[]) => Object.keys(read()[0]?.labels ?? {});

type HistogramSeries = { labels: Labels; histogram: Histogram };

/** A histogram that is counted elsewhere; prom-client only writes it. */
function histogram(registry: Registry, name: string, help: string, read: () => HistogramSeries[]): void {
  const type = 'histogram';
  const get = async () => ({ name, help, type, values: read().flatMap((one) => histogramValues(name, one)) });
  registry.registerMetric({ name, type, get } as unknown as Metric);
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
