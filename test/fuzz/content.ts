import { errorOf, type Operation, responseErrorOf } from './document.ts';
import type { Draft } from './draft.ts';
import { isWorkbook, type ServiceResponse } from './send.ts';
import type { Schema } from './values.ts';

/** Checks the body of a response against its schema, in each format. */
export function checkContent(
  operation: Operation | undefined,
  origin: string,
  draft: Draft,
  response: ServiceResponse,
): string[] {
  const { status, headers, text, json } = response;
  const type = (headers['content-type'] ?? '').split(';')[0] ?? '';
  if (draft.method === 'HEAD' || status === 304 || status === 204)
    return violated([[text !== '', `${status} ${draft.method} with a body`]]);
  if (status >= 400) return problemErrors(origin, draft, response, type);
  const content = operation?.responses[status]?.content;
  if (!content)
    return operation?.responses[status] && text === '' ? [] : [`${status} has an undocumented body`];
  const schema = content[type]?.schema;
  if (!schema) return [`${status} as ${type}, which is not documented`];
  if (type === 'application/json') {
    if (json === undefined) return ['not JSON'];
    const error = responseErrorOf(schema, json);
    return error ? [`${status} does not match its schema: ${error}`] : [];
  }
  const row = (content['application/json']?.schema?.properties?.data as Schema | undefined)?.items;
  if (type === 'application/x-ndjson' && row) return ndjsonErrors(text, row);
  if (type === 'text/csv' && row) return csvErrors(text, row);
  if (isWorkbook(headers)) return violated([[!text.startsWith('PK'), 'not a workbook']]);
  return [];
}

function problemErrors(
  origin: string,
  { path }: Draft,
  { status, json }: ServiceResponse,
  type: string,
): string[] {
  if (type !== 'application/problem+json') return [`${status} as “${type}” instead of problem+json`];
  if (json === undefined) return [`${status} is not JSON`];
  const problem = json as Record<string, unknown>;
  const { code, request_id, instance, detail } = problem;
  const isTooLong = status === 431 || (status === 414 && instance === undefined);
  const hasInstance = !isTooLong && request_id !== undefined && !/[#]|^http|^\*/.test(path);
  const error = errorOf(problemSchema, json);
  return violated([
    [
      problem.status !== status,
      `the problem's status is ${problem.status} in a response with status ${status}`,
    ],
    [problem.type !== `${origin}/problems/${code}`, `the problem's type is ${problem.type}`],
    [/node_modules|SQLITE_|\n +at /.test(String(detail)), 'the detail exposes internals'],
    [hasInstance && instance !== path.split('?')[0], `instance is ${instance}`],
    [error, `not a problem: ${error}`],
  ]);
}

/** The messages of the rules that a response violates. */
export const violated = (rules: [isViolated: unknown, message: string][]) =>
  rules.filter(([isViolated]) => isViolated).map(([, message]) => message);

const problemSchema: Schema = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
  properties: {
    detail: { type: 'string', minLength: 11 },
    request_id: { type: 'string', minLength: 1 },
    errors: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['code', 'detail'],
        properties: {
          pointer: { type: 'string', pattern: '^#' },
          column: { type: 'string' },
          parameter: { type: 'string' },
          code: { type: 'string' },
          detail: { type: 'string' },
        },
        additionalProperties: false,
      },
    },
  },
};

function ndjsonErrors(text: string, row: Schema): string[] {
  if (text !== '' && !text.endsWith('\n')) return ['the last line does not end'];
  for (const line of text.split('\n').slice(0, -1)) {
    const error = responseErrorOf(row, JSON.parse(line));
    if (error) return [`a line does not match the schema of a row: ${error}`];
  }
  return [];
}

function csvErrors(text: string, { properties = {}, required = [] }: Schema): string[] {
  // `bom=true` adds a byte order mark.
  const [header = [], ...rows] = parseCsv(text.replace(/^\ufeff/, ''));
  // Optional columns are in the header only when the request selects them.
  const named = Object.keys(properties).filter((name) => required.includes(name) || header.includes(name));
  const uneven = rows.find((row) => row.length !== header.length);
  const formula = rows.flat().find((cell) => /^[=+@\t\r]/.test(cell));
  return violated([
    [header.join() !== named.join(), `the header row is ${header}`],
    [uneven, `a row has ${uneven?.length} cells instead of ${header.length}`],
    [formula !== undefined, `a cell is a formula: ${formula}`],
  ]);
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
