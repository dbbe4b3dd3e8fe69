import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { Config } from '../config.ts';
import type { Moment } from '../core/clock.ts';
import type { ProblemCode } from '../core/errors.ts';
import type { Database } from '../database/open.ts';
import type { ScopedDatabase } from '../database/project-scope.ts';
import type { Change } from '../database/writes/change.ts';
import type { Access, Actor } from './auth/auth.ts';
import type { KeyCache } from './auth/key-cache.ts';
import type { KeyUsage } from './auth/key-usage.ts';
import type { keyLimits } from './auth/rate-limits.ts';
import type { CacheDependencies, ResponseCache } from './cache/response-cache.ts';
import type { Load } from './ops/load-shedding.ts';
import type { RequestHistogram } from './ops/request-histogram.ts';
import type { BodyBudgets } from './request/body-budgets.ts';
import type { responseHeaders } from './response/headers.ts';

/** What routes are registered on: schemas give their types. */
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
    /** The address clients use. */
    baseUrl: string;
    /** What every answer carries. */
    responseHeaders: ReturnType<typeof responseHeaders>;
    /** The methods of every path. */
    routeTable: Map<string, Set<string>>;
    requestHistogram: RequestHistogram;
    load: Load;
    bodyBudgets: BodyBudgets;
    keyUsage: KeyUsage;
    keyCache: KeyCache;
    responseCache: ResponseCache;
    /** The key with this secret, if it is good now; refused keys are counted. */
    authenticate(request: FastifyRequest, secret: string): Promise<Actor>;
    keyLimits: ReturnType<typeof keyLimits>;
  }
  interface FastifyRequest {
    moment: Moment;
    /** Who changes something with this request, and when. */
    change: Change;
    /** Whose key came with the request. Public routes have none. */
    actor: Actor;
    /** The database as that key sees it. */
    database: ScopedDatabase;
  }
  interface FastifyReply {
    /** What the answer was made from, if it may be kept. */
    cacheDependencies: CacheDependencies | undefined;
  }
  interface FastifyContextConfig {
    access?: Access;
    /** The errors it can return, besides those that its access, parameters and body bring with them. */
    errors?: readonly ProblemCode[];
    /** Why a key that is limited to projects is refused, where what is asked for reaches beyond any limit. */
    requiresUnrestrictedKey?: string;
    /** The media types of a file that it takes as its body instead of JSON. */
    accepts?: readonly string[];
    /** Media types of its response besides JSON; a list declares its own. */
    produces?: readonly string[];
  }
}
