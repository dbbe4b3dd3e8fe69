import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { anchorOf } from './markdown.ts';
import { onBothEngines } from './service.ts';

type Example = {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
  status: number;
  expected: unknown;
};

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

/** Parses the example requests of a document and their expected responses. */
function parseExamples(document: string): Example[] {
  const text = readFileSync(new URL(`../${document}`, import.meta.url), 'utf8');
  return [
    ...text.matchAll(/```http\n([A-Z]+) (\S+)\n(?:(Content-Type): (.*)\n\n)?([^→]*)→ (\d+) ?(.*)\n```/g),
  ].map(([, method = '', path = '', header = '', type = '', body = '', status, expected]) => ({
    method,
    path,
    headers: header === '' ? {} : { [header.toLowerCase()]: type },
    body: body.trim() === '' ? undefined : body.replace(/<in (\d+) days>/, (_, days) => inDays(Number(days))),
    status: Number(status),
    expected: JSON.parse(expected || '{}'),
  }));
}

onBothEngines('the examples of docs/api.md', (start) => {
  test('return the documented responses', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const examples = parseExamples('docs/api.md');
    assert.ok(examples.length >= 12);
    for (const { method, path, headers, body, status, expected } of examples) {
      const response = await service.call(method, path, key, body, headers);
      assert.equal(response.status, status, `${method} ${path}: ${response.text}`);
      assertContains(response.body, expected, `${method} ${path}`);
    }
  });
});

const guide = readFileSync(new URL('../docs/api.md', import.meta.url), 'utf8');

test('the contents of docs/api.md link to every heading, in its order', () => {
  const [, contents = '', body = ''] = /^## Contents\n([\s\S]*?)\n## ([\s\S]*)/m.exec(guide) ?? [];
  const headings = `## ${body}`.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^##+ (.+)$/gm);
  const links = contents.matchAll(/\[([^\]]+)\]\(#([^)]+)\)/g);
  assert.deepEqual(
    [...links].map(([, title, anchor]) => ({ title, anchor })),
    [...headings].map(([, title = '']) => ({ title, anchor: anchorOf(title) })),
  );
});

test('the table in docs/api.md names the scope of every operation', () => {
  const rows = [...guide.matchAll(/^\| [^|]+ \| (`\/[^|]+`) \| ([^|]*?) ?\| ([^|]*?) ?\|$/gm)].flatMap(
    ([, paths = '', read = '', write = '']) =>
      paths.split(', ').map((path) => ({ path: path.slice(1, -1), read, write })),
  );
  const { paths } = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8')) as {
    paths: Record<string, Record<string, { security: { key?: string[] }[] }>>;
  };
  const declared = rows.map(({ path }) => ({ path, read: new Set<string>(), write: new Set<string>() }));
  for (const [path, operations] of Object.entries(paths)) {
    const row = declared
      .filter((candidate) => covers(candidate.path, path))
      .sort((a, b) => b.path.length - a.path.length)[0];
    assert.ok(row, `${path} is in no row of the table “action, path” in docs/api.md. Add it.`);
    for (const [method, { security }] of Object.entries(operations)) {
      const [needed] = security;
      const scope = !needed
        ? 'no key'
        : !needed.key
          ? 'a person'
          : needed.key[0]
            ? `\`${needed.key[0]}\``
            : 'any key';
      row[method === 'get' ? 'read' : 'write'].add(scope);
    }
  }
  assert.deepEqual(
    rows,
    declared.map(({ path, read, write }) => ({ path, read: [...read].join(), write: [...write].join() })),
  );
});

/** `/v1/keys…` stands for `/v1/keys` and everything below it. */
const covers = (pattern: string, path: string) =>
  pattern.endsWith('…') ? `${path}/`.startsWith(`${pattern.slice(0, -1)}/`) : path === pattern;

/** Objects may have additional members; lists may have additional items at the end. */
function assertContains(actual: unknown, expected: unknown, path: string): void {
  const isLeaf = typeof expected !== 'object' || expected === null || Object.keys(expected).length === 0;
  if (isLeaf) assert.deepEqual(actual, expected, path);
  for (const [name, member] of isLeaf ? [] : Object.entries(expected)) {
    assertContains((actual as Record<string, unknown>)?.[name], member, `${path} ${name}`);
  }
}
