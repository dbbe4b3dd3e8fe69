import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import {
  type Attributes,
  type Context,
  context,
  DiagLogLevel,
  diag,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { FastifyInstance } from 'fastify';
import type { LogEvent } from 'kysely';
import { type Config, databaseSystem } from '../../config.ts';
import { version } from '../../core/version.ts';
import type { ScopedDatabase } from '../../store/project-scope.ts';
import { createTracerProvider } from './trace-provider.ts';

export type Tracing = ReturnType<typeof startTracing>;
type TracedResponse = { route: string; status: number; key: string | undefined; isCached?: boolean };

/** How long stopping waits for the last spans to be sent. */
const maxFlushMs = 3000;

/**
 * Starts the OpenTelemetry SDK with its standard `OTEL_…` variables. Load this file only if traces are on:
 * that takes 0.15 s of processor time. Spans are created here and not by instrumentation packages, which replace the
 * functions of other packages when these are loaded: the service is bundled, and the fast path does not pass Fastify.
 */
export function startTracing(config: Config, warn: (message: string) => unknown) {
  reportProblems(warn);
  const provider = createTracerProvider();
  const tracer = provider.getTracer('muster', version);
  const system = databaseSystem(config);
  const contexts = new WeakMap<IncomingMessage, Context>();
  const spanOf = (request: IncomingMessage): Span | undefined =>
    trace.getSpan(contexts.get(request) ?? ROOT_CONTEXT);

  /** Adds a span to each write transaction, with its wait for other writers and the commit. */
  const traceWrites = (database: ScopedDatabase): ScopedDatabase => ({
    ...database,
    write: (work, workload) =>
      tracer.startActiveSpan('write transaction', (span) =>
        database
          // A group of writes runs in the context of its first one.
          .write(context.bind(context.active(), work), workload)
          .finally(() => span.end()),
      ),
  });

  return {
    /** Starts the span of a request, which continues the trace of a valid `traceparent`. */
    start(request: IncomingMessage, response: ServerResponse): void {
      const parent = propagation.extract(ROOT_CONTEXT, request.headers);
      const method = request.method ?? '';
      const span = tracer.startSpan(
        method,
        { kind: SpanKind.SERVER, attributes: { 'http.request.method': method, 'url.scheme': 'http' } },
        parent,
      );
      contexts.set(request, trace.setSpan(parent, span));
      // For a request that no route has responded to.
      response.once('close', () => setImmediate(() => span.isRecording() && span.end()));
    },

    /** Ends the span of a request. Its name has the path of the route: a URL may contain a secret. */
    end(request: IncomingMessage, { route, status, key, isCached = false }: TracedResponse): void {
      const span = spanOf(request);
      if (!span?.isRecording()) return;
      span.updateName(`${request.method} ${route}`);
      span.setAttributes({
        'http.route': route,
        'http.response.status_code': status,
        'muster.cached': isCached,
        ...(key !== undefined && { 'muster.key_id': key }),
      });
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },

    /** Starts the span of a request to another server. Its `headers` continue the trace there. */
    startRequest(method: string, url: URL, attributes: Attributes) {
      const span = tracer.startSpan(method, {
        kind: SpanKind.CLIENT,
        attributes: { 'http.request.method': method, ...serverAttributes(url), ...attributes },
      });
      const headers: Record<string, string> = {};
      propagation.inject(trace.setSpan(context.active(), span), headers);
      return {
        headers,
        /** `errorType` is set if the request has failed. */
        end(status: number | null, errorType: string | undefined): void {
          if (status !== null) span.setAttribute('http.response.status_code', status);
          if (errorType !== undefined)
            span.setAttribute('error.type', errorType).setStatus({ code: SpanStatusCode.ERROR });
          span.end();
        },
      };
    },

    /** The ids of the span of a request, as fields of a log line. */
    idsOf(request: IncomingMessage): { trace_id: string; span_id: string } | undefined {
      const span = spanOf(request)?.spanContext();
      return span && { trace_id: span.traceId, span_id: span.spanId };
    },

    /** Makes the spans of what a request does children of its span. */
    install(app: FastifyInstance): void {
      const run = (request: IncomingMessage, work: () => void) =>
        context.with(contexts.get(request) ?? ROOT_CONTEXT, work);
      app.addHook('onRequest', (request, _, done) => run(request.raw, done));
      // Again, because the events of a body arrive outside of the context of the request.
      app.addHook('preValidation', (request, _, done) => {
        if (request.database) request.database = traceWrites(request.database);
        run(request.raw, done);
      });
    },

    /** Adds a span for a statement of a request. Its text is left out, because it may contain values. */
    recordQuery({ level, query, queryDurationMillis }: LogEvent): void {
      const parent = trace.getSpan(context.active());
      if (!parent?.isRecording()) return;
      const end = performance.timeOrigin + performance.now();
      const [, operation = 'SQL', table] =
        /^\W*(\w+)(?:.*?\b(?:from|into|update) "(\w+)")?/is.exec(query.sql) ?? [];
      const isPlain = operation.toLowerCase() !== 'with';
      const name = operation.toUpperCase();
      const span = tracer.startSpan(isPlain && table !== undefined ? `${name} ${table}` : name, {
        kind: SpanKind.CLIENT,
        startTime: end - queryDurationMillis,
        attributes: { 'db.system.name': system, 'db.operation.name': name },
      });
      if (level === 'error') span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(end);
    },

    /** Sends the last spans. */
    shutdown: () => Promise.race([provider.shutdown().catch(() => {}), setTimeout(maxFlushMs)]),
  };
}

/** The server of a URL, without its path and query: in those of webhooks there may be a secret. */
function serverAttributes({ origin, protocol, hostname, port }: URL): Attributes {
  return {
    'url.full': `${origin}/REDACTED`,
    'server.address': hostname.replace(/^\[(.*)\]$/, '$1'),
    'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
  };
}

/** Warns when spans cannot be sent, at most once a minute. */
function reportProblems(warn: (message: string) => unknown): void {
  let lastWarning = Number.NEGATIVE_INFINITY;
  const report = (message: string) => {
    if (performance.now() - lastWarning < 60_000) return;
    lastWarning = performance.now();
    warn(`OpenTelemetry: ${message}`);
  };
  const ignore = () => {};
  diag.setLogger(
    { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore },
    DiagLogLevel.WARN,
  );
}
