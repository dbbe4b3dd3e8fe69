import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { Config } from '../config.ts';
import type { Clock, Moment } from '../core/clock.ts';
import type { Problem, ProblemCode } from '../core/errors.ts';
import type { Database } from '../database/open.ts';
import type { SignInWay } from '../resources/sessions/schema.ts';
import type { Actor } from '../store/access/actors.ts';
import type { ScopedDatabase } from '../store/project-scope.ts';
import type { Change } from '../store/writes/change.ts';
import type { ActorCache } from './auth/actor-cache.ts';
import type { Access } from './auth/auth.ts';
import type { secretCookie } from './auth/cookie.ts';
import type { createFailedSignIns } from './auth/failed-sign-ins.ts';
import type { actorLimits } from './auth/rate-limits.ts';
import type { SignInQueue } from './auth/sign-in-queue.ts';
import type { Usage } from './auth/usage.ts';
import type { CacheDependencies, ResponseCache } from './cache/response-cache.ts';
import type { Connections } from './ops/connections.ts';
import type { Load } from './ops/load-shedding.ts';
import type { OrganizationClock } from './ops/organization-clock.ts';
import type { Counts, Histogram, JobCounts, RequestHistogram } from './ops/request-histogram.ts';
import type { SlowReaders } from './ops/slow-readers.ts';
import type { Tracing } from './ops/tracing.ts';
import type { BodyBudgets } from './request/body-budgets.ts';
import type { responseHeaders } from './response/headers.ts';

/** The Fastify instance of the service; TypeBox schemas give routes their types. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

declare module 'fastify' {
  interface FastifyInstance {
    config: Config;
    database: Database;
    /** The clock of the organization. */
    clock: Clock;
    organizationClock: OrganizationClock;
    /** The URL clients use. */
    baseUrl: string;
    /** Creates the headers that every response has. */
    responseHeaders: ReturnType<typeof responseHeaders>;
    /** The address of the client, which a trusted proxy may have forwarded. */
    addressOf(request: IncomingMessage): string;
    /** The methods of every path. */
    routeTable: Map<string, Set<string>>;
    /** Functions that end responses without an end of their own, called when the service stops. */
    endlessResponses: Set<() => void>;
    /** From now on `/readyz` is 503 and connections are closed after their response. Requests are served as before. */
    startDraining(): void;
    requestHistogram: RequestHistogram;
    /** Set if traces are on. */
    tracing: Tracing | undefined;
    connections: Connections;
    load: Load;
    slowReaders: SlowReaders;
    bodyBudgets: BodyBudgets;
    usage: Usage;
    actorCache: ActorCache;
    sessionCookie: ReturnType<typeof secretCookie>;
    /** Tells that somebody has signed in with the browser before; it opens nothing. */
    deviceCookie: ReturnType<typeof secretCookie>;
    failedSignIns: ReturnType<typeof createFailedSignIns>;
    signIns: Counts<{ way: SignInWay; result: string }>;
    jobCounts: JobCounts;
    /** In seconds. */
    commitDurations: Histogram;
    signInQueue: SignInQueue;
    /** Reads the key or the session token of a request. */
    secretOf(headers: IncomingHttpHeaders): string | undefined;
    responseCache: ResponseCache;
    /** Finds who has this key or session, or throws. Failed attempts are rate limited. */
    authenticate(request: FastifyRequest, secret: string): Promise<Actor>;
    /** Counts a failed attempt and returns the error to send. */
    failedAttempts(request: FastifyRequest, error: string): Problem;
    actorLimits: ReturnType<typeof actorLimits>;
  }
  interface FastifyRequest {
    moment: Moment;
    /** The author and time of the changes that this request makes. */
    change: Change;
    /** The key or person. Public routes have none. */
    actor: Actor;
    /** Increases whenever the access of anybody changes. As it was when the actor was read. */
    accessVersion: number;
    /** The database, limited to the projects of the actor. */
    database: ScopedDatabase;
  }
  interface FastifyReply {
    /** The data that the response depends on; undefined if it must not be cached. */
    cacheDependencies: CacheDependencies | undefined;
  }
  interface FastifyContextConfig {
    access?: Access;
    /** The errors of this route, besides those implied by its access, parameters and body. */
    errors?: readonly ProblemCode[];
    /** Set on routes that affect all projects: the reason to reject a key that is limited to some. */
    requiresUnrestrictedKey?: string;
    /** Set on routes that change how a person signs in: the session must have begun a short time ago. */
    requiresRecentSignIn?: true;
    /** The media types of files that the route accepts as its body instead of JSON. */
    accepts?: readonly string[];
    /** The media types of the response besides JSON; lists declare their own. */
    produces?: readonly string[];
  }
}
