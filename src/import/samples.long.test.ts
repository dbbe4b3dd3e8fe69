import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { onSqlite, type Start } from '../../test/service.ts';
import {
  convert,
  createTarget,
  importSample,
  readCreated,
  readToolSample,
  type SampleFile,
  startForSamples,
  toolSamples,
} from '../../test/tool-samples.ts';
import { xlsxType } from '../formats/xlsx-write.ts';

const folder = join(import.meta.dirname, '../../test/samples');
const otherSamples: (SampleFile & { status: number })[] = JSON.parse(
  readFileSync(join(folder, 'samples.json'), 'utf8'),
);
const collections = {
  'exports of tools': toolSamples.map((sample) => ({ sample, read: () => readToolSample(sample) })),
  'other samples': otherSamples
    .filter(({ status }) => status === 200)
    .map((sample) => ({ sample, read: () => readFileSync(join(folder, sample.file)) })),
};

// biome-ignore lint/suspicious/noExplicitAny: response bodies are untyped in tests
type Any = any;

const linesThat = (results: Any[], ...statuses: string[]) =>
  results.filter(({ status }) => statuses.includes(status)).map(({ line }) => line);

async function startForAll(start: Start, t: Parameters<Start>[0]) {
  const started = await startForSamples(start, t);
  for (const name of ['Ada Lovelace', 'Grace Hopper', 'Alan Turing', 'Katherine Johnson']) {
    const email = `${name.split(' ')[0]?.toLowerCase()}@example.com`;
    await started.service.make('/v1/personnel', started.key, { name, email });
  }
  return started;
}

for (const [name, samples] of Object.entries(collections)) {
  onSqlite(name, (start) => {
    test('change nothing when they are imported again with mode=upsert', async (t) => {
      const { service, key } = await startForAll(start, t);
      let tried = 0;
      for (const [i, { sample, read }] of samples.entries()) {
        await t.test(`${sample.file} as ${sample.as}`, async () => {
          const path = await createTarget(service, key, sample, `T${i}`);
          const first = await importSample(service, key, path, sample, read());
          assert.equal(first.status, 200, first.text);
          const created = [...(await readCreated(service, key, sample, first.body.results)).values()];
          // Rows without an identifier cannot be found again.
          if (!created.every(({ external_id, email }) => external_id ?? email)) return;
          tried += created.length;
          const parameter = 'mode=upsert';
          const { body } = await importSample(service, key, path, sample, read(), { parameter });
          assert.deepEqual(linesThat(body.results, 'created', 'updated'), []);
          assert.deepEqual(linesThat(body.results, 'failed'), linesThat(first.body.results, 'failed'));
        });
      }
      assert.ok(tried >= 100, `${tried} rows were imported again.`);
    });

    test('give the same rows as XLSX, and as NDJSON no others', async (t) => {
      const rowsOf = new Map<unknown, unknown[]>();
      for (const format of ['csv', 'xlsx', 'ndjson'] as const) {
        const { service, key } = await startForAll(start, t);
        for (const [i, { sample, read }] of samples.entries()) {
          // The other formats have no lines above the names, which the first pass looks for.
          if (sample.file.endsWith('.xlsx') || (format !== 'csv' && !rowsOf.has(sample))) continue;
          await t.test(`${sample.file} as ${sample.as}, ${format}`, async () => {
            const path = await createTarget(service, key, sample, `T${i}`);
            const content = format === 'csv' ? read() : (await convert(read()))[format];
            const type = { csv: 'text/csv', xlsx: xlsxType, ndjson: 'application/x-ndjson' }[format];
            const { status, text, body } = await importSample(service, key, path, sample, content, { type });
            // NDJSON is read exactly: names and texts that are not its own are errors.
            assert.ok(status === 200 || format === 'ndjson', text);
            const created = await readCreated(service, key, sample, body.results ?? []);
            if (format === 'xlsx') assert.deepEqual([...created.values()], rowsOf.get(sample));
            if (format === 'ndjson') {
              const expected = rowsOf.get(sample)?.map((row) => JSON.stringify(row));
              for (const row of created.values()) assert.ok(expected?.includes(JSON.stringify(row)), text);
            }
            if (format === 'csv' && body.summary.header_row === 1) rowsOf.set(sample, [...created.values()]);
          });
        }
      }
      assert.ok(rowsOf.size >= 25, `${rowsOf.size} samples are compared.`);
    });
  });
}
