import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { onSqlite, type TestService, withKey } from '../../test/service.ts';

const folder = join(import.meta.dirname, '../../test/samples');

/** A file in the format of another tool, and what an import without `map` makes of it. */
type Sample = {
  file: string;
  as: 'personnel' | 'risks' | 'issues' | 'tasks' | 'imports/risks' | 'imports/issues';
  query?: string;
  status: number;
  preset?: string | null;
  date_order?: string | null;
  /** The lines of rows that are wrong, and of rows that are odd, with the codes. */
  failed?: [number, string][];
  warnings?: [number, string][];
  unknown_columns?: string[];
  rows?: Record<string, unknown>[];
  /** For a file that is not imported. */
  detail?: string;
};

const samples: Sample[] = JSON.parse(readFileSync(join(folder, 'samples.json'), 'utf8'));

const people = ['Ada Lovelace', 'Grace Hopper', 'Alan Turing', 'Katherine Johnson'];

const compared = {
  personnel:
    'name email title department location phone time_zone kind status start_on end_on manager external_id',
  risks:
    'title description category probability impact status strategy response_plan owner_name raised_on due_on review_on external_id closure_reason project_key',
  issues:
    'title description severity priority status resolution resolution_note owner_name assignee_name raised_by raised_on due_on source_url external_id project_key',
  tasks: 'title description status assignee_name start_on due_on external_id',
};

onSqlite('files of other tools', (start) => {
  test('are imported without help', async (t) => {
    const { service, key } = await withKey(start(t));
    for (const name of people) {
      const email = `${name.split(' ')[0]?.toLowerCase()}@example.com`;
      await service.make('/v1/personnel', key, { name, email });
    }
    await service.make('/v1/groups', key, { name: 'Platform' });
    for (const [i, sample] of samples.entries()) {
      await t.test(`${sample.file} as ${sample.as}`, async () => {
        assert.deepEqual(await importSample(service, key, sample, `S${i}`), sample);
      });
    }
  });
});

test('at least 40 samples exist, and at least 36 are imported with at most the rows failing that are wrong', () => {
  assert.ok(new Set(samples.map(({ file }) => file)).size >= 40);
  assert.ok(samples.filter(({ status, rows = [] }) => status === 200 && rows.length > 0).length >= 36);
});

async function importSample(service: TestService, key: string, { file, as, query }: Sample, project: string) {
  const isWorkbook = file.endsWith('.xlsx');
  const type = isWorkbook ? 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet' : 'text/csv';
  const isAcross = as.startsWith('imports/');
  const collection = as === 'personnel' ? '/v1/personnel' : `/v1/projects/${project}/${as}`;
  if (as !== 'personnel' && !isAcross)
    await service.make('/v1/projects', key, { name: project, key: project });
  const path = `${isAcross ? `/v1/${as}` : `${collection}/import`}?${query ?? ''}`;
  const content = readFileSync(join(folder, file));
  const { status, body } = await service.upload(path, key, content, type);
  const sent = { file, as, ...(query !== undefined && { query }), status };
  if (status !== 200) return { ...sent, detail: body.detail };
  const { summary, results } = body;
  return {
    ...sent,
    preset: summary.preset,
    date_order: summary.date_order,
    failed: linesWith(results, 'errors'),
    warnings: linesWith(results, 'warnings'),
    unknown_columns: Object.keys(summary.unknown_columns),
    rows: await importedRows(service, key, as, isAcross ? '' : collection, body),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: response bodies are untyped in tests
type Any = any;

const linesWith = (results: Any[], member: 'errors' | 'warnings') =>
  results.flatMap(({ line, [member]: found = [] }) => found.map(({ code }: Any) => [line, code]));

/** The fields of the created resources that are not empty, in the order of the file. */
async function importedRows(
  service: TestService,
  key: string,
  as: string,
  collection: string,
  { summary, results }: Any,
) {
  const noun = as.split('/').at(-1) as keyof typeof compared;
  const all: Any[] = await service.list('/v1/personnel', key);
  const names = new Map(all.map(({ user_id, name }) => [user_id, name]));
  const rows = [];
  for (const { id, key: itemKey } of results.filter((result: Any) => result.id)) {
    const path = collection === '' ? `/v1/projects/${itemKey.split('-')[0]}/${noun}` : collection;
    const { body } = await service.get(`${path}/${id}`, key);
    const row = {
      ...body,
      manager: names.get(body.manager_user_id),
      raised_by: names.get(body.raised_by_user_id),
    };
    const hasRaised = Object.values(summary.columns).includes('raised_on');
    const isShown = (field: string) =>
      row[field] != null &&
      (field !== 'raised_on' || hasRaised) &&
      (field !== 'project_key' || collection === '');
    const shown = compared[noun].split(' ').filter(isShown);
    rows.push(Object.fromEntries(shown.map((field) => [field, row[field]])));
  }
  return rows;
}
