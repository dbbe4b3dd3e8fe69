import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from './process.ts';

test('a run with a failing test fails, and its last line lists the skipped tests', (t) => {
  const file = join(temporaryFolder(t), 'failing.test.ts');
  writeFileSync(
    file,
    `import { test } from 'node:test';
test('fails', () => { throw new Error('no'); });
test('looks at a page', (t) => t.skip('no browser'));
test('looks at another', (t) => t.skip('no browser'));
test('is not there yet', { skip: true }, () => {});
`,
  );
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { status, stdout } = spawnSync(process.execPath, [join(import.meta.dirname, 'run.ts'), file], {
    env,
    encoding: 'utf8',
  });
  assert.equal(status, 1);
  assert.match(stdout, /^ℹ fail 1$/m);
  const place = relative(process.cwd(), file);
  assert.equal(
    stdout.trimEnd().split('\n').at(-1),
    `Skipped: ${place} (no browser): looks at a page; looks at another · ${place} (no reason given): is not there yet`,
  );
});
