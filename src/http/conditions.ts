import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../errors.ts';

/** The tag of a resource is its version; the tag of other answers is made of their content. */
export const versionTag = (version: number) => `"${version}"`;

export const contentTag = (content: string) => `"${hash('sha256', content, 'base64url').slice(0, 22)}"`;

/** Whether the client says, with `If-None-Match`, that it has this answer already (weak comparison, RFC 9110). */
export function isKnown(request: FastifyRequest, tag: string): boolean {
  const header = request.headers['if-none-match'];
  // A write that has happened is answered, whatever the client has.
  if (header === undefined || !['GET', 'HEAD'].includes(request.method)) return false;
  return header.trim() === '*' || header.split(',').some((known) => known.trim().replace(/^W\//, '') === tag);
}

/** Refuses a change of a version that the client has not seen: `If-Match`, compared strongly. */
export function refuseStale(request: FastifyRequest, { version }: { version: number }): void {
  const header = request.headers['if-match'];
  if (header === undefined || header.trim() === '*') return;
  if (header.split(',').some((tag) => tag.trim() === versionTag(version))) return;
  throw new Problem(
    'stale',
    `This is at version ${version} by now. Read it again and send your change anew.`,
    {
      headers: { etag: versionTag(version) },
    },
  );
}

export const sendNotModified = (reply: FastifyReply, tag: string) =>
  reply.code(304).header('etag', tag).send();
