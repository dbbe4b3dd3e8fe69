import { Transform, type TransformCallback } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { networkReader } from '../../core/addresses.ts';
import { Problem } from '../../core/errors.ts';
import { limits } from '../../core/schemas.ts';
import { overloaded } from '../ops/load-shedding.ts';
import { notRouted } from '../response/problems.ts';

const mebibyte = 1024 * 1024;

/**
 * A body is charged this much when it begins, and what it takes beyond as it arrives: a client that only claims to send
 * a lot takes little from anyone.
 */
const reservedBytes = 16 * 1024;

/** Memory for the bodies that are arriving or being worked on: in all, and of one client. */
export type BodyBudget = {
  readonly bytes: number;
  /** Why there is no room for so many more bytes of this client, if there is none. */
  reserve(client: string, bytes: number): Problem | undefined;
  release(client: string, bytes: number): void;
};

export function bodyBudget(maxBytes: number, maxBytesOfClient: number): BodyBudget {
  const bytesOfClients = new Map<string, number>();
  let bytes = 0;
  return {
    get bytes() {
      return bytes;
    },
    reserve(client, more) {
      const ofClient = (bytesOfClients.get(client) ?? 0) + more;
      if (ofClient > maxBytesOfClient) return tooManyBytes();
      if (bytes + more > maxBytes) return overloaded();
      bytes += more;
      bytesOfClients.set(client, ofClient);
      return undefined;
    },
    release(client, fewer) {
      const ofClient = (bytesOfClients.get(client) ?? 0) - fewer;
      bytes -= fewer;
      if (ofClient > 0) bytesOfClients.set(client, ofClient);
      else bytesOfClients.delete(client);
    },
  };
}

/** Without a key a body is counted by the network it comes from, and never takes room from those with one. */
const createBudgets = () => ({
  public: bodyBudget(8 * mebibyte, mebibyte),
  json: bodyBudget(64 * mebibyte, 8 * mebibyte),
  files: bodyBudget(2 * limits.import_bytes, limits.import_bytes),
});

export type BodyBudgets = ReturnType<typeof createBudgets>;

/** Bounds the memory that bodies take: of each client, so that none can keep the others from writing, and of all. */
export function limitBodies(app: FastifyInstance): void {
  const budgets = createBudgets();
  app.decorate('bodyBudgets', budgets);
  const networkOfClient = networkReader(app.config.trust_proxy);

  app.addHook('onRoute', (route) => {
    if (route.config?.access === 'public') route.bodyLimit ??= limits.public_body_bytes;
  });

  // After the key has been checked: a body without a good key is not read at all where one is needed.
  app.addHook('onRequest', (request, reply, done) => {
    const claimed = claimedBytes(request);
    // A connection that has ended while the key was looked up does not end again.
    if (claimed === 0 || reply.raw.closed) return done();
    // Nothing needs the body of a request for a path that is not there.
    if (request.is404 && request.method !== 'OPTIONS') return done(notRouted(request));
    const budget = !request.actor
      ? budgets.public
      : request.routeOptions.config.accepts
        ? budgets.files
        : budgets.json;
    const client = request.actor?.id ?? networkOfClient(request.raw);
    let charged = Math.min(claimed, reservedBytes);
    const refusal = budget.reserve(client, charged);
    if (refusal) return done(refusal);
    reply.raw.once('close', () => budget.release(client, charged));
    if (claimed > reservedBytes) {
      chargers.set(request, (bytes) => {
        if (reply.raw.closed) return undefined;
        const refusal = budget.reserve(client, bytes);
        if (!refusal) charged += bytes;
        return refusal;
      });
    }
    done();
  });

  app.addHook('preParsing', (request, _, payload, done) => {
    const charge = chargers.get(request);
    if (!charge) return done(null, payload);
    let arrived = 0;
    const counted = new Transform({
      transform(chunk: Buffer, _, next: TransformCallback) {
        const before = Math.max(arrived, reservedBytes);
        arrived += chunk.length;
        const refusal = arrived > before ? charge(arrived - before) : undefined;
        if (refusal) next(refusal);
        else next(null, chunk);
      },
    });
    // Not `pipeline`: that would close the connection, on which the refusal is to be sent.
    payload.once('error', (error) => counted.destroy(error));
    done(null, payload.pipe(counted));
  });
}

/** How to charge what arrives of a large body; gives the reason when there is no room for it. */
const chargers = new WeakMap<FastifyRequest, (bytes: number) => Problem | undefined>();

/** How large a body says it is, as far as it is read; without a length it may be as large as the limit. */
function claimedBytes({ method, headers, routeOptions }: FastifyRequest): number {
  if (method === 'GET' || method === 'HEAD') return 0;
  const maxBytes = routeOptions.bodyLimit ?? limits.body_bytes;
  return headers['transfer-encoding'] === undefined
    ? Math.min(Number(headers['content-length'] ?? 0), maxBytes)
    : maxBytes;
}

const tooManyBytes = () =>
  new Problem(
    'rate_limited',
    'You are sending too many large bodies at once. Send the next one when some of them have been answered.',
    { headers: { 'retry-after': '1' } },
  );
