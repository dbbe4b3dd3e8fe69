import assert from 'node:assert/strict';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseSync } from 'vite';

const root = join(import.meta.dirname, '..');
const list = join(import.meta.dirname, 'labels.txt');

type Node = { type: string; start: number; end: number } & Record<string, unknown>;

/** Parts of the syntax tree whose texts no user reads: paths of modules, keys of objects. */
const skipped: Record<string, readonly string[]> = {
  ImportDeclaration: ['source'],
  ImportExpression: ['source'],
  ExportNamedDeclaration: ['source'],
  Property: ['key'],
  MemberExpression: ['property'],
};
const codeAttributes = /^(class|id$|type|href|kind|role|key|icon|placement|slot|rel|d$|viewBox|html|style)/i;

/** The texts between tags, and literals that start like a label or have several words. */
function textsOf(node: unknown, source: string): string[] {
  if (Array.isArray(node)) return node.flatMap((one) => textsOf(one, source));
  if (!isNode(node) || (node.type.startsWith('TS') && !('expression' in node))) return [];
  const name = isNode(node.name) ? String(node.name.name) : '';
  if (node.type === 'JSXAttribute' && codeAttributes.test(name)) return [];
  // The names of components that load later.
  if (isNode(node.callee) && /^lazy/.test(String(node.callee.name))) return [];
  const inside = Object.entries(node)
    .filter(([part]) => !skipped[node.type]?.includes(part))
    .flatMap(([, child]) => textsOf(child, source));
  if (Array.isArray(node.children)) return [contentOf(node.children as Node[]), ...inside].filter(Boolean);
  if (node.type === 'TemplateLiteral')
    return [...literal(source.slice(node.start + 1, node.end - 1)), ...inside];
  return node.type === 'Literal' && typeof node.value === 'string' ? literal(node.value) : inside;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value;

/** The text of an element, with `…` in place of what is inserted into it. */
function contentOf(children: readonly Node[]): string {
  const parts = children.map(({ type, value }) => (type === 'JSXText' ? String(value) : '…'));
  const text = parts.join('').trim().replace(/\s+/g, ' ');
  return hasLetter.test(text) ? text : '';
}

const hasLetter = /\p{L}/u;

function literal(text: string): string[] {
  const fixed = text.replace(/\$\{[^}]*\}+/g, '…');
  const isText = /^\P{L}*\p{Lu}/u.test(fixed) || /[\p{L}…]\W*\s+\W*[\p{L}…]/u.test(fixed);
  return isText && hasLetter.test(fixed) && !isCode(fixed) ? [text] : [];
}

/** Names of keys and methods, selectors, styles, paths, shapes and times. */
const isCode = (text: string) =>
  /^\s*(\W+|[A-Z]+|[A-Z]\d*|Arrow\w+|[A-Z]\S*\*?[$/\\]\S*)\s*$/.test(text) ||
  /[#[\]{}|]|\S=\S|^[(/]|^\.\w|::|--\w+-|rem\)|^\S*\w\/\w\S*$|[LH]…|T\d\d:|^(a|input|tbody|[a-z]+-[a-z]+)[, ]/.test(
    text,
  );

/** What the console can show, in the order of its files. */
function labels(): string[] {
  const files = globSync('src/**/*.{ts,tsx}', { cwd: root }).filter(
    (file) => !['src/api/openapi.ts', 'src/components/icon.tsx', 'src/design/samples.tsx'].includes(file),
  );
  return files.sort().flatMap((file) => {
    const source = readFileSync(join(root, file), 'utf8');
    const texts = textsOf(parseSync(file, source).program, source).map((text) =>
      text.replace(/\s+/g, ' ').trim(),
    );
    return texts.length > 0 ? [`# ${file}`, ...new Set(texts.toSorted()), ''] : [];
  });
}

test('the wording of the console is the reviewed one', () => {
  const text = labels().join('\n');
  // Run this file as a script to accept new wording: node web/tests/labels.test.ts --write
  if (process.argv.includes('--write')) writeFileSync(list, text);
  assert.deepEqual(text.split('\n'), readFileSync(list, 'utf8').split('\n'));
});
