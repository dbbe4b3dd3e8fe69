import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Transaction } from 'kysely';
import { momentOf } from '../../core/clock.ts';
import { Problem } from '../../core/errors.ts';
import type { WriteWorkload } from '../../database/open.ts';
import type { Tables } from '../../store/tables.ts';
import { resourceEtag, type Versioned } from '../response/etag.ts';

/** The result of a POST. With an `Idempotency-Key` it is stored, to be sent again. */
type Done = { status: number; location?: string; body: object };

const retentionHours = 24;

/** 201 with the location of the new resource. */
export const created = (location: string, body: object): Done => ({ status: 201, location, body });

export const done = (body: object): Done => ({ status: 200, body });

/** Runs `work` with `runIdempotent` and sends its result. */
export async function sendIdempotent(
  request: FastifyRequest,
  reply: FastifyReply,
  work: (db: Transaction<Tables>) => Promise<Done>,
  workload?: WriteWorkload,
) {
  return sendResult(reply, await runIdempotent(request, request.body ?? null, work, workload));
}

/** Sends the result of `runIdempotent`. */
export function sendResult(reply: FastifyReply, { result, isReplay }: { result: Done; isReplay: boolean }) {
  const { status, location, body } = result;
  if (isReplay) reply.header('idempotent-replayed', 'true');
  if (location !== undefined) reply.header('location', `${reply.server.baseUrl}${location}`);
  if ('version' in body) reply.header('etag', resourceEtag(body as Versioned, JSON.stringify(body)));
  return reply.code(status).send(body);
}

/**
 * Runs `work` in a transaction. With an `Idempotency-Key` it runs once: the result is stored as JSON in the same
 * transaction and returned when the request is repeated. Failures are not stored.
 */
export async function runIdempotent<Result>(
  request: FastifyRequest,
  content: unknown,
  work: (db: Transaction<Tables>) => Promise<Result>,
  workload: WriteWorkload = 'quick',
): Promise<{ result: Result; isReplay: boolean; startedAt: string }> {
  const { write } = request.database;
  const { now } = request.moment;
  const header = request.headers['idempotency-key'];
  if (header === undefined) return { result: await write(work, workload), isReplay: false, startedAt: now };

  const id = recordId(request, String(header));
  const { scopes, project_ids } = request.actor;
  // The hash includes the permissions, because a stored response may contain data that the key can no longer access.
  const request_hash = hash('sha256', JSON.stringify([content, scopes, project_ids]), 'hex');
  return write(async (db) => {
    const stored = await findRecord(db, id, now);
    if (stored && stored.request_hash !== request_hash) throw mismatch();
    if (stored)
      return {
        result: JSON.parse(stored.response) as Result,
        isReplay: true,
        startedAt: stored.created_at,
      };
    // Inserted before the work, so that a concurrent request with the same key waits for this one.
    const record = { id, request_hash, response: '', created_at: now };
    await db.insertInto('idempotency').values(record).execute();
    const result = await work(db);
    await db
      .updateTable('idempotency')
      .set({ response: JSON.stringify(result) })
      .where('id', '=', id)
      .execute();
    return { result, isReplay: false, startedAt: now };
  }, workload);
}

/** An idempotency key is unique per API key, method and path. */
function recordId({ actor, method, url }: FastifyRequest, header: string): string {
  const [, quoted, bare] = /^(?:"([!#-~ ]{1,255})"|([!#-~]{1,255}))$/.exec(header.trim()) ?? [];
  const key = quoted ?? bare;
  if (key === undefined) {
    throw new Problem(
      'malformed_request',
      '`Idempotency-Key` must be 1 to 255 ASCII characters, with or without quotes.',
    );
  }
  return hash('sha256', JSON.stringify([actor.id, method, url, key]), 'base64url');
}

async function findRecord(db: Transaction<Tables>, id: string, now: string) {
  await db
    .deleteFrom('idempotency')
    .where('id', '=', id)
    .where('created_at', '<', retentionStart(now))
    .execute();
  return db.selectFrom('idempotency').selectAll().where('id', '=', id).executeTakeFirst();
}

export const retentionStart = (now: string) =>
  momentOf(new Date(Date.parse(now) - retentionHours * 3_600_000)).now;

const mismatch = () =>
  new Problem(
    'idempotency_mismatch',
    'This `Idempotency-Key` was used with another body, or before the scopes or projects of your API key changed. ' +
      'The earlier request took effect. Use a new key for a new request.',
  );
