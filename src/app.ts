import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { type FastifyInstance, fastify } from 'fastify';
import type { Config } from './config.ts';
import type { Clock } from './core/clock.ts';
import { limits } from './core/schemas.ts';
import type { Database } from './database/open.ts';
import { installAuth } from './http/auth/auth.ts';
import { installFastPath } from './http/cache/fast-path.ts';
import { installResponseCache } from './http/cache/response-cache.ts';
import type { App } from './http/fastify.ts';
import { healthRoutes, type Readiness, rejectUnlessReady } from './http/ops/health.ts';
import { trackRequests } from './http/ops/load-shedding.ts';
import { logOptions, logRequests } from './http/ops/logging.ts';
import { metricsRoute } from './http/ops/metrics.ts';
import { runOnNewDay } from './http/ops/new-day.ts';
import { recordRoutes } from './http/request/allowed-methods.ts';
import { limitBodies } from './http/request/body-budgets.ts';
import { acceptFiles, installBodyParsers } from './http/request/body-parsers.ts';
import { parseQueryString } from './http/request/query-string.ts';
import { requestIdOf } from './http/request/request-ids.ts';
import { rejectMalformedRequests, serverOptions } from './http/request/request-sanity.ts';
import { compileValidator, rejectUnknownParameters } from './http/request/validation.ts';
import { compressResponses } from './http/response/compression.ts';
import { dropContentLengthOn304 } from './http/response/etag.ts';
import { responseHeaders } from './http/response/headers.ts';
import { describeApi, openapiRoute } from './http/response/openapi.ts';
import {
  installErrorHandlers,
  sendBrokenRequestError,
  sendFrameworkError,
} from './http/response/problems.ts';
import { createSpool } from './lists/spool.ts';
import { pageRoutes } from './pages/routes.ts';
import { groupRoutes } from './resources/groups/routes.ts';
import { issueRoutes } from './resources/issues/routes.ts';
import { keyRoutes } from './resources/keys/routes.ts';
import { meRoutes } from './resources/me/routes.ts';
import { personnelRoutes } from './resources/personnel/routes.ts';
import { projectRoutes } from './resources/projects/routes.ts';
import { expireAcceptances } from './resources/risks/queries.ts';
import { riskRoutes } from './resources/risks/routes.ts';
import { sessionRoutes } from './resources/session/routes.ts';
import { taskRoutes } from './resources/tasks/routes.ts';
import { fileTypes } from './transfer/source.ts';

export type Service = { config: Config; database: Database; clock: Clock; readiness: Readiness };

/** The service: what every request goes through, then the routes. */
export async function createApp({ config, database, clock, readiness }: Service): Promise<App> {
  const app = fastify({
    ...logOptions(config),
    genReqId: ({ headers }) => requestIdOf(headers),
    bodyLimit: limits.body_bytes,
    // Without these a client that sends one byte a minute keeps its connection for ever.
    http: { ...serverOptions, headersTimeout: 15_000, connectionsCheckingInterval: 2_000 },
    requestTimeout: 30_000,
    connectionTimeout: 60_000,
    keepAliveTimeout: 72_000,
    // Requests that come while stopping are refused by `rejectUnlessReady`, in the words of all refusals.
    return503OnClosing: false,
    clientErrorHandler: sendBrokenRequestError,
    frameworkErrors: sendFrameworkError,
    rewriteUrl: withoutBase(config),
    routerOptions: { maxParamLength: 200, querystringParser: parseQueryString },
  }).withTypeProvider<TypeBoxTypeProvider>();

  app.decorate('config', config);
  app.decorate('database', database);
  app.decorate('responseHeaders', responseHeaders(config));
  app.decorate('listSpool', createSpool());
  app.decorate('baseUrl', config.base_url ?? '');
  app.addHook('onListen', async () => {
    app.baseUrl ||= addressOf(app);
  });
  app.decorateRequest('moment');
  app.decorateRequest('change', {
    getter() {
      // Read anew: a body may have taken long to arrive.
      return { ...clock(), key_id: this.actor.id, key_name: this.actor.name };
    },
  });
  app.addHook('onRequest', (request, reply, done) => {
    request.moment = clock();
    reply.headers(app.responseHeaders(request.id, request.headers.origin));
    done();
  });
  app.addHook('onClose', () => database.close());

  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(() => JSON.stringify);
  rejectMalformedRequests(app);
  trackRequests(app);
  logRequests(app);
  installBodyParsers(app);
  acceptFiles(app, fileTypes);
  installErrorHandlers(app);
  dropContentLengthOn304(app);
  recordRoutes(app);
  rejectUnknownParameters(app);
  rejectUnlessReady(app, readiness);
  installAuth(app);
  runOnNewDay(app, (moment) => expireAcceptances(database, moment));
  limitBodies(app);
  compressResponses(app);
  installResponseCache(app);
  installFastPath(app, clock, readiness);
  await describeApi(app);

  personnelRoutes(app);
  groupRoutes(app);
  riskRoutes(app);
  issueRoutes(app);
  taskRoutes(app);
  projectRoutes(app);
  meRoutes(app);
  sessionRoutes(app);
  keyRoutes(app);
  openapiRoute(app);
  healthRoutes(app, readiness);
  metricsRoute(app);
  pageRoutes(app);
  return app;
}

function addressOf(app: FastifyInstance): string {
  const { address, family, port } = app.server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** A client may name the host in the address, too; a proxy may leave the path of the base URL on it. */
function withoutBase({ base_url }: Config) {
  const basePath = base_url ? new URL(base_url).pathname.replace(/\/$/, '') : '';
  return ({ url = '/' }: IncomingMessage) => {
    const path = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*\/?/i, '/');
    return basePath !== '' && (path === basePath || path.startsWith(`${basePath}/`))
      ? path.slice(basePath.length) || '/'
      : path;
  };
}
