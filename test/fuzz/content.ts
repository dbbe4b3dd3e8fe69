import { errorOf, type Operation, toResponseSchema } from './document.ts';
import type { Draft } from './draft.ts';
import { isWorkbook, type ServiceResponse } from './send.ts';
import type { Schema } from './values.ts';

/** Checks the body of a response against its schema, in each format. */
export function checkContent(
  operation: Operation | undefined,
  origin: string,
  draft: Draft,
  response: ServiceResponse,
): (string | undefined)[] {
  const { status, headers, text, json } = response;
  const type = (headers['content-type'] ?? '').split(';')[0] ?? '';
  if (draft.method === 'HEAD' || status === 304 || status === 204) {
    return [text === '' ? undefined : `${status} ${draft.method} with a body`];
  }
  if (status >= 400) return problemErrors(origin, draft, response, type);
  const content = operation?.responses[status]?.content;
  if (!content)
    return operation?.responses[status] && text === '' ? [] : [`${status} has an undocumented body`];
  const schema = content[type]?.schema;
  if (!schema) return [`${status} as ${type}, which is not documented`];
  if (type === 'application/json') {
    if (json === undefined) return ['not JSON'];
    const error = errorOf(toResponseSchema(schema), json);
    return [error && `${status} does not match its schema: ${error}`];
  }
  const row = (content['application/json']?.schema?.properties?.data as Schema | undefined)?.items;
  if (type === 'application/x-ndjson' && row) return [ndjsonError(text, toResponseSchema(row))];
  if (type === 'text/csv' && row) return [csvError(text, row)];
  if (isWorkbook(headers)) return [text.startsWith('PK') ? undefined : 'not a workbook'];
  return [];
}

function problemErrors(
  origin: string,
  { path, method }: Draft,
  { status, json }: ServiceResponse,
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
      : `the problem's status is ${problem.status} in a response with status ${status}`,
    problem.type === `${origin}/problems/${code}` ? undefined : `the problem's type is ${problem.type}`,
    typeof request_id === 'string' && request_id !== ''
      ? undefined
      : `${status} ${code} without a request_id`,
    typeof detail === 'string' && detail.length > 10 ? undefined : 'the problem has no detail',
    !isRouted || instance === path.split('?')[0] || /[#]|^http|^\*/.test(path)
      ? undefined
      : `instance is ${instance}`,
    /node_modules|SQLITE_|\n +at /.test(String(detail)) ? 'the detail exposes internals' : undefined,
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

function ndjsonError(text: string, row: Schema): string | undefined {
  if (text !== '' && !text.endsWith('\n')) return 'the last line does not end';
  for (const line of text.split('\n').slice(0, -1)) {
    const error = errorOf(row, JSON.parse(line));
    if (error) return `a line does not match the schema of a row: ${error}`;
  }
  return undefined;
}

function csvError(text: string, { properties = {}, required = [] }: Schema): string | undefined {
  const [header = [], ...rows] = parseCsv(text);
  // Optional columns are in the header only when the request selects them.
  const named = Object.keys(properties).filter((name) => required.includes(name) || header.includes(name));
  if (header.join() !== named.join()) return `the header row is ${header}`;
  const uneven = rows.find((row) => row.length !== header.length);
  if (uneven) return `a row has ${uneven.length} cells instead of ${header.length}`;
  const formula = rows.flat().find((cell) => /^[=+@\t\r]/.test(cell));
  return formula === undefined ? undefined : `a cell is a formula: ${formula}`;
}

/** A strict RFC 4180 parser. */
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
