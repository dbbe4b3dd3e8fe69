import { setImmediate, setTimeout } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { type Static, type TSchema, Type } from 'typebox';
import { Problem, unavailable } from '../../core/errors.ts';
import { Strict } from '../../core/schemas.ts';
import type { App } from '../fastify.ts';

/**
 * The lifecycle of the service. While draining, `/readyz` is 503 and everything else is served, so that load balancers
 * notice before a request fails. At the end of that time it rejects reads, so that a proxy that cannot probe repeats them
 * elsewhere and sends nothing for a while. While stopping, it finishes requests in flight and rejects new ones.
 */
export type Readiness = { state: 'starting' | 'ready' | 'draining' | 'rejecting reads' | 'stopping' };

/** Whether requests are served. */
export const isServing = ({ state }: Readiness): boolean => state === 'ready' || state === 'draining';

/** Rejects requests during startup and shutdown, and waits for requests in flight before the app closes. */
export function rejectUnlessReady(app: FastifyInstance, readiness: Readiness): void {
  app.decorate('endlessResponses', new Set<() => void>());
  app.addHook('onRequest', (request, _, done) => {
    const isAcceptedWrite =
      readiness.state === 'rejecting reads' && request.method !== 'GET' && request.method !== 'HEAD';
    if (isServing(readiness) || isAcceptedWrite || isProbe(request.url)) done();
    else if (readiness.state !== 'starting') done(notReady(readiness));
    else
      void waitForStart(readiness).then(() => done(isServing(readiness) ? undefined : notReady(readiness)));
  });
  // A proxy must not send another request on a connection that is about to be closed.
  app.server.prependListener('request', (_, response) => {
    if (readiness.state === 'draining' || readiness.state === 'rejecting reads')
      response.shouldKeepAlive = false;
  });
  app.decorate('startDraining', () => {
    readiness.state = 'draining';
  });
  app.addHook('preClose', async () => {
    // Load balancers know by now. A connection that is refused is safe to repeat, a 503 to a write is not.
    if (readiness.state === 'draining') {
      readiness.state = 'rejecting reads';
      await setTimeout(rejectReadsMs);
      await stopListening(app);
      readiness.state = 'draining';
    } else readiness.state = 'stopping';
    for (const end of app.endlessResponses) end();
    await app.load.idle();
    readiness.state = 'stopping';
  });
}

/** Less than the time for which a proxy leaves out an instance that has failed. */
const rejectReadsMs = 500;

/** A proxy that cannot probe sends requests as soon as the port is open, and must not repeat a write after a 503. */
const maxStartWaitMs = 5_000;

async function waitForStart(readiness: Readiness): Promise<void> {
  const deadline = performance.now() + maxStartWaitMs;
  while (readiness.state === 'starting' && performance.now() < deadline)
    await setTimeout(20, undefined, { ref: false });
}

/**
 * Accepts the connections that wait, then no more: those that wait in the system when the port closes are reset. Connections
 * without a request are closed.
 */
async function stopListening({ server }: FastifyInstance): Promise<void> {
  let accepted = 0;
  server.on('connection', () => accepted++);
  for (let quietTurns = 0; quietTurns < 3; ) {
    const before = accepted;
    await setImmediate();
    quietTurns = accepted === before ? quietTurns + 1 : 0;
  }
  server.close();
}

/** Probes get a response in every state of the service. */
export const isProbe = (url: string | undefined) =>
  url === '/livez' || url === '/readyz' || url?.startsWith('/readyz?') === true;

export function healthRoutes(app: App, readiness: Readiness): void {
  const status = Type.Literal('ok');
  const schema = <T extends TSchema>(operationId: string, summary: string, response: T) => ({
    operationId,
    summary,
    tags: ['service'],
    response: { 200: response },
  });

  app.get(
    '/livez',
    {
      config: { access: 'public' },
      schema: schema('livez', 'Check that the process is alive', Strict({ status })),
    },
    async () => ({ status: 'ok' as const }),
  );

  app.get(
    '/readyz',
    {
      config: { access: 'public' },
      schema: {
        ...schema(
          'readyz',
          'Check that the service can serve reads',
          Strict({ status, checks: Type.Optional(Type.Array(Check)) }),
        ),
        description:
          'It is 200 while writes fail, for example because a disk is full: an instance that serves reads should get ' +
          'requests. `GET /readyz?verbose` also checks writes, and returns the result in `checks` without changing the status. ' +
          '`acceptances` says how many risks whose acceptance has expired are still to be reopened.',
      },
    },
    async ({ query }) => {
      await checkReady(app, readiness);
      if (!Object.hasOwn(query as object, 'verbose')) return { status: 'ok' as const };
      return {
        status: 'ok' as const,
        checks: [{ name: 'reads' as const, status: 'ok' as const }, await writes(app), acceptances(app)],
      };
    },
  );
}

async function checkReady(app: App, readiness: Readiness): Promise<void> {
  if (readiness.state !== 'ready') throw notReady(readiness);
  await checkDatabase(() => app.database.checkReady());
}

/** For the metrics: whether `/readyz` is 200. */
export const isReady = (app: App, readiness: Readiness): Promise<boolean> =>
  checkReady(app, readiness).then(
    () => true,
    () => false,
  );

const Check = Strict({
  name: Type.Union([Type.Literal('reads'), Type.Literal('writes'), Type.Literal('acceptances')]),
  status: Type.Union([Type.Literal('ok'), Type.Literal('failed')]),
  detail: Type.Optional(Type.String({ description: 'Why it failed, or what is left to do.' })),
});

async function writes({ database }: App): Promise<Static<typeof Check>> {
  try {
    await checkDatabase(() => database.checkWritable());
    return { name: 'writes', status: 'ok' };
  } catch (error) {
    return { name: 'writes', status: 'failed', detail: (error as Problem).message };
  }
}

/** Until its turn, a risk whose acceptance has expired reads as accepted, which is no failure. */
const acceptances = ({ acceptances: { left } }: App): Static<typeof Check> => ({
  name: 'acceptances',
  status: 'ok',
  ...(left > 0 && { detail: `${left} risks whose acceptance has expired are still to be reopened.` }),
});

/** Less than the one second after which a Kubernetes probe times out by default. */
const maxCheckMs = 900;

async function checkDatabase(check: () => Promise<void>): Promise<void> {
  const timer = new AbortController();
  try {
    await Promise.race([check(), timeLimit(timer.signal)]);
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

const notReady = ({ state }: Readiness) =>
  unavailable(`The service is ${state === 'starting' ? state : 'stopping'}. Try again shortly.`, 1);
