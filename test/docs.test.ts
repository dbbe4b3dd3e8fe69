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
  answer: unknown;
};

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

/** The requests of a document, with what it says they are answered. */
function examplesOf(document: string): Example[] {
  const text = readFileSync(new URL(`../${document}`, import.meta.url), 'utf8');
  return [
    ...text.matchAll(/```http\n([A-Z]+) (\S+)\n(?:(Content-Type): (.*)\n\n)?([^→]*)→ (\d+) ?(.*)\n```/g),
  ].map(([, method = '', path = '', header = '', type = '', body = '', status, answer]) => ({
    method,
    path,
    headers: header === '' ? {} : { [header.toLowerCase()]: type },
    body: body.trim() === '' ? undefined : body.replace(/<in (\d+) days>/, (_, days) => inDays(Number(days))),
    status: Number(status),
    answer: JSON.parse(answer || '{}'),
  }));
}

onBothEngines('the examples of docs/api.md', (start) => {
  test('are answered as it says', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const examples = examplesOf('docs/api.md');
    assert.ok(examples.length >= 12);
    for (const { method, path, headers, body, status, answer } of examples) {
      const requestHistogram = await service.call(method, path, key, body, headers);
      assert.equal(requestHistogram.status, status, `${method} ${path}: ${requestHistogram.text}`);
      assertContains(requestHistogram.body, answer, `${method} ${path}`);
    }
  });
});

/** Objects may have more members than expected; lists may have more items behind those expected. */
function assertContains(actual: unknown, expected: unknown, where: string): void {
  const isWhole = typeof expected !== 'object' || expected === null || Object.keys(expected).length === 0;
  if (isWhole) assert.deepEqual(actual, expected, where);
  for (const [name, member] of isWhole ? [] : Object.entries(expected)) {
    assertContains((actual as Record<string, unknown>)?.[name], member, `${where} ${name}`);
  }
}
