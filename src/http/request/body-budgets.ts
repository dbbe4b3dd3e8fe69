import { Transform, type TransformCallback } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../../core/errors.ts';
import { networkReader } from '../../core/network/addresses.ts';
import { limits } from '../../core/schemas.ts';
import { overloaded } from '../ops/load-shedding.ts';
import { notRouted } from '../response/problems.ts';

const mebibyte = 1024 * 1024;

/**
 * The memory reserved when a body begins. The rest is reserved as it arrives, so that a client cannot use up the budget
 * with a large `Content-Length` alone.
 */
const reservedBytes = 16 * 1024;

/** Limits the memory of request bodies in flight, in total and per client. */
export function bodyBudget(maxBytes: number, maxBytesPerClient: number) {
  const bytesByClient = new Map<string, number>();
  let bytes = 0;
  return {
    get bytes(): number {
      return bytes;
    },
    /** Reserves memory, or returns the error to send if a limit is reached. */
    reserve(client: string, added: number): Problem | undefined {
      const clientBytes = (bytesByClient.get(client) ?? 0) + added;
      if (clientBytes > maxBytesPerClient) return tooManyBytes();
      if (bytes + added > maxBytes) return overloaded();
      bytes += added;
      bytesByClient.set(client, clientBytes);
      return undefined;
    },
    release(client: string, released: number): void {
      const clientBytes = (bytesByClient.get(client) ?? 0) - released;
      bytes -= released;
      if (clientBytes > 0) bytesByClient.set(client, clientBytes);
      else bytesByClient.delete(client);
    },
  };
}

/** Bodies without a key are counted by client network, and have a budget apart from authenticated requests. */
const createBudgets = () => ({
  public: bodyBudget(8 * mebibyte, mebibyte),
  json: bodyBudget(64 * mebibyte, 8 * mebibyte),
  files: bodyBudget(2 * limits.import_bytes, limits.import_bytes),
});

export type BodyBudgets = ReturnType<typeof createBudgets>;

/** Limits the memory of bodies in total, and per client so that one client cannot block the rest. */
export function limitBodies(app: FastifyInstance): void {
  const budgets = createBudgets();
  app.decorate('bodyBudgets', budgets);
  const networkOfClient = networkReader(app.config.trust_proxy);

  app.addHook('onRoute', (route) => {
    if (route.config?.access === 'public') route.bodyLimit ??= limits.public_body_bytes;
  });

  // The body of a request to an unknown path is not read, and `QUERY` may arrive without the body it needs.
  app.addHook('onRequest', (request, _, done) => {
    const isUnknown = request.is404 && !['GET', 'HEAD', 'OPTIONS'].includes(request.method);
    done(isUnknown ? notRouted(request) : undefined);
  });

  // Runs after authentication, so the body of an unauthenticated request is never read.
  app.addHook('preParsing', (request, reply, payload, done) => {
    const claimed = claimedBytes(request);
    // If the connection closed during authentication, `close` does not fire again to release the memory.
    if (claimed === 0 || reply.raw.closed) return done(null, payload);
    const budget = !request.actor
      ? budgets.public
      : request.routeOptions.config.accepts
        ? budgets.files
        : budgets.json;
    const client = request.actor?.id ?? networkOfClient(request.raw);
    let reserved = Math.min(claimed, reservedBytes);
    const rejection = budget.reserve(client, reserved);
    if (rejection) return done(rejection);
    reply.raw.once('close', () => budget.release(client, reserved));
    if (claimed <= reservedBytes) return done(null, payload);
    let arrived = 0;
    const counted = new Transform({
      transform(chunk: Buffer, _, next: TransformCallback) {
        arrived += chunk.length;
        const added = arrived - reserved;
        // What is larger than any body of this route may be is rejected when it is read.
        if (added <= 0 || arrived > maxBytesOf(request) || reply.raw.closed) return next(null, chunk);
        const rejection = budget.reserve(client, added);
        if (rejection) return next(rejection);
        reserved = arrived;
        next(null, chunk);
      },
    });
    // Not `pipeline`, which would close the connection before the error is sent.
    payload.once('error', (error) => counted.destroy(error));
    done(null, payload.pipe(counted));
  });
}

/** The announced size of a body, up to the body limit. A body without a length may reach the limit. */
function claimedBytes(request: FastifyRequest): number {
  const { method, headers } = request;
  if (method === 'GET' || method === 'HEAD') return 0;
  const maxBytes = maxBytesOf(request);
  return headers['transfer-encoding'] === undefined
    ? Math.min(Number(headers['content-length'] ?? 0), maxBytes)
    : maxBytes;
}

const maxBytesOf = ({ routeOptions }: FastifyRequest) => routeOptions.bodyLimit ?? limits.body_bytes;

const tooManyBytes = () =>
  new Problem(
    'rate_limited',
    'You are sending too many large request bodies at once. Wait for some of those requests to finish.',
    { headers: { 'retry-after': '1' } },
  );
