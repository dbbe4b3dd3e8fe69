import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { momentOf } from '../../src/core/clock.ts';
import { categoryList } from '../../src/resources/categories/queries.ts';
import { groupList } from '../../src/resources/groups/queries.ts';
import { issueList } from '../../src/resources/issues/queries.ts';
import { personnelList } from '../../src/resources/personnel/queries.ts';
import { riskList } from '../../src/resources/risks/register.ts';
import { taskList } from '../../src/resources/tasks/queries.ts';
import { dependencies } from '../src/api/affected.ts';
import type { Subject } from '../src/api/event-types.ts';

const moment = momentOf(new Date(0));

/** The subjects of the events that change a table. */
const subjectsOf: Readonly<Record<string, Subject>> = {
  risks: 'risk',
  risk_models: 'risk_model',
  issues: 'issue',
  tasks: 'task',
  projects: 'project',
  people: 'person',
  groups: 'group',
  memberships: 'group',
  categories: 'category',
};

/** What depends on the day is old after a change of the time zone. */
const listed = (reads: readonly string[], dependsOnDay: boolean): Subject[] => [
  ...reads.flatMap((table) => subjectsOf[table] ?? assert.fail(`No events change ${table}.`)),
  ...(dependsOnDay ? ['organization' as const] : []),
];

const people = listed(personnelList({}, moment).reads, true);

/** A part of a path of the API, and the subjects of the events that change what it returns. */
const areas: Readonly<Record<string, readonly Subject[]>> = {
  risks: listed(riskList({ filters: {}, moment }, 'rank').reads, true),
  issues: listed(issueList({}, moment).reads, true),
  tasks: listed(taskList({}, moment).reads, true),
  personnel: people,
  members: people,
  groups: listed(groupList({}).reads, false),
  categories: listed(categoryList({}).reads, false),
  projects: ['project'],
  reports: ['report'],
  keys: ['key'],
  access: ['access'],
  sessions: ['session'],
  'risk-model': ['risk_model'],
  organization: ['organization'],
};

/** The first parts of the keys of all queries, each with the path that its query reads. */
const reads = globSync('**/*.{ts,tsx}', { cwd: join(import.meta.dirname, '../src') }).flatMap((file) => {
  const source = readFileSync(join(import.meta.dirname, '../src', file), 'utf8');
  return source.split(/(?=(?:queryKey: |\buse[A-Z]\w*\(\s*)\[\s*')/).flatMap((query) => {
    const key = query.match(/^[^[]*\[\s*'([^']+)'/)?.[1] ?? '';
    const body = query.slice(0, query.search(/\n\}\n|\n *\);\n\n/));
    return [...body.matchAll(/api\.GET\('\/v1\/([^']+)/g)].flatMap(([, path = '']) => {
      const area = path.split('/').findLast((part) => areas[part]);
      return key && area ? [{ file, key, area }] : [];
    });
  });
});

test('a query is read again after every event that changes what it reads', () => {
  const missing = reads.flatMap(({ key, area, ...query }) =>
    (areas[area] ?? [])
      .filter((subject) => dependencies[key]?.includes(subject) === false)
      .map((subject) => ({ ...query, key, subject })),
  );
  assert.deepEqual(missing, []);
  for (const key of ['reports', 'personnel', 'risks', 'issues', 'tasks', 'groups', 'members', 'categories'])
    assert.ok(
      reads.some((one) => one.key === key),
      key,
    );
});
