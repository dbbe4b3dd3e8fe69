import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
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

/** Objects may have additional members; lists may have additional items at the end. */
function assertContains(actual: unknown, expected: unknown, path: string): void {
  const isLeaf = typeof expected !== 'object' || expected === null || Object.keys(expected).length === 0;
  if (isLeaf) assert.deepEqual(actual, expected, path);
  for (const [name, member] of isLeaf ? [] : Object.entries(expected)) {
    assertContains((actual as Record<string, unknown>)?.[name], member, `${path} ${name}`);
  }
}
