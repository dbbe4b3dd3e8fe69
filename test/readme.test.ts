import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

test('every npm script in the documents exists', () => {
  for (const document of [
    'README.md',
    'CONTRIBUTING.md',
    'docs/api.md',
    'docs/operations.md',
    'docs/roster.md',
    'docs/import.md',
  ]) {
    const named = [...read(document).matchAll(/npm (?:run (?:-s )?([a-z:]+)|(start|test)\b)/g)];
    for (const [, script, short] of named)
      assert.ok((script ?? short ?? '') in scripts, `${document}: ${script}`);
  }
});

test('CI runs the test command of the README', () => {
  const command = 'npm ci && npm test';
  assert.ok(read('README.md').includes(`\`\`\`sh\n${command}\n\`\`\``));
  assert.ok(read('.ci/run').trimEnd().endsWith(`\n${command}`));
});

test('every link between the documents points to a file', () => {
  for (const document of [
    'README.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'docs/api.md',
    'docs/operations.md',
    'docs/roster.md',
    'docs/import.md',
  ]) {
    const folder = document.includes('/') ? 'docs/' : '';
    for (const [, target = ''] of read(document).matchAll(/\]\(([^)#]+)\)/g))
      assert.ok(read(folder + target));
  }
});
