import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { dependencies } from '../src/api/affected.ts';
import type { Subject } from '../src/api/event-types.ts';

/** What the first part of a path of the API reads. */
const subjects: Readonly<Record<string, Subject>> = {
  risks: 'risk',
  issues: 'issue',
  tasks: 'task',
  projects: 'project',
  personnel: 'person',
  groups: 'group',
  reports: 'report',
  keys: 'key',
  access: 'access',
  sessions: 'session',
  'risk-model': 'risk_model',
  categories: 'category',
  organization: 'organization',
};

/** The first parts of the keys of all queries, each with a subject that its query reads. */
const reads = globSync('**/*.{ts,tsx}', { cwd: join(import.meta.dirname, '../src') }).flatMap((file) => {
  const source = readFileSync(join(import.meta.dirname, '../src', file), 'utf8');
  return source.split(/(?=(?:queryKey: |\buse[A-Z]\w*\(\s*)\[\s*')/).flatMap((query) => {
    const key = query.match(/^[^[]*\[\s*'([^']+)'/)?.[1] ?? '';
    const body = query.slice(0, query.search(/\n\}\n|\n *\);\n\n/));
    return [...body.matchAll(/api\.GET\('\/v1\/([\w-]+)/g)].flatMap(([, area = '']) =>
      key && subjects[area] ? [{ file, key, subject: subjects[area] }] : [],
    );
  });
});

test('a query is read again after the events of what it reads', () => {
  const outdated = reads.filter(({ key, subject }) => dependencies[key]?.includes(subject) === false);
  assert.deepEqual(outdated, []);
  for (const key of ['reports', 'personnel', 'risks', 'issues', 'tasks', 'groups', 'categories'])
    assert.ok(reads.some((one) => one.key === key));
});
