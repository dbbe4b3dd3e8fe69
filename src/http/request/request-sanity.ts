import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { Problem } from '../../core/errors.ts';

/** How requests are read: what two readers could understand in two ways is refused, not guessed. */
export const serverOptions = {
  // Otherwise the first of two keys or two types counts, silently.
  joinDuplicateHeaders: true,
  // Refused below, in words.
  requireHostHeader: false,
};

/** What is wrong with how a request is put, if anything is: what the parser lets through, and HTTP does not. */
export function findMalformation({
  headers,
  method,
  url = '',
  httpVersion,
}: IncomingMessage): Problem | undefined {
  const { host, 'transfer-encoding': transfer, 'content-encoding': coding } = headers;
  if (host === undefined ? httpVersion === '1.1' : !/^[\w.~!$&'()*+;=:%[\]-]*$/.test(host)) {
    return malformed('Send one `Host` header, with the host you call.');
  }
  if (url.charCodeAt(0) !== slash && !/^https?:\/\//i.test(url) && !(url === '*' && method === 'OPTIONS')) {
    return malformed('The address must be a path, beginning with `/`.');
  }
  if (transfer !== undefined && (transfer.toLowerCase() !== 'chunked' || httpVersion === '1.0')) {
    return malformed('The only `Transfer-Encoding` is `chunked`, in HTTP/1.1.');
  }
  // Nobody reads a body that comes with a GET.
  if (coding !== undefined && coding.toLowerCase() !== 'identity' && method !== 'GET' && method !== 'HEAD') {
    return new Problem('unsupported_media_type', 'Send the body as it is, without `Content-Encoding`.', {
      headers: { 'accept-encoding': 'identity' },
    });
  }
  return undefined;
}

export function rejectMalformedRequests(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw }, _, done) => done(findMalformation(raw)));
}

const slash = '/'.charCodeAt(0);

/** Whatever else comes on the connection might be a part of this. */
const malformed = (detail: string) =>
  new Problem('malformed_request', detail, { headers: { connection: 'close' } });
