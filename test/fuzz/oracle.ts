import { asAnswered, type Description, errorOf, type Operation } from './document.ts';
import type { ParsedRow } from './draft.ts';
import { refusalOf } from './refusal.ts';
import { type Answer, isWorkbook } from './send.ts';
import type { Target } from './target.ts';
import type { Schema } from './values.ts';

/** Answers that no operation is needed for: there is nothing at the path, or the request cannot be read. */
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

/** Errors of single values: what the schema allows cannot have them. */
const schemaFaults = [
  'type',
  'enum',
  'const',
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
];

/** What is wrong with an answer; nothing when it is as the document and the contract say. */
export function checkResponse(
  description: Description,
  { origin, keys }: Target,
  draft: ParsedRow,
  answer: Answer,
): string[] {
  const operation = operationOf(description, draft);
  if (!operation && isPage(answer)) return [];
  return [
    ...statusFaults(operation, draft, answer),
    ...contentFaults(operation, origin, draft, answer),
    ...headerFaults(description, origin, draft, answer),
    ...pageFaults(draft, answer),
    ...expectationFaults(operation, draft, answer),
    ...(draft.actor === 'limited' && draft.headers.authorization === undefined
      ? strayFaults(keys, answer)
      : []),
  ].filter((error) => error !== undefined);
}

/** The operation that is really asked for; none when the path or the method was changed into one that is not there. */
function operationOf(
  { operations, match }: Description,
  { operation, method, path, isPlaced }: ParsedRow,
): Operation | undefined {
  if (isPlaced) return operation;
  const template = match(decodedPath(path))?.template;
  const wanted = method === 'HEAD' ? 'GET' : method;
  return operations.find((other) => other.template === template && other.method === wanted);
}

/** The pages for people are no part of the document. */
const isPage = ({ status, headers }: Answer) =>
  status === 200 && /^text\/html/.test(headers['content-type'] ?? '');

function decodedPath(path: string): string {
  try {
    return decodeURI(path.replace(/^https?:\/\/[^/]+/, '').replace(/[?#].*$/, ''));
  } catch {
    return '';
  }
}

function statusFaults(
  operation: Operation | undefined,
  draft: ParsedRow,
  { status, json }: Answer,
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
      !(!draft.isPlaced && generalCodes[status]?.includes(code))
      ? [`${status} ${code} is not documented`]
      : [];
  }
  if (
    !draft.isPlaced &&
    (generalCodes[status]?.includes(code) || (draft.method === 'HEAD' && status in generalCodes))
  )
    return [];
  // Headers and addresses that cannot be taken are refused before any operation is chosen.
  if ((status === 431 || status === 414) && generalCodes[status]?.includes(code)) return [];
  return [`${status} ${code} is not documented${operation ? '' : ' for what is not there'}`];
}

const codeOf = (json: unknown) => String((json as { code?: unknown } | undefined)?.code ?? '');

function contentFaults(
  operation: Operation | undefined,
  origin: string,
  draft: ParsedRow,
  answer: Answer,
): (string | undefined)[] {
  const { status, headers, text, json } = answer;
  const type = (headers['content-type'] ?? '').split(';')[0] ?? '';
  if (draft.method === 'HEAD' || status === 304 || status === 204) {
    return [text === '' ? undefined : `${status} ${draft.method} with a body`];
  }
  if (status >= 400) return problemFaults(origin, draft, answer, type);
  const content = operation?.responses[status]?.content;
  if (!content)
    return operation?.responses[status] && text === '' ? [] : [`${status} has a body that is not documented`];
  const schema = content[type]?.schema;
  if (!schema) return [`${status} as ${type}, which is not documented`];
  if (type === 'application/json') {
    if (json === undefined) return ['not JSON'];
    const error = errorOf(asAnswered(schema), json);
    return [error && `${status} does not match its schema: ${error}`];
  }
  const row = (content['application/json']?.schema?.properties?.data as Schema | undefined)?.items;
  if (type === 'application/x-ndjson' && row) return [ndjsonFault(text, asAnswered(row))];
  if (type === 'text/csv' && row) return [csvFault(text, row)];
  if (isWorkbook(headers)) return [text.startsWith('PK') ? undefined : 'not a workbook'];
  return [];
}

function problemFaults(
  origin: string,
  { path, method }: ParsedRow,
  { status, json }: Answer,
  type: string,
): (string | undefined)[] {
  if (type !== 'application/problem+json') return [`${status} as “${type}” instead of problem+json`];
  if (json === undefined) return [`${status} is not JSON`];
  const problem = json as Record<string, unknown>;
  const { code, request_id, instance, detail } = problem;
  const isTooLong = status === 431 || (status === 414 && instance === undefined);
  const isRouted = !isTooLong && request_id !== undefined;
  return [
    problem.status === status
      ? undefined
      : `the problem's status is ${problem.status} in an answer ${status}`,
    problem.type === `${origin}/problems/${code}` ? undefined : `the problem's type is ${problem.type}`,
    typeof request_id === 'string' && request_id !== ''
      ? undefined
      : `${status} ${code} without a request_id`,
    typeof detail === 'string' && detail.length > 10 ? undefined : 'the problem has no detail',
    !isRouted || instance === path.split('?')[0] || /[#]|^http|^\*/.test(path)
      ? undefined
      : `instance is ${instance}`,
    /node_modules|SQLITE_|\n +at /.test(String(detail)) ? 'the detail tells of the inside' : undefined,
    method === 'HEAD' || errorOf(problemSchema, json) === undefined
      ? undefined
      : `not a problem: ${errorOf(problemSchema, json)}`,
  ];
}

const problemSchema: Schema = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
  properties: {
    errors: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['code', 'detail'],
        properties: {
          pointer: { type: 'string', pattern: '^#' },
          parameter: { type: 'string' },
          code: { type: 'string' },
          detail: { type: 'string' },
        },
        additionalProperties: false,
      },
    },
  },
};

function ndjsonFault(text: string, row: Schema): string | undefined {
  if (text !== '' && !text.endsWith('\n')) return 'the last line does not end';
  for (const line of text.split('\n').slice(0, -1)) {
    const error = errorOf(row, JSON.parse(line));
    if (error) return `a line does not match the schema of a row: ${error}`;
  }
  return undefined;
}

function csvFault(text: string, { properties = {}, required = [] }: Schema): string | undefined {
  const [header = [], ...rows] = parseCsv(text);
  // What is given only when asked for is named only then.
  const named = Object.keys(properties).filter((name) => required.includes(name) || header.includes(name));
  if (header.join() !== named.join()) return `the header row is ${header}`;
  const uneven = rows.find((row) => row.length !== header.length);
  if (uneven) return `a row has ${uneven.length} cells instead of ${header.length}`;
  const formula = rows.flat().find((cell) => /^[=+@\t\r]/.test(cell));
  return formula === undefined ? undefined : `a cell is a formula: ${formula}`;
}

/** RFC 4180, strictly. */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const cells = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/gy;
  while (cells.lastIndex < text.length) {
    const found = cells.exec(text);
    if (!found) throw new Error(`not CSV at character ${cells.lastIndex}`);
    row.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? '');
    if (found[3] === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

function headerFaults(
  { operations, match }: Description,
  origin: string,
  draft: ParsedRow,
  { status, headers, json }: Answer,
): (string | undefined)[] {
  const { method, path } = draft;
  const body = json as { version?: unknown } | undefined;
  const own = operations.filter(({ template }) => template === match(decodedPath(path))?.template);
  const allowed = [
    ...own.map((operation) => operation.method),
    ...(own.some((one) => one.method === 'GET') ? ['HEAD'] : []),
    'OPTIONS',
  ].sort();
  const isWrite = status < 300 && method !== 'GET' && method !== 'HEAD';
  return [
    status === 401 && !/^Bearer realm="muster"/.test(headers['www-authenticate'] ?? '')
      ? '401 without WWW-Authenticate'
      : undefined,
    status === 403 &&
    codeOf(json) === 'insufficient_scope' &&
    !/error="insufficient_scope", .*scope="/.test(headers['www-authenticate'] ?? '')
      ? `403 with WWW-Authenticate ${headers['www-authenticate']}`
      : undefined,
    status === 405 && own.length > 0 && headers.allow !== allowed.join(', ')
      ? `Allow is ${headers.allow} instead of ${allowed.join(', ')}`
      : undefined,
    status === 201 && !headers.location?.startsWith(`${origin}/v1/`)
      ? `201 with the Location ${headers.location}`
      : undefined,
    status === 415 && method === 'PATCH' && !headers['accept-patch'] ? '415 without Accept-Patch' : undefined,
    [429, 503].includes(status) && !headers['retry-after'] ? `${status} without Retry-After` : undefined,
    status < 300 &&
    body &&
    Number.isInteger(body.version) &&
    !/risk-model|openapi/.test(path) &&
    !headers.etag?.startsWith(`"${body.version}-`)
      ? `the ETag ${headers.etag} is not the version ${body.version}`
      : undefined,
    [200, 304].includes(status) &&
    method === 'GET' &&
    own[0]?.template.startsWith('/v1/') &&
    !/^"[^"]+"$/.test(headers.etag ?? '')
      ? `${status} with the ETag ${headers.etag}`
      : undefined,
    status < 300 &&
    own[0]?.scope !== undefined &&
    !/private|no-store/.test(headers['cache-control'] ?? '') &&
    method !== 'OPTIONS'
      ? 'an answer that shared caches may keep'
      : undefined,
    isWrite && draft.headers['if-none-match'] && status === 304 ? 'a write answered with 304' : undefined,
  ];
}

type Page = { limit: number | null; next_cursor: string | null; has_more: boolean; total: number | null };

function pageFaults(
  { query, method, isPlaced }: ParsedRow,
  { status, headers, json }: Answer,
): (string | undefined)[] {
  const { data, page } = (json ?? {}) as { data?: unknown[]; page?: Page };
  if (status !== 200 || method !== 'GET' || !page || !data || !isPlaced) return [];
  const given = (name: string) => query.find((one) => one.name === name)?.value;
  const limit = given('limit') === undefined ? null : Number(given('limit'));
  const isCounted = given('count') === 'true' || (limit === null && given('cursor') === undefined);
  return [
    page.limit === limit ? undefined : `page.limit is ${page.limit} for limit=${limit}`,
    limit === null || data.length <= limit ? undefined : `${data.length} rows for limit=${limit}`,
    page.has_more === (page.next_cursor !== null) ? undefined : 'has_more and next_cursor disagree',
    page.has_more === (headers.link?.includes('rel="next"') ?? false)
      ? undefined
      : 'has_more and Link disagree',
    limit === null && page.has_more ? 'a whole list that has more' : undefined,
    isCounted === (page.total !== null) ? undefined : `page.total is ${page.total}`,
    limit === null && given('cursor') === undefined && page.total !== data.length
      ? `${data.length} rows, page.total ${page.total}`
      : undefined,
  ];
}

/** What must, or must not, be refused. */
function expectationFaults(
  operation: Operation | undefined,
  draft: ParsedRow,
  { status, json }: Answer,
): (string | undefined)[] {
  const refusal = refusalOf(draft);
  const isOk = status < 400 && draft.method !== 'OPTIONS';
  const needsKey = operation?.scope !== undefined;
  const isKeyless =
    ['none', 'garbage', 'revoked', 'expired'].includes(draft.actor) &&
    draft.headers.authorization === undefined;
  // Another scope than the one of the operation that was planned.
  const lacksScope = draft.isPlaced && draft.actor === 'other' && operation?.scope !== '';
  if (isOk && needsKey && (isKeyless || lacksScope)) return [`${status} with the key “${draft.actor}”`];
  if (isOk && refusal) return [`${status} for what the document does not allow (${refusal})`];
  if (draft.isDamaged || refusal || !['all', 'exact'].includes(draft.actor)) return [];
  // What a file must be is more than a schema can say.
  const acceptsFile = operation?.requestBody?.content['text/csv'] !== undefined;
  const errors = (json as { errors?: { code: string }[] } | undefined)?.errors ?? [];
  const codes = errors.map(({ code }) => code);
  const ofSchema = codes.filter((code) => schemaFaults.includes(code));
  return [
    ofSchema.length > 0 ? `${status} ${ofSchema} for what the document allows` : undefined,
    // Filters that contradict each other are told from those that are wrong in themselves by their code.
    status === 400 &&
    !acceptsFile &&
    (codes.length === 0 || codes.some((code) => code !== 'invalid_parameter'))
      ? `400 ${codeOf(json)} for what the document allows`
      : undefined,
    // Where no key is needed, 401 is about one in the body: made-up keys are good for nothing.
    [...(needsKey ? [401] : []), 405, 406, 413, ...(isLong(draft) ? [] : [414]), 415].includes(status)
      ? `${status} for what the document allows`
      : undefined,
    status === 403 && draft.actor === 'all' ? '403 for a key with every scope' : undefined,
  ];
}

/** Longer than the headers of a request may be, though each parameter is allowed. */
const isLong = ({ path, query }: ParsedRow) =>
  path.length + query.reduce((length, { sent }) => length + sent.length + 1, 0) > 15_000;

/** What a key that is limited to some projects must not see. */
function strayFaults({ limited }: Target['keys'], { status, text }: Answer): string[] {
  if (!limited || status >= 300) return [];
  const seen = [...text.matchAll(/"project_id": ?"([^"]+)"/g)].map(([, id = '']) => id);
  return seen.every((id) => limited.projects.includes(id))
    ? []
    : [`${status} shows another project to a limited key`];
}
