import type { FastifyReply, FastifyRequest } from 'fastify';
import { contentEtag, resourceEtag, sendWithEtag, type Versioned } from './etag.ts';

const json = 'application/json; charset=utf-8';

export function sendResource(request: FastifyRequest, reply: FastifyReply, resource: Versioned) {
  const text = JSON.stringify(resource);
  return sendWithEtag(request, reply.type(json), resourceEtag(resource, text), text);
}

/** For a response that is not a resource and has no version. */
export function sendWithContentEtag(request: FastifyRequest, reply: FastifyReply, content: object) {
  const text = JSON.stringify(content);
  return sendWithEtag(request, reply.type(json), contentEtag(text), text);
}
