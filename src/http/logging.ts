import type { FastifyInstance } from 'fastify';

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
