import type { FastifyReply, FastifyRequest } from 'fastify';
import { contentEtag, resourceEtag, sendWithEtag } from './etag.ts';

type Resource = { version: number };

const json = 'application/json; charset=utf-8';

export function sendResource<R extends Resource>(request: FastifyRequest, reply: FastifyReply, resource: R) {
  const text = JSON.stringify(resource);
  return sendWithEtag(request, reply.type(json), resourceEtag(resource.version, text), text);
}

/** An answer that is no resource and has no version. */
export function sendWithContentEtag(request: FastifyRequest, reply: FastifyReply, answer: object) {
  const text = JSON.stringify(answer);
  return sendWithEtag(request, reply.type(json), contentEtag(text), text);
}
