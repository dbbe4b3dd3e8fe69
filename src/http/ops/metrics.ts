import { once } from 'node:events';
import type { Server } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { Type } from 'typebox';
import { UsageError } from '../../core/errors.ts';
import type { App } from '../fastify.ts';
import { Histogram } from './request-histogram.ts';

/** Serves metrics for Prometheus, to keys with `metrics.read` or on a port of their own. */
export function metricsRoute(app: App, isReady: () => Promise<boolean>): void {
  const eventLoopDelay = sampleEventLoopDelay(app);
  let registry: Promise<Registry> | undefined;
  const scrape: Scrape = async () => {
    // prom-client is loaded by the first scrape, so that starting does not wait for it.
    registry ??= import('./metric-registry.ts').then(({ createRegistry }) =>
      createRegistry(app, eventLoopDelay, isReady),
    );
    const loaded = await registry;
    return { contentType: loaded.contentType, text: await loaded.metrics() };
  };

  app.get(
    '/metrics',
    {
      config: { access: 'metrics.read', requiresUnrestrictedKey: 'Metrics cover all projects.' },
      schema: {
        operationId: 'readMetrics',
        summary: 'Get metrics for Prometheus',
        description: 'With `MUSTER_METRICS_PORT` they are also served on that port, without a key.',
        tags: ['service'],
        response: { 200: { content: { 'text/plain': { schema: Type.String() } } } },
      },
    },
    async (_, reply) => {
      const { contentType, text } = await scrape();
      return reply.type(contentType).serializer(String).send(text);
    },
  );

  const port = app.config.metrics_port;
  if (port !== undefined) serveOnPort(app, port, scrape);
}

type Scrape = () => Promise<{ contentType: string; text: string }>;

const sampleIntervalMs = 20;

/** Measures how late a timer fires. */
function sampleEventLoopDelay(app: FastifyInstance): Histogram {
  const delay = new Histogram();
  let expected = performance.now() + sampleIntervalMs;
  const timer = setInterval(() => {
    const now = performance.now();
    delay.observe(Math.max(0, now - expected) / 1000);
    expected = now + sampleIntervalMs;
  }, sampleIntervalMs);
  timer.unref();
  app.addHook('onClose', async () => clearInterval(timer));
  return delay;
}

/** A port that only the monitoring system can reach needs no key. An error of it prevents the start. */
function serveOnPort(app: FastifyInstance, port: number, scrape: Scrape): void {
  let server: Server | undefined;
  app.addHook('onReady', async () => {
    // Loaded only here: importing node:http also loads the `fetch` client, which would slow down every start.
    const { createServer } = await import('node:http');
    server = createServer(async (request, response) => {
      if (request.url !== '/metrics' || request.method !== 'GET') {
        response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' });
        response.end('Only GET /metrics is served here.\n');
        return;
      }
      try {
        const { contentType, text } = await scrape();
        response.writeHead(200, { 'content-type': contentType }).end(text);
      } catch (error) {
        app.log.error(error);
        response.writeHead(500).end();
      }
    });
    try {
      await once(server.listen(port, app.config.host), 'listening');
    } catch (error) {
      throw explainPortError(error as NodeJS.ErrnoException, `${app.config.host}:${port}`);
    }
  });
  app.addHook('onClose', async () => {
    server?.closeAllConnections();
    server?.close();
  });
}

function explainPortError(error: NodeJS.ErrnoException, address: string): Error {
  const messages: Record<string, string> = {
    EADDRINUSE: `${address} is already in use. Stop the other process, or set MUSTER_METRICS_PORT to another port.`,
    EACCES: `Permission denied to listen on ${address}. Set MUSTER_METRICS_PORT to 1024 or more.`,
  };
  const message = messages[error.code ?? ''];
  return message === undefined ? error : new UsageError(message);
}
