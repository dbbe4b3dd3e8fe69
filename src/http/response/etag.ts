import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import { Problem } from '../../core/errors.ts';
import { encodings, etagForEncoding } from './compression.ts';

/**
 * The tag of a resource: its version, by which a change is refused as stale, and its content, by which an answer is
 * known. The version alone would not do for the latter: much of an answer (a count, a name, a state of health) changes
 * with other things.
 */
export const resourceEtag = (version: number, text: string) => `"${version}-${digest(text)}"`;

/** The tag of an answer that has no version. */
export const contentEtag = (text: string | Buffer) => `"${digest(text)}"`;

const digest = (text: string | Buffer) => hash('sha256', text, 'base64url').slice(0, 22);

/** The tag, as the client has it, of an answer it says it has already: `If-None-Match`, compared weakly (RFC 9110). */
export function matchRequestEtag({ method, headers }: FastifyRequest, tag: string): string | undefined {
  // A write that has happened is answered, whatever the client has.
  return method === 'GET' || method === 'HEAD' ? matchIfNoneMatch(headers['if-none-match'], tag) : undefined;
}

/** How a header `If-None-Match` names a tag, if it does: that of the same answer in any coding. */
export function matchIfNoneMatch(header: string | undefined, tag: string): string | undefined {
  if (header === undefined) return undefined;
  if (header === tag || header.trim() === '*') return tag;
  return header
    .split(',')
    .map((known) => known.trim().replace(/^W\//, ''))
    .find((known) => known === tag || isInCoding(known, tag));
}

/** The same answer, compressed. */
const isInCoding = (known: string, tag: string) =>
  known.startsWith(tag.slice(0, -1)) && encodings.some((coding) => known === etagForEncoding(tag, coding));

/** Answers with some content, or, when the client has it already, with 304. */
export function sendWithEtag(
  request: FastifyRequest,
  reply: FastifyReply,
  tag: string,
  content: string | Buffer,
) {
  const known = matchRequestEtag(request, tag);
  return known === undefined ? reply.header('etag', tag).send(content) : sendNotModified(reply, known);
}

/** What describes a body has no place in an answer without one. */
export const sendNotModified = (reply: FastifyReply, tag: string) =>
  reply.code(304).removeHeader('content-type').header('etag', tag).send();

/** A 304 tells the length of what it stands for, or none at all; to a HEAD the framework would say that it is 0. */
export function dropContentLengthOn304(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.method !== 'HEAD') return;
    const dropLength: onSendHookHandler = (_, reply, payload, done) => {
      if (reply.statusCode === 304) reply.removeHeader('content-length');
      done(null, payload);
    };
    route.onSend = [...[route.onSend ?? []].flat(), dropLength];
  });
}

/** Refuses a change of a version that the client has not seen: `If-Match`, compared strongly, by the version alone. */
export function assertIfMatch({ headers }: FastifyRequest, { version }: { version: number }): void {
  const header = headers['if-match'];
  if (header === undefined || header.trim() === '*') return;
  if (header.split(',').some((tag) => Number(/^"(\d+)(-[^"]*)?"$/.exec(tag.trim())?.[1]) === version)) return;
  throw new Problem(
    'stale',
    `This is at version ${version} by now. Read it again and send your change anew.`,
    { headers: { etag: `"${version}"` } },
  );
}
