import type { FastifyReply, FastifyRequest } from 'fastify';
import { contentTag, resourceTag, sendUnlessKnown } from './conditions.ts';

type Resource = { version: number };

const json = 'application/json; charset=utf-8';

export function sendResource<R extends Resource>(request: FastifyRequest, reply: FastifyReply, resource: R) {
  const text = JSON.stringify(resource);
  return sendUnlessKnown(request, reply.type(json), resourceTag(resource.version, text), text);
}

/** An answer that is no resource and has no version. */
export function sendTagged(request: FastifyRequest, reply: FastifyReply, answer: object) {
  const text = JSON.stringify(answer);
  return sendUnlessKnown(request, reply.type(json), contentTag(text), text);
}
