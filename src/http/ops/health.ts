import { setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { Problem, unavailable } from '../../core/errors.ts';
import { Strict } from '../../core/schemas.ts';
import type { App } from '../fastify.ts';

/** The lifecycle of the service. While stopping, it finishes requests in flight and rejects new ones. */
export type Readiness = { state: 'starting' | 'ready' | 'stopping' };

/** Rejects requests during startup and shutdown, and waits for requests in flight before the app closes. */
export function rejectUnlessReady(app: FastifyInstance, readiness: Readiness): void {
  app.decorate('endlessResponses', new Set<() => void>());
  app.addHook('onRequest', (request, _, done) =>
    done(readiness.state === 'ready' || isProbe(request.url) ? undefined : notReady(readiness)),
  );
  app.addHook('preClose', async () => {
    readiness.state = 'stopping';
    for (const end of app.endlessResponses) end();
    await app.load.idle();
  });
}

/** Probes get a response in every state of the service. */
export const isProbe = (url: string | undefined) => url === '/livez' || url === '/readyz';

export function healthRoutes(app: App, readiness: Readiness): void {
  const schema = (operationId: string, summary: string) => ({
    operationId,
    summary,
    tags: ['service'],
    response: { 200: Strict({ status: Type.Literal('ok') }) },
  });

  app.get(
    '/livez',
    { config: { access: 'public' }, schema: schema('livez', 'Check that the process is alive') },
    async () => ({ status: 'ok' as const }),
  );

  app.get(
    '/readyz',
    { config: { access: 'public' }, schema: schema('readyz', 'Check that the service can handle requests') },
    async () => {
      await checkReady(app, readiness);
      return { status: 'ok' as const };
    },
  );
}

async function checkReady(app: App, readiness: Readiness): Promise<void> {
  if (readiness.state !== 'ready') throw notReady(readiness);
  await checkDatabase(app);
}

/** For the metrics: whether `/readyz` is 200. */
export const isReady = (app: App, readiness: Readiness): Promise<boolean> =>
  checkReady(app, readiness).then(
    () => true,
    () => false,
  );

/** Less than the one second after which a Kubernetes probe times out by default. */
const maxCheckMs = 900;

async function checkDatabase({ database }: App): Promise<void> {
  const timer = new AbortController();
  try {
    await Promise.race([database.checkReady(), timeLimit(timer.signal)]);
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    throw unavailable('The database is unavailable. Try again shortly.', 1, cause);
  } finally {
    timer.abort();
  }
}

async function timeLimit(signal: AbortSignal): Promise<never> {
  await setTimeout(maxCheckMs, undefined, { signal });
  throw new Error(`The database did not respond within ${maxCheckMs} ms.`);
}

const notReady = ({ state }: Readiness) => unavailable(`The service is ${state}. Try again shortly.`, 1);
