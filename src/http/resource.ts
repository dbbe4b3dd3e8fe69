import type { FastifyReply, FastifyRequest } from 'fastify';
import { contentTag, isKnown, sendNotModified, versionTag } from './conditions.ts';

type Resource = { version: number };

export function sendResource<R extends Resource>(request: FastifyRequest, reply: FastifyReply, resource: R) {
  const tag = versionTag(resource.version);
  return isKnown(request, tag) ? sendNotModified(reply, tag) : reply.header('etag', tag).send(resource);
}

/** An answer that is no resource and has no version. */
export function sendTagged(request: FastifyRequest, reply: FastifyReply, answer: object) {
  const text = JSON.stringify(answer);
  const tag = contentTag(text);
  if (isKnown(request, tag)) return sendNotModified(reply, tag);
  return reply.header('etag', tag).type('application/json; charset=utf-8').send(text);
}
