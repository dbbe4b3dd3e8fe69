import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { type FastifyInstance, fastify } from 'fastify';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { Database } from './database/open.ts';
import { groupRoutes } from './groups/routes.ts';
import { guardAccess } from './http/access.ts';
import { readBodies, takeFiles } from './http/bodies.ts';
import { limitBodies } from './http/body-budgets.ts';
import { compressAnswers } from './http/compression.ts';
import { tellNoLength } from './http/conditions.ts';
import { openDoor } from './http/door.ts';
import type { App } from './http/fastify.ts';
import { refuseBadFraming, serverOptions } from './http/framing.ts';
import { answerHeaders } from './http/headers.ts';
import { healthRoutes, type Readiness, refuseUnlessReady } from './http/health.ts';
import { keepAnswers } from './http/kept.ts';
import { countRequests } from './http/load.ts';
import { logOptions, logRequests } from './http/logging.ts';
import { rememberRoutes } from './http/methods.ts';
import { metricsRoute } from './http/metrics.ts';
import { runOnNewDay } from './http/new-day.ts';
import { describeApi, openapiRoute } from './http/openapi.ts';
import { parseQueryString } from './http/parameters.ts';
import { answerBrokenRequest, answerFrameworkError, answerProblems } from './http/problems.ts';
import { requestIdOf } from './http/request-ids.ts';
import { compileValidator, refuseUnknownParameters } from './http/validation.ts';
import { fileTypes } from './imports/source.ts';
import { issueRoutes } from './issues/routes.ts';
import { keyRoutes } from './keys/routes.ts';
import { createSpool } from './lists/spool.ts';
import { meRoutes } from './me/routes.ts';
import { pageRoutes } from './pages/routes.ts';
import { personnelRoutes } from './personnel/routes.ts';
import { projectRoutes } from './projects/routes.ts';
import { expireAcceptances } from './risks/queries.ts';
import { riskRoutes } from './risks/routes.ts';
import { limits } from './schemas.ts';
import { sessionRoutes } from './session/routes.ts';
import { taskRoutes } from './tasks/routes.ts';

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
    // Requests that come while stopping are refused by `refuseUnlessReady`, in the words of all refusals.
    return503OnClosing: false,
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: answerFrameworkError,
    rewriteUrl: withoutBase(config),
    routerOptions: { maxParamLength: 200, querystringParser: parseQueryString },
  }).withTypeProvider<TypeBoxTypeProvider>();

  app.decorate('config', config);
  app.decorate('database', database);
  app.decorate('answerHeaders', answerHeaders(config));
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
    reply.headers(app.answerHeaders(request.id, request.headers.origin));
    done();
  });
  app.addHook('onClose', () => database.close());

  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(() => JSON.stringify);
  refuseBadFraming(app);
  countRequests(app);
  logRequests(app);
  readBodies(app);
  takeFiles(app, fileTypes);
  answerProblems(app);
  tellNoLength(app);
  rememberRoutes(app);
  refuseUnknownParameters(app);
  refuseUnlessReady(app, readiness);
  guardAccess(app);
  runOnNewDay(app, (moment) => expireAcceptances(database, moment));
  limitBodies(app);
  compressAnswers(app);
  keepAnswers(app);
  openDoor(app, clock, readiness);
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
