import type { FastifyReply, FastifyRequest } from 'fastify';
import { contentEtag, resourceEtag, sendWithEtag } from './etag.ts';

type Resource = { version: number };

const json = 'application/json; charset=utf-8';

export function sendResource<R extends Resource>(request: FastifyRequest, reply: FastifyReply, resource: R) {
  const text = JSON.stringify(resource);
  return sendWithEtag(request, reply.type(json), resourceEtag(resource.version, text), text);
}

/** For a response that is not a resource and has no version. */
export function sendWithContentEtag(request: FastifyRequest, reply: FastifyReply, content: object) {
  const text = JSON.stringify(content);
  return sendWithEtag(request, reply.type(json), contentEtag(text), text);
}
