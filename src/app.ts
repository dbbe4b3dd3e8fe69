import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { fastify } from 'fastify';
import { baseUrlOf, type Config, isLoopback } from './config.ts';
import type { Clock } from './core/clock.ts';
import { addressReader } from './core/network/addresses.ts';
import { createTargets, type Resolve } from './core/network/targets.ts';
import { limits } from './core/schemas.ts';
import type { Database } from './database/open.ts';
import { installAuth } from './http/auth/auth.ts';
import { installFastPath } from './http/cache/fast-path.ts';
import { installResponseCache } from './http/cache/response-cache.ts';
import type { App } from './http/fastify.ts';
import { watchConnections } from './http/ops/connections.ts';
import { healthRoutes, isReady, type Readiness, rejectUnlessReady } from './http/ops/health.ts';
import { createLoadMonitor } from './http/ops/load-shedding.ts';
import { logBackgroundError, logOptions, logRequests } from './http/ops/logging.ts';
import { metricsRoute } from './http/ops/metrics.ts';
import { createOrganizationClock } from './http/ops/organization-clock.ts';
import { Histogram } from './http/ops/request-histogram.ts';
import { closeSlowReaders } from './http/ops/slow-readers.ts';
import type { Tracing } from './http/ops/tracing.ts';
import { recordRoutes } from './http/request/allowed-methods.ts';
import { limitBodies } from './http/request/body-budgets.ts';
import { acceptFiles, installBodyParsers } from './http/request/body-parsers.ts';
import { drainRejectedRequests } from './http/request/drain.ts';
import { parseQueryString } from './http/request/query-string.ts';
import { requestIdOf } from './http/request/request-ids.ts';
import { rejectMalformedRequests } from './http/request/request-sanity.ts';
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
import { createServer } from './http/server.ts';
import { fileTypes } from './import/source.ts';
import { reopenExpiredAcceptances } from './jobs/acceptances.ts';
import { createJobCounts } from './jobs/schedule.ts';
import { createSpool } from './lists/spool.ts';
import { pageRoutes } from './pages/routes.ts';
import { accessRoutes } from './resources/access/routes.ts';
import { categoryRoutes } from './resources/categories/routes.ts';
import { commentRoutes } from './resources/comments/routes.ts';
import { eventRoutes } from './resources/events/routes.ts';
import { groupRoutes } from './resources/groups/routes.ts';
import { handoverRoutes } from './resources/handover/routes.ts';
import { invitationRoutes } from './resources/invitations/routes.ts';
import { issueRoutes } from './resources/issues/routes.ts';
import { keyRoutes } from './resources/keys/routes.ts';
import { mappingRoutes } from './resources/mappings/routes.ts';
import { meRoutes } from './resources/me/routes.ts';
import { organizationRoutes } from './resources/organization/routes.ts';
import { personnelRoutes } from './resources/personnel/routes.ts';
import { projectRoutes } from './resources/projects/routes.ts';
import { reportRoutes } from './resources/reports/routes.ts';
import { riskModelRoutes } from './resources/risk-model/routes.ts';
import { riskRoutes } from './resources/risks/routes.ts';
import { oidcRoutes } from './resources/session/oidc/routes.ts';
import { sessionRoutes } from './resources/session/routes.ts';
import { sessionListRoutes } from './resources/sessions/routes.ts';
import { taskRoutes } from './resources/tasks/routes.ts';
import { viewRoutes } from './resources/views/routes.ts';
import { createDispatcher } from './resources/webhooks/dispatcher.ts';
import { webhookRoutes } from './resources/webhooks/routes.ts';
import { createSender } from './resources/webhooks/send.ts';

export type Service = {
  config: Config;
  database: Database;
  /** In UTC. The app has the clock of the organization. */
  clock: Clock;
  readiness: Readiness;
  tracing?: Tracing | undefined;
  /** For tests: how webhooks resolve host names, and how long they wait for a response. */
  webhooks?: { resolve?: Resolve; timeoutMs?: number };
  /** For tests: how long the first requests of a day wait for its work. */
  maxNewDayWaitMs?: number;
};

/** Builds the HTTP service: server options, what requests carry, middleware, routes. */
export async function createApp(service: Service): Promise<App> {
  const { config, database } = service;
  const app = fastify({
    ...logOptions(config),
    genReqId: ({ headers }) => requestIdOf(headers),
    bodyLimit: limits.body_bytes,
    serverFactory: createServer,
    // `rejectUnlessReady` rejects requests during shutdown, as a problem document like every other error.
    return503OnClosing: false,
    // The limit also applies to closing, which may take as long as MUSTER_SHUTDOWN_SECONDS. No plugin waits for anything.
    pluginTimeout: 0,
    clientErrorHandler: sendBrokenRequestError,
    frameworkErrors: sendFrameworkError,
    rewriteUrl: removeBasePath(config),
    routerOptions: { maxParamLength: 200, querystringParser: parseQueryString },
  }).withTypeProvider<TypeBoxTypeProvider>();

  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(() => JSON.stringify);
  app.addHook('onClose', () => database.close());
  decorateApp(app, service);
  installMiddleware(app, service);
  addWebhooks(app, service);
  await describeApi(app);

  for (const addRoutes of resources) addRoutes(app);
  openapiRoute(app);
  healthRoutes(app, service.readiness);
  metricsRoute(app, () => isReady(app, service.readiness));
  pageRoutes(app);
  return app;
}

/** The resources under `/v1`, in the order in which the API reference lists them. */
const resources = [
  personnelRoutes,
  handoverRoutes,
  groupRoutes,
  riskRoutes,
  riskModelRoutes,
  issueRoutes,
  taskRoutes,
  projectRoutes,
  commentRoutes,
  viewRoutes,
  reportRoutes,
  categoryRoutes,
  organizationRoutes,
  mappingRoutes,
  accessRoutes,
  keyRoutes,
  sessionRoutes,
  oidcRoutes,
  invitationRoutes,
  sessionListRoutes,
  meRoutes,
  eventRoutes,
  webhookRoutes,
];

/**
 * Hooks of the same kind run in the order in which they are registered, so the order matters:
 * - Tracing comes first, so that everything after it belongs to the span of the request.
 * - Cheap checks come first, so that a request that is rejected costs little. Authentication reads the database.
 * - Requests are logged before anything can reject them, so that logs include rejected requests.
 * - Everything that depends on the key (a new day's work, body budgets) follows authentication.
 * - Compression precedes the response cache, which stores the bytes that are sent.
 * - Hooks that watch routes (`recordRoutes`, `installAuth`, `describeApi`) precede the routes.
 */
function installMiddleware(app: App, { database, readiness, tracing, maxNewDayWaitMs }: Service): void {
  tracing?.install(app);
  drainRejectedRequests(app);
  rejectMalformedRequests(app);
  logRequests(app);
  installBodyParsers(app);
  acceptFiles(app, fileTypes);
  installErrorHandlers(app);
  dropContentLengthOn304(app);
  recordRoutes(app);
  rejectUnknownParameters(app);
  rejectUnlessReady(app, readiness);
  installAuth(app);
  reopenExpiredAcceptances(app, database, maxNewDayWaitMs);
  limitBodies(app);
  app.decorate('slowReaders', closeSlowReaders(app));
  compressResponses(app);
  installResponseCache(app);
  // Not a hook: the fast path serves cached responses before Fastify routes the request.
  installFastPath(app, readiness);
}

/** Sets the properties that hooks and routes read, and the headers of every response. */
function decorateApp(app: App, { config, database, clock: serviceClock, tracing }: Service): void {
  const organizationClock = createOrganizationClock(database, serviceClock, warnIfOverruled(app, config));
  const { clock } = organizationClock;
  app.decorate('config', config);
  app.decorate('tracing', tracing);
  app.decorate('database', database);
  app.decorate('clock', clock);
  app.decorate('organizationClock', organizationClock);
  app.decorate('responseHeaders', responseHeaders(config));
  app.decorate('listSpool', createSpool());
  app.decorate('addressOf', addressReader(config.trust_proxy));
  app.decorate('connections', watchConnections(app.server));
  app.decorate('load', createLoadMonitor(config.max_concurrent_requests));
  app.decorate('jobCounts', createJobCounts());
  app.decorate('commitDurations', new Histogram());
  database.observeCommits((seconds) => app.commitDurations.observe(seconds));
  app.decorate('baseUrl', config.base_url ?? '');
  // Events may be written before the `onListen` hooks run, which Fastify does not wait for.
  database.setBaseUrl(baseUrlOf(config));
  app.addHook('onListen', async () => {
    app.baseUrl ||= listeningUrl(app);
    database.setBaseUrl(app.baseUrl);
  });
  app.decorateRequest('moment');
  app.decorateRequest('change', {
    getter() {
      // Reads the clock again, because the body may have taken long to arrive.
      const { user_id, key_id, name, scopes, project_ids, expires_at } = this.actor;
      return { ...clock(), user_id, key_id, name, scopes, project_ids, expires_at };
    },
  });
  app.addHook('onRequest', (request, reply, done) => {
    request.moment = clock();
    reply.headers(app.responseHeaders(request.id, request.headers.origin));
    done();
  });
}

/** The last instance that starts stores its time zone for all of them. */
const warnIfOverruled =
  (app: App, { time_zone: configured }: Config) =>
  (time_zone: string) => {
    if (configured === undefined || configured === time_zone) return;
    app.log.warn(
      `The time zone of the organization is now ${time_zone}, although MUSTER_TIME_ZONE is ${configured} here: another ` +
        'instance has a different one. Set the same for all instances.',
    );
  };

/** Webhooks are sent only after `app.webhooks.start()`. */
function addWebhooks(
  app: App,
  { config, database, tracing, webhooks: { resolve, timeoutMs } = {} }: Service,
): void {
  const counts = { pending: 0, delivered: 0, retried: 0, failed: 0, missed: 0 };
  const sender = createSender(createTargets(config.webhook_allow, resolve), timeoutMs);
  const onError = (error: unknown) => logBackgroundError(app, error);
  app.decorate('deliveryCounts', counts);
  app.decorate(
    'webhooks',
    createDispatcher({ database, clock: app.clock, sender, counts, tracing, onError }),
  );
  // `onClose` hooks run in reverse order, so this one runs before the database is closed.
  app.addHook('onClose', () => app.webhooks.stop());
}

/** Passkeys work for a host name only, not for an address. */
function listeningUrl(app: App): string {
  const { address, family, port } = app.server.address() as AddressInfo;
  if (isLoopback(address)) return `http://localhost:${port}`;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** Removes the host from an absolute URL, and the path of the base URL, which a proxy may leave in place. */
function removeBasePath({ base_url }: Config) {
  const basePath = base_url ? new URL(base_url).pathname.replace(/\/$/, '') : '';
  return ({ url = '/' }: IncomingMessage) => {
    const path = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*\/?/i, '/');
    const rest = path.slice(basePath.length);
    return basePath !== '' && path.startsWith(basePath) && /^([/?]|$)/.test(rest)
      ? rest.replace(/^(?!\/)/, '/')
      : path;
  };
}
