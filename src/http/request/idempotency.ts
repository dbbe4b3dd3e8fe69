import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Transaction } from 'kysely';
import { momentOf } from '../../core/clock.ts';
import { Problem } from '../../core/errors.ts';
import type { Database } from '../../database/open.ts';
import type { Tables } from '../../database/tables.ts';
import { resourceEtag } from '../response/etag.ts';

/** What a POST has done: sent, and, with an `Idempotency-Key`, kept to be sent again. */
type Done = { status: number; location?: string; body: object };

const keptHours = 24;

/** 201, with where the new resource is. */
export const created = (location: string, body: object): Done => ({ status: 201, location, body });

export const done = (body: object): Done => ({ status: 200, body });

/** Does `work` in one transaction, once, and answers with what it gives: see `runIdempotent`. */
export async function sendIdempotent(
  request: FastifyRequest,
  reply: FastifyReply,
  work: (db: Transaction<Tables>) => Promise<Done>,
) {
  const { answer, isReplay } = await runIdempotent(request, request.body ?? null, work);
  if (isReplay) reply.header('idempotent-replayed', 'true');
  return send(reply, answer);
}

/**
 * Does `work` in one transaction. A request with an `Idempotency-Key` does it once: what it gives is kept in the same
 * transaction, as JSON, and given again when the request comes again. What fails is not kept.
 */
export async function runIdempotent<Answer>(
  request: FastifyRequest,
  content: unknown,
  work: (db: Transaction<Tables>) => Promise<Answer>,
  pace: 'quick' | 'bulk' = 'quick',
): Promise<{ answer: Answer; isReplay: boolean }> {
  const { write } = request.database;
  const header = request.headers['idempotency-key'];
  if (header === undefined) return { answer: await write(work, pace), isReplay: false };

  const id = recordId(request, String(header));
  const { scopes, project_ids } = request.actor;
  // What was answered may show what the key sees no more.
  const request_hash = hash('sha256', JSON.stringify([content, scopes, project_ids]), 'hex');
  return write(async (db) => {
    const known = await findRecord(db, id, request.moment.now);
    if (known && known.request_hash !== request_hash) throw mismatch();
    if (known) return { answer: JSON.parse(known.answer) as Answer, isReplay: true };
    // Before the work, so that the same request coming meanwhile waits here for what becomes of this one.
    const record = { id, request_hash, answer: '', created_at: request.moment.now };
    await db.insertInto('idempotency').values(record).execute();
    const answer = await work(db);
    await db
      .updateTable('idempotency')
      .set({ answer: JSON.stringify(answer) })
      .where('id', '=', id)
      .execute();
    return { answer, isReplay: false };
  }, pace);
}

/** What was kept long enough goes. */
export const purgeExpired = (database: Database, now: string) =>
  database.write((db) => db.deleteFrom('idempotency').where('created_at', '<', oldest(now)).execute());

function send(reply: FastifyReply, { status, location, body }: Done) {
  if (location !== undefined) reply.header('location', `${reply.server.baseUrl}${location}`);
  if ('version' in body) reply.header('etag', resourceEtag(Number(body.version), JSON.stringify(body)));
  return reply.code(status).send(body);
}

/** The same text of another API key, or for another path, is another request. */
function recordId({ actor, method, url }: FastifyRequest, header: string): string {
  const [, quoted, bare] = /^(?:"([!#-~ ]{1,255})"|([!#-~]{1,255}))$/.exec(header.trim()) ?? [];
  const key = quoted ?? bare;
  if (key === undefined) {
    throw new Problem(
      'malformed_request',
      '`Idempotency-Key` must be 1 to 255 plain characters, bare or in quotes.',
    );
  }
  return hash('sha256', JSON.stringify([actor.id, method, url, key]), 'base64url');
}

async function findRecord(db: Transaction<Tables>, id: string, now: string) {
  await db.deleteFrom('idempotency').where('id', '=', id).where('created_at', '<', oldest(now)).execute();
  return db.selectFrom('idempotency').selectAll().where('id', '=', id).executeTakeFirst();
}

const oldest = (now: string) => momentOf(new Date(Date.parse(now) - keptHours * 3_600_000)).now;

const mismatch = () =>
  new Problem(
    'idempotency_mismatch',
    'This `Idempotency-Key` was used with another body, or before the scopes or projects of your API key were changed. ' +
      'What it did then is done. Use a new one for a new request.',
  );
