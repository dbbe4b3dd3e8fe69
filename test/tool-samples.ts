import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { momentOf } from '../src/core/clock.ts';
import { readCsv } from '../src/formats/csv.ts';
import { xlsxType } from '../src/formats/xlsx-write.ts';
import { type Start, type TestService, withKey } from './service.ts';
import { workbook } from './workbook.ts';

// biome-ignore lint/suspicious/noExplicitAny: response bodies are untyped in tests
type Any = any;

/** A value, or one of several that are right. */
type Expected = string | number | null | { any: (string | number | null)[] };

/** A file to import, and how. */
export type SampleFile = { file: string; as: string; query?: string; answer?: string };

/**
 * A file as a tool exports it, and what a person who knows the tool expects of an import. The rows were written from the
 * documentation of the tool, not from results.
 */
export type ToolSample = SampleFile & {
  tool: string;
  /** The codes of the question that the file must or may lead to. `answer` has the parameters that answer it. */
  must_ask?: string[];
  may_ask?: string[];
  /** Fields that are not compared. */
  ignore?: string[];
  rows: ToolRow[];
};

/** The fields of a row that have a value. Every other field must be empty or have its default. */
type ToolRow = { [field: string]: Expected | boolean | string[] | undefined } & {
  line: number;
  /** The line is no row: it must not create anything. */
  absent?: true;
  /** The row must be an error. */
  fails?: true;
  /** The row may be an error, because the tool has a word there that Muster need not know. */
  may_fail?: true;
  /** Fields that the file says nothing about. They have any value, which a warning tells. */
  told?: string[];
};

const folder = join(import.meta.dirname, 'samples/tools');
export const toolSamples: ToolSample[] = JSON.parse(readFileSync(join(folder, 'tools.json'), 'utf8'));
export const readToolSample = ({ file }: SampleFile) => readFileSync(join(folder, file));

/** The people in the roster to whom the files assign items. */
const roster = [
  'Nora Feldmann',
  'Tomas Ilves',
  'Priya Raman',
  'Chidi Okeke',
  'Marta Kowalczyk',
  'Bram van den Berg',
];

/** Starts a service with the people and the group that the samples need. Its clock stands still: leavers stay leavers. */
export async function startForSamples(start: Start, t: Parameters<Start>[0]) {
  const clock = () => momentOf(new Date('2026-06-01T12:00:00Z'));
  const { service, key } = await withKey(start(t, { clock }));
  for (const name of roster) {
    const [first = '', ...last] = name.toLowerCase().split(' ');
    await service.make('/v1/personnel', key, { name, email: `${first}.${last.join('')}@example.com` });
  }
  await service.make('/v1/groups', key, { name: 'Platform' });
  return { service, key };
}

/** The path of an import, into a project that this creates if the file needs one. */
export async function createTarget(service: TestService, key: string, { as }: SampleFile, project: string) {
  if (as === 'personnel') return '/v1/personnel/import';
  if (as.startsWith('imports/')) return `/v1/${as}`;
  await service.make('/v1/projects', key, { name: project, key: project });
  return `/v1/projects/${project}/${as}/import`;
}

/** Imports a sample, with the answer to its question. */
export function importSample(
  service: TestService,
  key: string,
  path: string,
  { file, query, answer }: SampleFile,
  content: string | Uint8Array,
  more: { type?: string; parameter?: string } = {},
) {
  const { type = file.endsWith('.xlsx') ? xlsxType : 'text/csv', parameter } = more;
  return service.upload(
    `${path}?${[query, answer, parameter].filter(Boolean).join('&')}`,
    key,
    content,
    type,
  );
}

const comparedFields: Record<string, string> = {
  personnel:
    'name email title department location phone time_zone kind status start_on end_on manager external_id',
  risks: `title description category probability impact residual_probability residual_impact status strategy
    response_plan contingency_plan owner_name raised_by raised_on due_on review_on external_id project_key`,
  issues: `title description severity priority status resolution resolution_note owner_name assignee_name raised_by
    raised_on due_on source_url external_id project_key`,
  tasks: 'title description status assignee_name start_on due_on external_id',
};
const nounOf = ({ as }: SampleFile) => as.split('/').at(-1) ?? '';
const fieldsOf = (sample: SampleFile) => (comparedFields[nounOf(sample)] ?? '').split(/\s+/);

/** The fields of the rows that an import created, by line. */
export async function readCreated(service: TestService, key: string, sample: SampleFile, results: Any[]) {
  const people: Any[] = await service.list('/v1/personnel', key);
  const names = new Map(people.map(({ user_id, name }) => [user_id, name]));
  const noun = nounOf(sample);
  const list = noun === 'issues' ? 'issues/all' : noun;
  const all: Any[] =
    noun === 'personnel' ? people : await service.list(`/v1/${list}?status=all&limit=1000`, key);
  const byId = new Map(all.map((row) => [row.user_id ?? row.id, row]));
  return new Map<number, Any>(
    results
      .filter(({ id }) => id)
      .map(({ line, id }) => {
        const row = byId.get(id);
        const named = {
          ...row,
          manager: names.get(row.manager_user_id),
          raised_by: names.get(row.raised_by_user_id),
        };
        return [line, Object.fromEntries(fieldsOf(sample).map((field) => [field, named[field] ?? null]))];
      }),
  );
}

/** Values of fields that a file need not have. */
const defaults: Record<string, Expected> = { severity: 'medium', priority: 'normal' };

/** Differences between what a sample expects and what an import of it created: `line field: expected …, got …`. */
export async function findDifferences(
  service: TestService,
  key: string,
  sample: ToolSample,
  { status, body }: { status: number; body: Any },
): Promise<string[]> {
  if (status !== 200) return [`0 file: refused, ${body.detail}`];
  const results = new Map<number, Any>(body.results.map((result: Any) => [result.line, result]));
  const created = await readCreated(service, key, sample, body.results);
  const differences: string[] = [];
  for (const row of sample.rows) {
    const { line } = row;
    const found = created.get(line);
    const result = results.get(line);
    created.delete(line);
    if (row.absent || row.fails) {
      if (found) differences.push(`${line} row: expected none, got ${found.title ?? found.name}`);
    } else if (found) {
      differences.push(...compareRow(sample, row, found, result));
    } else if (!row.may_fail || !result) {
      const why = result?.errors.map(({ column, detail }: Any) => `${column}: ${detail}`).join(' ');
      differences.push(`${line} row: refused, ${why}`);
    }
  }
  return [...differences, ...[...created.keys()].map((line) => `${line} row: expected none`)];
}

function compareRow(sample: ToolSample, row: ToolRow, found: Any, { warnings = [] }: Any): string[] {
  const isTold = (field: string) => warnings.some(({ pointer }: Any) => pointer === `#/${field}`);
  return fieldsOf(sample).flatMap((field) => {
    const got = JSON.stringify(found[field]);
    if (row.told?.includes(field))
      return found[field] === null || isTold(field) ? [] : [`${row.line} ${field}: not told, got ${got}`];
    // Without a date in the file, a row is raised today. Only a file for several projects names the project.
    const isOpen = (field === 'raised_on' || field === 'project_key') && row[field] === undefined;
    if (isOpen || sample.ignore?.includes(field)) return [];
    const expected = (row[field] ?? defaults[field] ?? null) as Expected;
    const isRight =
      expected !== null && typeof expected === 'object'
        ? expected.any.includes(found[field])
        : expected === found[field];
    return isRight ? [] : [`${row.line} ${field}: expected ${JSON.stringify(expected)}, got ${got}`];
  });
}

/** The rows of a CSV file whose first line has the names of its columns, as NDJSON and as a workbook. */
export async function convert(content: Buffer): Promise<{ ndjson: string; xlsx: Buffer }> {
  const [header, ...rows] = [...readCsv(content)].flat();
  const names = header?.names ?? [];
  // Of several columns with a name, the first counts.
  const object = (cells: readonly unknown[]) =>
    Object.fromEntries([...names.entries()].reverse().map(([i, name]) => [name, cells[i] ?? '']));
  return {
    ndjson: rows.map(({ cells }) => JSON.stringify(object(cells))).join('\n'),
    xlsx: await workbook([names, ...rows.map(({ cells }) => cells)]),
  };
}
