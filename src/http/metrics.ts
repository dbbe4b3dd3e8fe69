import type { Server } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { spooledBytes } from '../lists/spool.ts';
import { heading, type Labels, line } from './answered.ts';
import { watchConnections } from './connections.ts';
import type { App } from './fastify.ts';

/**
 * Prometheus' text format, written here: the usual library takes microseconds for an observation, where a whole answer
 * from memory takes some twenty, and tens of milliseconds of each start.
 */
const mediaType = 'text/plain; version=0.0.4; charset=utf-8';

type Sample = { labels?: Labels; value: number };

/** Tells what has been answered, with the state of the process and its database, to whoever may know. */
export function metricsRoute(app: App): void {
  const loop = monitorEventLoopDelay({ resolution: 20 });
  loop.enable();
  app.addHook('onClose', async () => {
    loop.disable();
  });
  const connections = watchConnections(app.server);
  const read = () =>
    [...app.answered.lines(), ...loadOf(app, connections()), ...stateOf(app, loop), ''].join('\n');

  app.get(
    '/metrics',
    {
      config: { access: 'events.read', reachesBeyondLimits: 'This tells what is done in all projects.' },
      schema: {
        operationId: 'readMetrics',
        summary: 'What the service has done and how it fares, for Prometheus',
        description: 'With `MUSTER_METRICS_PORT` the same is served at a port of its own, without a key.',
        tags: ['service'],
        response: { 200: { content: { 'text/plain': { schema: Type.String() } } } },
      },
    },
    async (_, reply) => reply.type(mediaType).serializer(String).send(read()),
  );

  const port = app.config.metrics_port;
  if (port !== undefined) serveApart(app, port, read);
}

/** Where only those who watch the service can get to it. */
function serveApart(app: FastifyInstance, port: number, read: () => string): void {
  let server: Server | undefined;
  app.addHook('onListen', async () => {
    // Only now: it brings the client of `fetch` with it, and every start would wait for that.
    const { createServer } = await import('node:http');
    const apart = createServer((request, response) => {
      const isThere = request.url === '/metrics' && request.method === 'GET';
      response.writeHead(isThere ? 200 : 404, { 'content-type': mediaType });
      response.end(isThere ? read() : 'There is only GET /metrics here.\n');
    });
    server = apart;
    await new Promise<void>((resolve, reject) => {
      apart.once('error', reject).listen(port, app.config.host, resolve);
    });
  });
  app.addHook('onClose', async () => {
    server?.closeAllConnections();
    server?.close();
  });
}

function loadOf(
  { load, listSpool }: FastifyInstance,
  { open, received, sent }: ReturnType<ReturnType<typeof watchConnections>>,
): string[] {
  return [
    ...gauge('muster_http_connections', 'Connections that are open.', [{ value: open }]),
    ...counter('muster_http_bytes_total', 'Bytes on connections, headers included.', [
      { labels: { direction: 'received' }, value: received },
      { labels: { direction: 'sent' }, value: sent },
    ]),
    ...gauge('muster_http_requests_under_way', 'Requests that are not answered to their end.', [
      { labels: { state: 'all' }, value: load.underWay },
      { labels: { state: 'worked_on' }, value: load.working },
      { labels: { state: 'reading_a_list' }, value: listSpool.readers.size },
    ]),
    ...gauge('muster_list_spool_bytes', 'Bytes of lists in temporary files, for slow readers.', [
      { value: spooledBytes(listSpool) },
    ]),
    ...counter('muster_http_requests_shed_total', 'Requests refused because there was too much to do.', [
      { value: load.shed },
    ]),
  ];
}

function stateOf(app: FastifyInstance, loop: ReturnType<typeof monitorEventLoopDelay>): string[] {
  const { hits, misses, bytes, count, mostBytes } = app.keptAnswers;
  const { rss, heapUsed, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const delays = [50, 99, 100].map((percentile) => ({
    labels: { quantile: percentile / 100 },
    value: loop.percentile(percentile) / 1e9,
  }));
  // From one reading to the next.
  loop.reset();
  const pools = Object.entries(app.database.pools());
  return [
    ...gauge('muster_cache_answers', 'Answers kept in memory.', [{ value: count }]),
    ...gauge('muster_cache_bytes', 'What they take.', [{ value: bytes }]),
    ...gauge('muster_cache_limit_bytes', 'What they may take.', [{ value: mostBytes }]),
    ...counter(
      'muster_cache_requests_total',
      'Requests that could be answered from memory, and whether they were.',
      [
        { labels: { result: 'hit' }, value: hits },
        { labels: { result: 'miss' }, value: misses },
      ],
    ),
    ...gauge(
      'muster_database_connections',
      'Connections by what they are for.',
      pools.flatMap(([pool, { used, idle }]) => [
        { labels: { pool, state: 'used' }, value: used },
        { labels: { pool, state: 'idle' }, value: idle },
      ]),
    ),
    ...gauge(
      'muster_database_waiting',
      'Who waits for a connection, by what for.',
      pools.map(([pool, { waiting }]) => ({ labels: { pool }, value: waiting })),
    ),
    ...gauge(
      'muster_event_loop_delay_seconds',
      'How late the event loop was since the last reading.',
      delays,
    ),
    ...gauge('process_resident_memory_bytes', 'Memory of the process.', [{ value: rss }]),
    ...gauge('nodejs_heap_used_bytes', 'Memory of JavaScript values.', [{ value: heapUsed }]),
    ...gauge('nodejs_external_memory_bytes', 'Memory of buffers.', [{ value: external }]),
    ...counter('process_cpu_seconds_total', 'Processor time.', [{ value: (user + system) / 1e6 }]),
    ...gauge('process_start_time_seconds', 'When it started, since 1970.', [
      { value: Math.round(performance.timeOrigin) / 1000 },
    ]),
  ];
}

const gauge = (name: string, help: string, samples: Sample[]) => metric(name, 'gauge', help, samples);
const counter = (name: string, help: string, samples: Sample[]) => metric(name, 'counter', help, samples);

const metric = (name: string, type: string, help: string, samples: Sample[]) => [
  ...heading(name, type, help),
  ...samples.map(({ labels = {}, value }) => line(name, labels, value)),
];
