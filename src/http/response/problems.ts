import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError, FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { preferredType } from '../../core/accept.ts';
import {
  type FieldError,
  maxErrors,
  Problem,
  type ProblemCode,
  problems,
  unavailable,
} from '../../core/errors.ts';
import { limits } from '../../core/schemas.ts';
import { shortened } from '../../core/text.ts';
import { logFailure, recordReply } from '../ops/logging.ts';
import { allowedMethods, writablePath } from '../request/allowed-methods.ts';
import { hasLargeRest } from '../request/drain.ts';
import { requestIdOf } from '../request/request-ids.ts';
import { closeAfterResponses } from '../server.ts';
import { preflightHeaders, varyOn } from './headers.ts';

/** Sends every error as a problem document (RFC 9457), including errors of Fastify and the database. */
export function installErrorHandlers(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    // The client disconnected before its response began, and Fastify closed the stream of that response.
    const isAbandoned = error.code === 'ERR_STREAM_PREMATURE_CLOSE' && reply.raw.destroyed;
    return isAbandoned ? reply.hijack() : sendProblem(request, reply, problemOf(request, error));
  });
  app.setNotFoundHandler((request, reply) => {
    if (isOutsideApi(request)) {
      reply.header('vary', varyOn(app.config, 'accept'));
      const page = prefersPage(request) && app.sendNotFoundPage(request, reply);
      if (page) return page;
    }
    if (request.method !== 'OPTIONS') throw notRouted(request);
    const methods = methodsAt(request);
    if (methods.length === 0) throw notRouted(request);
    const isPreflight = reply.hasHeader('access-control-allow-origin');
    return reply
      .code(204)
      .headers({ allow: methods.join(', '), ...(isPreflight && preflightHeaders(methods)) })
      .send();
  });
}

/** Whether a browser may have opened a path that does not exist. */
const isOutsideApi = (request: FastifyRequest) =>
  ['GET', 'HEAD'].includes(request.method) &&
  !/^\/v1(\/|$)/.test(pathOf(request.url)) &&
  methodsAt(request).length === 0;

const prefersPage = ({ headers }: FastifyRequest) =>
  preferredType(headers.accept, ['application/problem+json', 'text/html']) === 'text/html';

const methodsAt = ({ server, url }: FastifyRequest) => allowedMethods(server, pathOf(url));

const pathOf = (url: string) => url.split('?')[0] ?? '';

/** 404 for an unknown path, or 405 for a method that the path does not support. */
export function notRouted(request: FastifyRequest): Problem {
  const path = shortened(pathOf(request.url), 200);
  const methods = methodsAt(request);
  if (methods.length === 0) {
    const help = `See ${request.server.baseUrl}/docs for all paths.`;
    return new Problem('not_found', `There is nothing at ${path}. ${help}`);
  }
  const allow = methods.join(', ');
  const detail = `${path} does not support ${request.method}. It supports ${allow}.`;
  return new Problem('method_not_allowed', detail + writesAt(request), {
    headers: { allow },
    extra: { allowed: methods },
  });
}

/** Names the URL to write to, for a path of the read-only lists across projects. */
function writesAt({ server, url }: FastifyRequest): string {
  const path = writablePath(pathOf(url));
  if (path === undefined) return '';
  const methods = allowedMethods(server, path).filter((method) =>
    ['POST', 'PATCH', 'DELETE'].includes(method),
  );
  return ` Writes go to ${server.baseUrl}${path}, which supports ${methods.join(', ')}.`;
}

/** Handles requests that Fastify cannot route, such as a malformed URL. No hook runs for them. */
export async function sendFrameworkError(error: FastifyError, request: FastifyRequest, reply: FastifyReply) {
  const { server, headers, id } = request;
  const start = performance.now();
  request.moment = server.clock();
  reply.headers(server.responseHeaders(id, headers.origin));
  reply.raw.once('close', () => recordReply(request, reply, performance.now() - start));
  // Without a valid key it counts as a failed attempt, like other guesses.
  const rejection = await server
    .authenticate(request, server.secretOf(headers) ?? '')
    .catch((reason) => reason);
  const isLimited = rejection instanceof Problem && rejection.code === 'rate_limited';
  return sendProblem(request, reply, isLimited ? rejection : problemOf(request, error));
}

/** Sends an error for a request that is rejected before routing. */
export function writeProblem(
  app: FastifyInstance,
  request: IncomingMessage,
  response: ServerResponse,
  problem: Problem,
): void {
  const { headers, url = '' } = request;
  const { baseUrl, responseHeaders } = app;
  const request_id = requestIdOf(headers);
  const body = JSON.stringify(bodyOf(problem, { baseUrl, instance: pathOf(url), request_id }));
  response
    .writeHead(problems[problem.code].status, {
      ...responseHeaders(request_id, headers.origin),
      ...problem.headers,
      'content-type': 'application/problem+json',
      'content-length': Buffer.byteLength(body),
      ...(hasLargeRest(request) && { connection: 'close' }),
    })
    .end(body);
}

/** Handles bytes that are not an HTTP request: there is no reply object, so it writes to the socket. */
export function sendBrokenRequestError(this: FastifyInstance, error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  // During a response the client would mistake the error for a part of it.
  if (closeAfterResponses(socket)) return;
  const problem = isTargetTooLong(error)
    ? new Problem('uri_too_long', 'The URL is longer than 16 KiB. Use fewer or shorter parameters.')
    : (brokenRequests[error.code] ?? new Problem('malformed_request', 'This is not a valid HTTP request.'));
  const request_id = randomUUID();
  this.log.debug({ request_id, broken: error.code });
  const body = JSON.stringify(bodyOf(problem, { baseUrl: this.baseUrl, request_id }));
  const { status } = problems[problem.code];
  const headers = {
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    ...this.responseHeaders(request_id, undefined),
  };
  // An `import` of node:http also loads the `fetch` client, which would slow down every start.
  const { STATUS_CODES } = process.getBuiltinModule('node:http');
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
}

/** The parser reports a long request line as a header overflow; the raw bytes show the difference. */
function isTargetTooLong({ code, rawPacket }: ConnectionError): boolean {
  return code === 'HPE_HEADER_OVERFLOW' && /^[A-Z]+ [^\r\n]{16384}/.test(String(rawPacket));
}

function sendProblem(request: FastifyRequest, reply: FastifyReply, problem: Problem) {
  const { status } = problems[problem.code];
  if (status === 415 && request.method === 'PATCH') {
    reply.header('accept-patch', 'application/merge-patch+json, application/json');
  }
  if (status >= 500 && problem.cause) logFailure(request.server, problem, request.log);
  return reply
    .code(status)
    .headers(problem.headers)
    .type('application/problem+json')
    .send(JSON.stringify(problemBody(request, problem)));
}

export const problemBody = ({ server, url, id }: FastifyRequest, problem: Problem) =>
  bodyOf(problem, { baseUrl: server.baseUrl, instance: pathOf(url), request_id: id });

function bodyOf(
  problem: Problem,
  { baseUrl, ...occurrence }: { baseUrl: string; instance?: string | undefined; request_id?: string },
) {
  const { status, title } = problems[problem.code];
  const { message, errors = [], extra } = problem;
  const truncation =
    errors.length > maxErrors ? ` \`errors\` lists the first ${maxErrors} of ${errors.length}.` : '';
  return {
    type: `${baseUrl}/problems/${problem.code}`,
    title,
    status,
    detail: shortened(message, maxDetail) + truncation,
    ...occurrence,
    ...(occurrence.instance !== undefined && { instance: withBasePath(baseUrl, occurrence.instance) }),
    code: problem.code,
    ...(errors.length > 0 && { errors: errors.slice(0, maxErrors).map(withShortDetail) }),
    ...extra,
  };
}

/** The path as the client sent it. A proxy may have removed the path of the base URL. */
function withBasePath(baseUrl: string, path: string): string {
  const basePath = URL.parse(baseUrl)?.pathname.replace(/\/$/, '') ?? '';
  return path === basePath || path.startsWith(`${basePath}/`) ? path : basePath + path;
}

/** In characters. The longest detail that contains no client input has about 800. */
const maxDetail = 2000;

const withShortDetail = (error: FieldError): FieldError => ({
  ...error,
  detail: shortened(error.detail, maxDetail),
});

function problemOf({ server, routeOptions }: FastifyRequest, error: FastifyError): Problem {
  if (error instanceof Problem) return error;
  const known = frameworkErrors[error.code];
  if (known) return new Problem(known[0], known[1], { cause: error });
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    const size = formatSize(routeOptions.bodyLimit ?? limits.body_bytes);
    return new Problem('too_large', `The body is larger than ${size}. Split the request.`, { cause: error });
  }
  if (error.code === 'EMFILE' || error.code === 'ENFILE')
    return unavailable('The service has no file descriptors left. Try again shortly.', 5, error);
  if (error.statusCode !== undefined && error.statusCode < 500) {
    return new Problem('malformed_request', 'The request is malformed. Check what your client sends.', {
      cause: error,
    });
  }
  return (
    server.database.explain(error) ??
    new Problem('internal', 'An unexpected error occurred and was logged. Try again.', { cause: error })
  );
}

const formatSize = (bytes: number) => {
  const kibibytes = bytes / 1024;
  return kibibytes < 1024 ? `${kibibytes} KiB` : `${kibibytes / 1024} MiB`;
};

const brokenRequests: Record<string, Problem> = {
  HPE_HEADER_OVERFLOW: new Problem(
    'headers_too_large',
    'The headers are larger than 16 KiB. Send fewer or shorter ones.',
  ),
  ERR_HTTP_REQUEST_TIMEOUT: new Problem(
    'request_timeout',
    'The request took too long to arrive. Send it without pauses.',
  ),
};

const frameworkErrors: Record<string, [ProblemCode, string]> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'Send the body as `Content-Type: application/json`.',
  ],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['malformed_request', 'The body is empty. Send a JSON object.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'malformed_request',
    'The length of the body does not match `Content-Length`.',
  ],
  FST_ERR_BAD_URL: ['malformed_request', 'The path has invalid percent-encoding.'],
  FST_ERR_MAX_PARAM_LENGTH: ['uri_too_long', 'An id in the path is too long.'],
};
