import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from './process.ts';

test('a run with a failing test fails', (t) => {
  const file = join(temporaryFolder(t), 'failing.test.ts');
  writeFileSync(
    file,
    "import { test } from 'node:test';\ntest('fails', () => { throw new Error('no'); });\n",
  );
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, 'run.ts'), file], { env });
  assert.equal(status, 1);
});
