import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onSqlite } from '../../test/service.ts';
import {
  createTarget,
  findDifferences,
  importSample,
  readToolSample,
  startForSamples,
  toolSamples,
} from '../../test/tool-samples.ts';

onSqlite('exports of tools', (start) => {
  test('have the values that their tools document, or lead to a question', async (t) => {
    const { service, key } = await startForSamples(start, t);
    for (const [i, sample] of toolSamples.entries()) {
      const { file, must_ask, may_ask, answer } = sample;
      await t.test(`${file} of ${sample.tool} as ${sample.as}`, async () => {
        const path = await createTarget(service, key, sample, `T${i}`);
        const content = readToolSample(sample);
        if (answer) {
          const { answer: _, ...unanswered } = sample;
          const { status, body } = await importSample(service, key, path, unanswered, content, {
            parameter: 'dry_run=true',
          });
          assert.ok(status === 422 || !must_ask, 'It must lead to a question.');
          if (status === 422) {
            const codes: string[] = body.errors.map(({ code }: { code: string }) => code);
            assert.ok(
              codes.every((code) => (must_ask ?? may_ask)?.includes(code)),
              body.detail,
            );
          }
        }
        const response = await importSample(service, key, path, sample, content);
        assert.deepEqual(await findDifferences(service, key, sample, response), []);
      });
    }
  });
});

test('at least 30 files exist, each with at least 8 rows', () => {
  assert.ok(toolSamples.length >= 30);
  for (const { file, rows } of toolSamples) assert.ok(rows.length >= 8, file);
});
