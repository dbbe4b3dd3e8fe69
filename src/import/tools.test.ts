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

/**
 * What imports of these files still get wrong: the lines and fields, by cause. `row` is a line that must not be a row, or a
 * row that is refused without need. A place that has become right fails the test: remove it.
 */
const knownWrong: Record<string, Record<string, string>> = {
  'azure-devops-bugs.csv': { '“Reason” says why a bug was closed.': '6 resolution, 7 resolution' },
  'zendesk.csv': {
    '“-” is no priority.': '2 row',
    '“Created at” is the day of the ticket.':
      '3 raised_on, 4 raised_on, 6 raised_on, 7 raised_on, 8 raised_on, 9 raised_on',
  },
  'ms-project-plan.csv': { 'A task that is not “Active” is not to be done.': '5 status' },
  'wrike.csv': { 'A title between slashes is a folder.': '2 row, 8 row' },
  'bamboohr-directory.csv': { '“Part-Time” is a person like others.': '5 row' },
  'rippling.csv': { '“Salaried, full-time” is a person like others.': '2 row, 3 row, 4 row, 7 row, 8 row' },
  'logicgate.csv': {
    '“Complete” is a record that has been filled in, not a risk that is closed.': '2 status, 9 status',
  },
};

/** The known places of a file, in the order of the text. */
const knownPlaces = (file: string) =>
  Object.values(knownWrong[file] ?? {})
    .flatMap((places) => places.split(', '))
    .sort();

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
        const differences = await findDifferences(service, key, sample, response);
        const places = differences.map((difference) => difference.split(':')[0]).sort();
        assert.deepEqual(places, knownPlaces(file), differences.join('\n'));
      });
    }
  });
});

test('at least 30 files exist, each with at least 8 rows', () => {
  assert.ok(toolSamples.length >= 30);
  for (const { file, rows } of toolSamples) assert.ok(rows.length >= 8, file);
});

test('what is known to be wrong names only files that exist', () => {
  const files = new Set(toolSamples.map(({ file }) => file));
  assert.deepEqual(
    Object.keys(knownWrong).filter((file) => !files.has(file)),
    [],
  );
});
