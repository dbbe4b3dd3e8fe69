import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { anchorOf } from './markdown.ts';

const root = join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const documents = globSync('{*,bench/*,deploy/*,docs/*}.md', { cwd: root });
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

test('every npm script in the documents exists', () => {
  assert.ok(documents.length >= 10);
  for (const document of documents) {
    const named = [...read(document).matchAll(/npm (?:run (?:-s )?([a-z]+(?:[:-][a-z]+)*)|(start|test)\b)/g)];
    for (const [, script, short] of named)
      assert.ok((script ?? short ?? '') in scripts, `${document}: ${script}`);
  }
});

test('CI runs the test command of the README, then the long tests and what generates, describes and measures', () => {
  const command = 'npm ci && npm test';
  assert.ok(read('README.md').includes(`\`\`\`sh\n${command}\n\`\`\``));
  assert.ok(read('.ci/run').includes(`\n${command}\nnpm run test:long\n`));
  assert.match(read('.github/workflows/ci.yml'), /- run: bash \.ci\/run\n$/);
});

test('every link between the documents points to a file, and to a heading in it', () => {
  for (const document of documents) {
    for (const [, target = '', anchor] of read(document).matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)/g)) {
      const file = target === '' ? document : join(dirname(document), target);
      assert.ok(existsSync(join(root, file)), `${document}: ${target}`);
      if (anchor) assert.ok(anchorsOf(file).includes(anchor), `${document}: ${target}#${anchor}`);
    }
  }
});

const anchorsOf = (document: string) =>
  [...read(document).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));

test('the README has at most 700 words', () => {
  const words = read('README.md')
    .split(/\s+/)
    .filter((word) => /\w/.test(word));
  assert.ok(words.length <= 700, `${words.length} words`);
});

test('files and images in the documents and examples have the version of this package', () => {
  const { version } = JSON.parse(read('package.json'));
  const named = globSync('{docs,deploy}/**/*.{md,yaml}', { cwd: root }).flatMap((file) =>
    [...read(file).matchAll(/muster(?:-ops)?[-:](\d+\.\d+\.\d+)/g)].map(([, found]) => `${file}: ${found}`),
  );
  assert.ok(named.length >= 6);
  for (const found of named) assert.ok(found.endsWith(`: ${version}`), found);
});
