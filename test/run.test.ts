import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from './process.ts';

test('a run with a failing test fails, and its last line lists the skipped tests', (t) => {
  const { status, stdout, place } = run(
    t,
    `test('fails', () => { throw new Error('no'); });
test('looks at a page', (t) => t.skip('no browser'));
test('looks at another', (t) => t.skip('no browser'));
test('is not there yet', { skip: true }, () => {});`,
  );
  assert.equal(status, 1);
  assert.match(stdout, /^ℹ fail 1$/m);
  assert.doesNotMatch(stdout, /passed when run again/);
  assert.equal(
    stdout.trimEnd().split('\n').at(-1),
    `Skipped: ${place} (no browser): looks at a page; looks at another · ${place} (no reason given): is not there yet`,
  );
});

test('a file that fails by chance is run again, and listed', (t) => {
  const { status, stdout, place } = run(
    t,
    `import { existsSync, writeFileSync } from 'node:fs';
const marker = import.meta.filename + '.run';
test('fails once', () => {
  if (existsSync(marker)) return;
  writeFileSync(marker, '');
  throw new Error('no');
});`,
  );
  assert.equal(status, 0);
  assert.match(stdout, /^ℹ fail 1$/m);
  assert.equal(stdout.trimEnd().split('\n').at(-1), `Failed at first, passed when run again: ${place}`);
});

test('a file that never ends fails, and the run ends', (t) => {
  const { status, stdout, place } = run(
    t,
    `import { setTimeout } from 'node:timers/promises';
test('waits', async () => { for (;;) await setTimeout(1); });`,
    { TEST_FILE_MINUTES: '0.02' },
  );
  assert.equal(status, 1);
  assert.ok(stdout.includes(`✖ ${place}`), stdout);
});

/** Runs a file with these tests as `npm test` does. */
function run(t: TestContext, tests: string, environment: Record<string, string> = {}) {
  const file = join(temporaryFolder(t), 'sample.test.ts');
  writeFileSync(file, `import { test } from 'node:test';\n${tests}\n`);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const runner = join(import.meta.dirname, 'run.ts');
  const { status, stdout } = spawnSync(process.execPath, [runner, file], {
    env: { ...env, ...environment },
    encoding: 'utf8',
  });
  return { status, stdout, place: relative(process.cwd(), file) };
}
