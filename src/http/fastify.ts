import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { Moment } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Database } from '../database/open.ts';
import type { View } from '../database/view.ts';
import type { ProblemCode } from '../errors.ts';
import type { Change } from '../history/change.ts';
import type { Keyring } from '../keys/ring.ts';
import type { KeyUsage } from '../keys/usage.ts';
import type { Access, Actor } from './access.ts';
import type { BodyBudgets } from './body-budgets.ts';
import type { answerHeaders } from './headers.ts';
import type { KeptAnswers, MadeFrom } from './kept.ts';
import type { Load } from './load.ts';
import type { keyLimits } from './rate-limits.ts';
import type { RequestHistogram } from './request-histogram.ts';

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
    answerHeaders: ReturnType<typeof answerHeaders>;
    /** The methods of every path. */
    routeTable: Map<string, Set<string>>;
    requestHistogram: RequestHistogram;
    load: Load;
    bodyBudgets: BodyBudgets;
    keyUsage: KeyUsage;
    keyring: Keyring;
    keptAnswers: KeptAnswers;
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
    database: View;
  }
  interface FastifyReply {
    /** What the answer was made from, if it may be kept. */
    madeFrom: MadeFrom | undefined;
  }
  interface FastifyContextConfig {
    access?: Access;
    /** The errors it can return, besides those that its access, parameters and body bring with them. */
    errors?: readonly ProblemCode[];
    /** Why a key that is limited to projects is refused, where what is asked for reaches beyond any limit. */
    reachesBeyondLimits?: string;
    /** Whether its body is a file, not JSON. */
    takesFile?: true;
  }
}
