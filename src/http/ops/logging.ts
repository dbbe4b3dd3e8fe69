import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyServerOptions,
  LogController,
} from 'fastify';
import type { Config } from '../../config.ts';
import { traceIdOf } from '../request/request-ids.ts';
import { RequestHistogram } from './request-histogram.ts';

/** Lines of JSON on standard error, each with the ids of its request and of the trace it is part of. */
export const logOptions = ({ log_level }: Config) =>
  ({
    logger: { level: log_level, stream: process.stderr, hooks: { streamWrite: withoutSecrets } },
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    childLoggerFactory: (logger, bindings, options, raw) => {
      const trace_id = traceIdOf(raw.headers);
      return logger.child(trace_id === undefined ? bindings : { ...bindings, trace_id }, options);
    },
  }) satisfies FastifyServerOptions;

/** Counts each request, and writes a line for it at the level `info`. */
export function logRequests(app: FastifyInstance): void {
  app.decorate('requestHistogram', new RequestHistogram());
  app.addHook('onResponse', (request, reply, done) => {
    const { method, routeOptions, actor, log } = request;
    recordResponse(app, log, {
      method,
      route: routeOptions.url ?? 'none',
      status: reply.statusCode,
      ms: reply.elapsedTime,
      key: actor?.id,
    });
    done();
  });
}

type Answer = { method: string; route: string; status: number; ms: number; key: string | undefined };

/** Never a header, a body or a query, which may hold secrets. */
export function recordResponse(
  { requestHistogram, config }: FastifyInstance,
  log: FastifyBaseLogger,
  answer: Answer,
  more?: () => object,
): void {
  const { method, route, status, ms } = answer;
  requestHistogram.record(method, route, status, ms);
  if (saysAll.has(config.log_level)) log.info({ ...more?.(), ...answer, ms: Math.round(ms * 10) / 10 });
}

const saysAll = new Set(['info', 'debug', 'trace']);

/** What no line should hold anyway, in case that an error's text does. */
const withoutSecrets = (line: string) => line.replaceAll(/\b(mst_|whsec_)[\w+/=]{16,}/g, '$1…');
