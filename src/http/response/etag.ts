import { createHash, hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import { Problem } from '../../core/errors.ts';
import { encodings, etagForEncoding } from './compression.ts';

export type Versioned = { version: number; updated_at?: string | null };

/**
 * The ETag of a resource: its version and the time of that, which `If-Match` compares, and a hash of the response, which
 * `If-None-Match` compares. The version alone is not enough for the latter, because a response also contains data of other
 * resources, such as counts and names, and not for the former, because after a restore the same numbers come again.
 */
export const resourceEtag = (resource: Versioned, text: string) =>
  `"${resource.version}-${timeOf(resource) ?? ''}${digest(text)}"`;

const timeOf = ({ updated_at }: Versioned) =>
  updated_at ? `${Date.parse(updated_at).toString(36)}.` : undefined;

/** The ETag of a response without a version. */
export const contentEtag = (text: string | Buffer) => `"${digest(text)}"`;

/** Computes the same ETag from the parts of a response. */
export function contentHash() {
  const parts = createHash(algorithm);
  return {
    add: (part: Buffer) => parts.update(part),
    etag: () => `"${parts.digest('base64url').slice(0, digestLength)}"`,
  };
}

/** SHA-1, because it takes less than half the time of SHA-256 on CPUs without instructions for them. */
const algorithm = 'sha1';
const digestLength = 22;

const digest = (text: string | Buffer) => hash(algorithm, text, 'base64url').slice(0, digestLength);

/** Returns the ETag in `If-None-Match` that matches, compared weakly (RFC 9110), if the response can be a 304. */
export function matchRequestEtag({ method, headers }: FastifyRequest, tag: string): string | undefined {
  // Only reads can get a 304; a write always gets its full response.
  return method === 'GET' || method === 'HEAD' ? matchIfNoneMatch(headers['if-none-match'], tag) : undefined;
}

/** Finds the ETag in an `If-None-Match` header, as the client sent it. An ETag of any encoding matches. */
export function matchIfNoneMatch(header: string | undefined, tag: string): string | undefined {
  if (header === undefined) return undefined;
  if (header === tag || header.trim() === '*') return tag;
  return header
    .split(',')
    .map((candidate) => candidate.trim().replace(/^W\//, ''))
    .find((candidate) => candidate === tag || isEncodedVariant(candidate, tag));
}

const isEncodedVariant = (candidate: string, tag: string) =>
  candidate.startsWith(tag.slice(0, -1)) &&
  encodings.some((encoding) => candidate === etagForEncoding(tag, encoding));

/** Sends the content, or 304 if the client already has it. */
export function sendWithEtag(
  request: FastifyRequest,
  reply: FastifyReply,
  tag: string,
  content: string | Buffer,
) {
  const matched = matchRequestEtag(request, tag);
  return matched === undefined ? reply.header('etag', tag).send(content) : sendNotModified(reply, matched);
}

/** Removes `Content-Type`, because a 304 has no body. */
export const sendNotModified = (reply: FastifyReply, tag: string) =>
  reply.code(304).removeHeader('content-type').header('etag', tag).send();

/** Fastify would send `Content-Length: 0` with a 304 to a HEAD request, which contradicts the length of the resource. */
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

/**
 * Rejects a change if `If-Match` names another version. Only the part of the version is compared, with its time where the
 * ETag has one, so a weak ETag is accepted too: a proxy that compresses a response weakens its ETag.
 */
export function assertIfMatch({ headers }: FastifyRequest, current: Versioned | undefined): void {
  const header = headers['if-match'];
  if (header === undefined || (current && header.trim() === '*')) return;
  if (!current)
    throw new Problem('stale', 'There is nothing to match yet. Send the request without `If-Match`.');
  const { version } = current;
  const isCurrent = (tag: string) => {
    const [, named, time = timeOf(current)] = /^(\d+)(?:-([\da-z]+\.)?|$)/.exec(tag) ?? [];
    return Number(named) === version && time === timeOf(current);
  };
  if (parseEntityTags(header).some(isCurrent)) return;
  throw new Problem(
    'stale',
    `The resource is now at version ${version}. Read it again, then repeat your change.`,
    { headers: { etag: `"${version}"` } },
  );
}

/** Returns the ETags of a list (RFC 9110) without quotes and `W/`. */
function parseEntityTags(header: string): string[] {
  const matches = [...header.matchAll(/[\t ,]*(?:W\/)?"([^"]*)"[\t ]*(?:,[\t ,]*|$)/gy)];
  const parsed = matches.reduce((length, [match]) => length + match.length, 0);
  if (matches.length > 0 && parsed === header.length) return matches.map(([, tag = '']) => tag);
  throw new Problem(
    'malformed_request',
    '`If-Match` is not a list of ETags. Send the `ETag` that you read, or the version in quotes, such as `If-Match: "3"`.',
  );
}
