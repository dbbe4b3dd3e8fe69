import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify';
import type { Config } from '../../config.ts';
import { Problem, type ProblemCode } from '../../core/errors.ts';
import type { Database } from '../../database/open.ts';
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
export function logBackgroundError(app: Failing, error: unknown): void {
  const problem = error instanceof Problem ? error : app.database.explain(error);
  if (!problem) app.log.error(error);
  else if (problem === error || problem.cause !== undefined) logFailure(app, problem);
}

type Failing = Pick<FastifyInstance, 'database' | 'log' | 'clock'>;

/** By database and code: when the last line was logged, and how many were left out since. */
const outages = new WeakMap<Database, Map<ProblemCode, { at: number; left_out: number }>>();
const outageLogMs = 1_000;

/** During an outage everything fails for the same reason, which is logged once a second, and without its stack. */
export function logFailure(
  { database, clock, log: appLog }: Failing,
  { code, message, cause }: Problem,
  log: FastifyBaseLogger = appLog,
): void {
  const described = describeCause(cause);
  if (code === 'internal') return void log.error({ ...described, code }, message);
  const byCode = outages.get(database) ?? new Map();
  outages.set(database, byCode);
  const now = Date.parse(clock().now);
  const last = byCode.get(code) ?? { at: Number.NEGATIVE_INFINITY, left_out: 0 };
  // A clock that was set back must not silence it.
  if (Math.abs(now - last.at) < outageLogMs) {
    last.left_out++;
    return;
  }
  byCode.set(code, { at: now, left_out: 0 });
  log.error({ ...described, stack: undefined, code, left_out: last.left_out || undefined }, message);
}

/** Leaves out the extra properties of driver errors, which contain values of rows. */
function describeCause(cause: unknown) {
  if (cause === undefined) return {};
  if (!(cause instanceof Error)) return { cause: String(cause) };
  const driver_code = 'code' in cause ? cause.code : undefined;
  return { cause: cause.message, driver_code, stack: cause.stack };
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
