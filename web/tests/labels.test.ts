import assert from 'node:assert/strict';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');
const list = join(import.meta.dirname, 'labels.txt');

/** Text between tags, literals that start like a label, and literals that contain a sentence. */
const patterns = [
  /(?<!=)>\s*([A-Z+*][^<>{}=;]*?)\s*[<{]/g,
  /(?<![\w.])(?:'([A-Z][^'\n]*)'|"([A-Z][^"\n]*)"|`([A-Z][^`\n]*)`)/g,
  /(?<![\w.])(?:'([^A-Z'\n][^'\n]* [^'\n]*\w\. ?)'|`([^A-Z`\n][^`\n]* [^`\n]*\w\. ?)`)/g,
];

/** Names of keys, methods and errors, which nobody reads. */
const isCode = (text: string) =>
  /^(\W+|[A-Z]+|[A-Z]\d*|Arrow\w+|[A-Z]\S*\*?[$/\\]\S*)$/.test(text) || /=>|&&|\?\./.test(text);

/** What the console can show, in the order of its files. */
function labels(): string[] {
  const files = globSync('src/**/*.{ts,tsx}', { cwd: root }).filter(
    (file) => !['src/api/openapi.ts', 'src/components/icon.tsx', 'src/design/samples.tsx'].includes(file),
  );
  return files.sort().flatMap((file) => {
    const source = readFileSync(join(root, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
    const found = patterns.flatMap((pattern) =>
      [...source.matchAll(pattern)].map((match) => match.slice(1).find((group) => group !== undefined) ?? ''),
    );
    const texts = found.map((text) => text.replace(/\s+/g, ' ').trim()).filter((text) => !isCode(text));
    return texts.length > 0 ? [`# ${file}`, ...new Set(texts.toSorted()), ''] : [];
  });
}

test('the wording of the console is the reviewed one', () => {
  const text = labels().join('\n');
  // Run this file as a script to accept new wording: node web/tests/labels.test.ts --write
  if (process.argv.includes('--write')) writeFileSync(list, text);
  assert.deepEqual(text.split('\n'), readFileSync(list, 'utf8').split('\n'));
});
