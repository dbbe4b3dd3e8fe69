import { checkContent, violated } from './content.ts';
import type { Description, Operation } from './document.ts';
import type { Draft } from './draft.ts';
import { findRejection } from './rejection.ts';
import type { ServiceResponse } from './send.ts';
import type { Target } from './target.ts';

/** Error codes that need no operation: the path does not exist, or the request cannot be parsed. */
const generalCodes: Record<number, string[]> = {
  400: ['malformed_request'],
  404: ['not_found'],
  405: ['method_not_allowed'],
  406: ['not_acceptable'],
  413: ['too_large'],
  414: ['uri_too_long'],
  415: ['unsupported_media_type'],
  422: ['invalid_body'],
  431: ['headers_too_large'],
};

/** Validation codes for single values. A value that matches the schema must never get one. */
const schemaErrorCodes = /^(type|enum|const|format|pattern|minLength|maxLength|minimum|maximum)$/;

/** Lists every way in which a response violates the OpenAPI document or the general contract. */
export function checkResponse(
  description: Description,
  { origin, keys }: Target,
  draft: Draft,
  response: ServiceResponse,
): string[] {
  const operation = operationOf(description, draft);
  if (!operation && isPage(response)) return [];
  return [
    ...statusErrors(operation, draft, response),
    ...checkContent(operation, origin, draft, response),
    ...headerErrors(description, origin, draft, response),
    ...pageErrors(draft, response),
    ...expectationErrors(operation, draft, response),
    ...(draft.actor === 'limited' && draft.headers.authorization === undefined
      ? projectLeakErrors(keys, response)
      : []),
  ];
}

/** The operation that the request reaches; undefined when a mutation changed the path or method to an unknown one. */
function operationOf(
  { operations, match }: Description,
  { operation, method, path, targetsOperation }: Draft,
): Operation | undefined {
  if (targetsOperation) return operation;
  const template = match(decodedPath(path))?.template;
  const routedMethod = method === 'HEAD' ? 'GET' : method;
  return operations.find((candidate) => candidate.template === template && candidate.method === routedMethod);
}

/** HTML pages are not part of the OpenAPI document. */
const isPage = ({ status, headers }: ServiceResponse) =>
  status === 200 && /^text\/html/.test(headers['content-type'] ?? '');

function decodedPath(path: string): string {
  try {
    return decodeURI(path.replace(/^https?:\/\/[^/]+/, '').replace(/[?#].*$/, ''));
  } catch {
    return '';
  }
}

function statusErrors(
  operation: Operation | undefined,
  draft: Draft,
  { status, json }: ServiceResponse,
): string[] {
  if (status >= 500) return [`${status} ${codeOf(json)}`];
  if (status === 304)
    return draft.headers['if-none-match'] === undefined ? ['304 without If-None-Match'] : [];
  if (draft.method === 'OPTIONS' && status === 204) return [];
  const code = codeOf(json);
  if (operation?.responses[status]) {
    const { description } = operation.responses[status];
    return status >= 400 &&
      !description.includes(`\`${code}\``) &&
      draft.method !== 'HEAD' &&
      !(!draft.targetsOperation && generalCodes[status]?.includes(code))
      ? [`${status} ${code} is not documented`]
      : [];
  }
  if (
    !draft.targetsOperation &&
    (generalCodes[status]?.includes(code) || (draft.method === 'HEAD' && status in generalCodes))
  )
    return [];
  // Oversized headers and URLs are rejected before routing.
  if ((status === 431 || status === 414) && generalCodes[status]?.includes(code)) return [];
  return [`${status} ${code} is not documented${operation ? '' : ' for an unknown operation'}`];
}

const codeOf = (json: unknown) => String((json as { code?: unknown } | undefined)?.code ?? '');

function headerErrors(
  { operations, match }: Description,
  origin: string,
  draft: Draft,
  { status, headers, json }: ServiceResponse,
): string[] {
  const { method, path } = draft;
  const body = json as { version?: unknown } | undefined;
  const siblings = operations.filter(({ template }) => template === match(decodedPath(path))?.template);
  const allowed = [
    ...siblings.map((operation) => operation.method),
    ...(siblings.some((one) => one.method === 'GET') ? ['HEAD'] : []),
    'OPTIONS',
  ].sort();
  const { etag, allow, location, 'www-authenticate': challenge = '' } = headers;
  const isOk = status < 300;
  const hasVersion = Number.isInteger(body?.version) && !/risk-model|openapi/.test(path);
  const isRead = method === 'GET' && siblings[0]?.template.startsWith('/v1/');
  const isPrivate = siblings[0]?.scope !== undefined && method !== 'OPTIONS';
  const lacksScope = status === 403 && codeOf(json) === 'insufficient_scope';
  return violated([
    [status === 401 && !/^Bearer realm="muster"/.test(challenge), '401 without WWW-Authenticate'],
    [
      lacksScope && !/error="insufficient_scope", .*scope="/.test(challenge),
      `403 with WWW-Authenticate ${challenge}`,
    ],
    [
      status === 405 && siblings.length > 0 && allow !== allowed.join(', '),
      `Allow is ${allow} instead of ${allowed.join(', ')}`,
    ],
    [status === 201 && !location?.startsWith(`${origin}/v1/`), `201 with the Location ${location}`],
    [status === 415 && method === 'PATCH' && !headers['accept-patch'], '415 without Accept-Patch'],
    [[429, 503].includes(status) && !headers['retry-after'], `${status} without Retry-After`],
    [
      isOk && hasVersion && !etag?.startsWith(`"${body?.version}-`),
      `the ETag ${etag} is not the version ${body?.version}`,
    ],
    [
      [200, 304].includes(status) && isRead && !/^"[^"]+"$/.test(etag ?? ''),
      `${status} with the ETag ${etag}`,
    ],
    [
      isOk && isPrivate && !/private|no-store/.test(headers['cache-control'] ?? ''),
      'a response that shared caches may store',
    ],
    [status === 304 && method !== 'GET' && method !== 'HEAD', 'a write returned 304'],
  ]);
}

type Page = { limit: number | null; next_cursor: string | null; has_more: boolean; total: number | null };

function pageErrors(
  { query, method, targetsOperation }: Draft,
  { status, headers, json }: ServiceResponse,
): string[] {
  const { data, page } = (json ?? {}) as { data?: unknown[]; page?: Page };
  if (status !== 200 || method !== 'GET' || !page || !data || !targetsOperation) return [];
  const parameter = (name: string) => query.find((one) => one.name === name)?.value;
  const limit = parameter('limit') === undefined ? null : Number(parameter('limit'));
  const isWhole = limit === null && parameter('cursor') === undefined;
  const isCounted = parameter('count') === 'true' || isWhole;
  const hasLink = headers.link?.includes('rel="next"') ?? false;
  return violated([
    [page.limit !== limit, `page.limit is ${page.limit} for limit=${limit}`],
    [limit !== null && !(data.length <= limit), `${data.length} rows for limit=${limit}`],
    [page.has_more !== (page.next_cursor !== null), 'has_more and next_cursor disagree'],
    [page.has_more !== hasLink, 'has_more and Link disagree'],
    [limit === null && page.has_more, 'a whole list that has more'],
    [isCounted !== (page.total !== null), `page.total is ${page.total}`],
    [isWhole && page.total !== data.length, `${data.length} rows, page.total ${page.total}`],
  ]);
}

/** Checks that invalid requests are rejected and that valid ones are not. */
function expectationErrors(
  operation: Operation | undefined,
  draft: Draft,
  { status, json }: ServiceResponse,
): string[] {
  const rejection = findRejection(draft);
  const isOk = status < 400 && draft.method !== 'OPTIONS';
  const needsKey = operation?.scope !== undefined;
  const isKeyless =
    ['none', 'garbage', 'revoked', 'expired'].includes(draft.actor) &&
    draft.headers.authorization === undefined;
  // The actor `other` has a scope that the planned operation does not accept.
  const lacksScope = draft.targetsOperation && draft.actor === 'other' && operation?.scope !== '';
  if (isOk && needsKey && (isKeyless || lacksScope)) return [`${status} with the key “${draft.actor}”`];
  if (isOk && rejection) return [`${status} for a request that the document does not allow (${rejection})`];
  if (draft.isMutated || rejection || !['all', 'exact'].includes(draft.actor)) return [];
  // A schema cannot describe everything that an import file must contain.
  const acceptsFile = operation?.requestBody?.content['text/csv'] !== undefined;
  const errors = (json as { errors?: { code: string }[] } | undefined)?.errors ?? [];
  const codes = errors.map(({ code }) => code);
  const schemaErrors = codes.filter((code) => schemaErrorCodes.test(code));
  // Valid filters that contradict each other get the code `invalid_parameter`.
  const isContradiction = codes.length > 0 && codes.every((code) => code === 'invalid_parameter');
  // An operation without authentication returns 401 for a key in the body, and generated keys are never valid.
  // Files of NDJSON and workbooks have one encoding.
  const namesEncoding = acceptsFile && draft.query.some(({ name }) => name === 'charset');
  const unexpected = [
    ...[405, 406, 413],
    ...(needsKey ? [401] : []),
    ...(isLong(draft) ? [] : [414]),
    ...(namesEncoding ? [] : [415]),
  ];
  const isAllowed = 'for a request that the document allows';
  return violated([
    [schemaErrors.length > 0, `${status} ${schemaErrors} ${isAllowed}`],
    [status === 400 && !acceptsFile && !isContradiction, `400 ${codeOf(json)} ${isAllowed}`],
    [unexpected.includes(status), `${status} ${isAllowed}`],
    // Only pages of the service can sign in, and some operations are for people only.
    [
      status === 403 &&
        draft.actor === 'all' &&
        !['cross_origin', 'person_required'].includes(String(codeOf(json))),
      '403 for a key with every scope',
    ],
  ]);
}

/** The URL exceeds the header limit although each parameter is valid. */
const isLong = ({ path, query }: Draft) =>
  path.length + query.reduce((length, { sent }) => length + sent.length + 1, 0) > 15_000;

/** A key limited to some projects must not see any other project. */
function projectLeakErrors({ limited }: Target['keys'], { status, text }: ServiceResponse): string[] {
  if (!limited || status >= 300) return [];
  const seen = [...text.matchAll(/"project_id": ?"([^"]+)"/g)].map(([, id = '']) => id);
  return seen.every((id) => limited.projects.includes(id))
    ? []
    : [`${status} shows another project to a limited key`];
}
