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
import type { ProblemCode } from '../core/errors.ts';
import type { Database } from '../database/open.ts';
import type { Key } from '../resources/keys/schema.ts';
import type { ScopedDatabase } from '../store/project-scope.ts';
import type { Change } from '../store/writes/change.ts';
import type { Access } from './auth/auth.ts';
import type { KeyCache } from './auth/key-cache.ts';
import type { KeyUsage } from './auth/key-usage.ts';
import type { keyLimits } from './auth/rate-limits.ts';
import type { CacheDependencies, ResponseCache } from './cache/response-cache.ts';
import type { Connections } from './ops/connections.ts';
import type { Load } from './ops/load-shedding.ts';
import type { OrganizationClock } from './ops/organization-clock.ts';
import type { RequestHistogram } from './ops/request-histogram.ts';
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
    /** The methods of every path. */
    routeTable: Map<string, Set<string>>;
    /** Functions that end responses without an end of their own, called when the service stops. */
    endlessResponses: Set<() => void>;
    requestHistogram: RequestHistogram;
    /** Set if traces are on. */
    tracing: Tracing | undefined;
    connections: Connections;
    load: Load;
    slowReaders: SlowReaders;
    bodyBudgets: BodyBudgets;
    keyUsage: KeyUsage;
    keyCache: KeyCache;
    responseCache: ResponseCache;
    /** Finds the valid key with this secret, or throws. Failed attempts are rate limited. */
    authenticate(request: FastifyRequest, secret: string): Promise<Key>;
    keyLimits: ReturnType<typeof keyLimits>;
  }
  interface FastifyRequest {
    moment: Moment;
    /** The author and time of the changes that this request makes. */
    change: Change;
    /** The key of the request. Public routes have none. */
    actor: Key;
    /** The database, limited to the projects of the key. */
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
    /** The media types of files that the route accepts as its body instead of JSON. */
    accepts?: readonly string[];
    /** The media types of the response besides JSON; lists declare their own. */
    produces?: readonly string[];
  }
}
