import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { Problem } from '../../core/errors.ts';

/**
 * Finds violations of HTTP that Node's parser accepts. Ambiguous requests are rejected, because a proxy could interpret
 * them differently (request smuggling).
 */
export function findMalformation({
  headers,
  method,
  url = '',
  httpVersion,
}: IncomingMessage): Problem | undefined {
  const { host, 'transfer-encoding': transfer, 'content-encoding': encoding } = headers;
  if (host === undefined ? httpVersion === '1.1' : !/^[\w.~!$&'()*+;=:%[\]-]*$/.test(host)) {
    return malformed('Send exactly one valid `Host` header.');
  }
  if (url.charCodeAt(0) !== slash && !/^https?:\/\//i.test(url) && !(url === '*' && method === 'OPTIONS')) {
    return malformed('The request target must be a path that starts with `/`.');
  }
  if (transfer !== undefined && (transfer.toLowerCase() !== 'chunked' || httpVersion === '1.0')) {
    return malformed('The only supported `Transfer-Encoding` is `chunked`, in HTTP/1.1.');
  }
  const isEncoded = encoding !== undefined && encoding.toLowerCase() !== 'identity';
  // The body of a GET or HEAD is never read.
  if (isEncoded && method !== 'GET' && method !== 'HEAD') {
    return new Problem('unsupported_media_type', 'Send the body uncompressed, without `Content-Encoding`.', {
      headers: { 'accept-encoding': 'identity' },
    });
  }
  return undefined;
}

export function rejectMalformedRequests(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw }, _, done) => done(findMalformation(raw)));
}

const slash = '/'.charCodeAt(0);

/** Closes the connection, because the next bytes may belong to the malformed request. */
const malformed = (detail: string) =>
  new Problem('malformed_request', detail, { headers: { connection: 'close' } });
