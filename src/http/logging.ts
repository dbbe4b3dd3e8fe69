import { type FastifyInstance, type FastifyServerOptions, LogController } from 'fastify';
import type { Config } from '../config.ts';
import { traceIdOf } from './request-ids.ts';

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

/** One line a request, at the level `info`; never a header, a body or a query, which may hold secrets. */
export function logRequests(app: FastifyInstance): void {
  if (!['info', 'debug', 'trace'].includes(app.config.log_level)) return;
  app.addHook('onResponse', async (request, reply) => {
    request.log.info({
      method: request.method,
      route: request.routeOptions.url,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      key: request.actor?.id,
    });
  });
}

/** What no line should hold anyway, in case that an error's text does. */
const withoutSecrets = (line: string) => line.replaceAll(/\b(mst_|whsec_)[\w+/=]{16,}/g, '$1…');
