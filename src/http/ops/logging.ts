import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify';
import type { Config } from '../../config.ts';
import { traceIdOf } from '../request/request-ids.ts';
import { RequestHistogram } from './request-histogram.ts';
import type { Tracing } from './tracing.ts';

/** Logs JSON lines to standard error, each with the request id and the trace id. */
export const logOptions = ({ log_level }: Config) =>
  ({
    logger: { level: log_level, stream: process.stderr, hooks: { streamWrite: withoutSecrets } },
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    childLoggerFactory(logger, bindings, options, raw) {
      return logger.child({ ...bindings, ...traceFields(this, raw) }, options);
    },
  }) satisfies FastifyServerOptions;

/** The ids of the span of the request; without tracing, the trace id that the client sent. */
export function traceFields({ tracing }: Pick<FastifyInstance, 'tracing'>, request: Request): object {
  const trace_id = traceIdOf(request.headers);
  return tracing?.idsOf(request) ?? (trace_id === undefined ? {} : { trace_id });
}

type Request = Parameters<Tracing['idsOf']>[0];

/** Records each response in the metrics, and logs it at the level `info`. */
export function logRequests(app: FastifyInstance): void {
  app.decorate('requestHistogram', new RequestHistogram());
  app.addHook('onResponse', (request, reply, done) => {
    recordReply(request, reply);
    done();
  });
}

export function recordReply(request: FastifyRequest, reply: FastifyReply, ms = reply.elapsedTime): void {
  const { server, method, routeOptions, actor, log } = request;
  const response = {
    method,
    route: routeOptions.url ?? 'none',
    status: reply.statusCode,
    ms,
    key: actor?.id,
  };
  recordResponse(server, log, response, () => ({ address: server.addressOf(request.raw) }));
  server.tracing?.end(request.raw, response);
}

/** Logs an error of work that no request waits for, unless the database has already logged it. */
export function logBackgroundError(
  { database, log }: Pick<FastifyInstance, 'database' | 'log'>,
  error: unknown,
): void {
  const problem = database.explain(error);
  if (!problem || problem.cause !== undefined) log.error(error);
}

type LoggedResponse = { method: string; route: string; status: number; ms: number; key: string | undefined };

/** Never logs headers, bodies or query strings, which may contain secrets. */
export function recordResponse(
  { requestHistogram, config }: FastifyInstance,
  log: FastifyBaseLogger,
  response: LoggedResponse,
  extraFields: () => object,
): void {
  const { method, route, status, ms } = response;
  requestHistogram.record(method, route, status, ms);
  if (requestLogLevels.has(config.log_level))
    log.info({ ...extraFields(), ...response, ms: Math.round(ms * 10) / 10 });
}

const requestLogLevels = new Set(['info', 'debug', 'trace']);

/** A second line of defense: removes secrets that the message of an error may contain. */
const withoutSecrets = (line: string) => line.replaceAll(/\b(ms[tsld]_|whsec_)[\w+/=]{16,}/g, '$1…');
