import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sql } from 'kysely';
import { settableClock } from '../../test/clock.ts';
import { onBothEngines, pluck, type TestService, withKey } from '../../test/service.ts';
import { issueOrders } from '../resources/issues/queries.ts';
import { riskOrders } from '../resources/risks/register.ts';
import { taskOrders } from '../resources/tasks/queries.ts';

/** The indexes that find the rows of lists. A whole list needs none of them, and reads the tables in another way. */
const indexes = ['scan', 'title', 'search'].flatMap((name) =>
  ['risks', 'issues', 'tasks'].map((table) => `${table}_${name}`),
);

const projects = ['ONE', 'TWO', 'OLD'];
const day = fc
  .integer({ min: 10, max: 40 })
  .map((days) => new Date(Date.UTC(2027, 0, days)).toISOString().slice(0, 10));
const rating = fc.integer({ min: 1, max: 5 });
const optional = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined, freq: 3 });
/** Few words, so that titles are equal, or equal in their first 40 characters. */
const title = fc
  .array(fc.constantFrom('Pump', 'pümp', 'Straße', 'valve', 'a much longer word than others', 'R1'), {
    minLength: 1,
    maxLength: 4,
  })
  .map((words) => words.join(' '));

const rowOf = (people: string[], groups: string[]) => {
  const owner = fc.oneof(
    fc.constant({}),
    fc.constantFrom(...people).map((owner_user_id) => ({ owner_user_id })),
    fc.constantFrom(...groups).map((owner_group_id) => ({ owner_group_id })),
  );
  const common = {
    title,
    description: optional(title),
    due_on: optional(day),
    external_id: optional(fc.uuid()),
  };
  const assigned = { assignee_user_id: optional(fc.constantFrom(...people)) };
  return {
    risks: fc
      .tuple(
        owner,
        fc.record({
          ...common,
          ratings: optional(fc.record({ probability: rating, impact: rating })),
          status: optional(fc.constantFrom('open', 'mitigating', 'monitoring')),
          kind: optional(fc.constantFrom('threat', 'opportunity')),
          category: optional(fc.constantFrom('Öl', 'ol', 'Zoll', 'A')),
          strategy: optional(fc.constantFrom('avoid', 'mitigate')),
          response_plan: optional(title),
          review_on: optional(day),
        }),
      )
      .map(([owner, { ratings, ...risk }]) => ({ ...risk, ...ratings, ...owner })),
    issues: fc
      .tuple(
        owner,
        fc.record({
          ...common,
          ...assigned,
          severity: fc.constantFrom('critical', 'high', 'medium', 'low'),
          priority: optional(fc.constantFrom('urgent', 'low')),
        }),
      )
      .map(([owner, issue]) => ({ ...issue, ...owner })),
    tasks: fc.record({ ...common, ...assigned, kind: optional(fc.constantFrom('work', 'mitigation')) }),
  };
};

/** Values of filters. Most queries have one or two of them. */
const filtersOf = (people: string[], groups: string[]) => {
  const q = ['q=pump', 'q=ump', 'q=longer', 'q=r1', 'q=one-', 'q=p', 'q=pump&search=all', 'q=nothing'];
  const common = [
    ...q,
    'due_before=2027-01-20',
    'due_after=2027-01-20',
    'project=ONE',
    'project=ONE,TWO',
    'archived=any',
  ];
  const owned = [
    `owner_user_id=${people[0]}`,
    `owner_user_id=${people.join(',')}`,
    `owner_group_id=${groups[0]}`,
  ];
  const assigned = [
    `assignee_user_id=${people[1]}`,
    'unassigned=true',
    'unassigned=false',
    'assignee_active=false',
  ];
  return {
    risks: [
      ...[
        ...common,
        ...owned,
        'status=all',
        'status=open',
        'status=closed',
        'level=high,critical',
        'min_score=6',
      ],
      ...['probability=5', 'impact=1,2', 'kind=opportunity', 'category=Öl', 'strategy=avoid', 'unowned=true'],
      ...[
        'unowned=false',
        'assessed=false',
        'above_appetite=true',
        'review_overdue=true',
        'check=no_response_plan',
      ],
      ...['check=owner_inactive', 'check=unassessed', 'review_before=2027-01-20', 'raised_since=2026-11-15'],
      ...['updated_since=2026-11-15T00:00:00Z', 'external_id=none', 'change=up', 'change=down,new'],
    ],
    issues: [
      ...common,
      ...owned,
      ...assigned,
      'status=blocked',
      'severity=critical',
      'priority=urgent',
      'overdue=true',
    ],
    tasks: [...common, ...assigned, 'status=all', 'kind=mitigation', 'overdue=true', 'status=done'],
  };
};

const orders = { risks: riskOrders, issues: issueOrders, tasks: taskOrders };

onBothEngines('lists of random items', (start) => {
  test('have the same rows in pages, found in indexes, as a plain query without these indexes', async (t) => {
    const clock = settableClock('2026-11-10T09:00:00Z');
    const { service, key } = await withKey(start(t, { clock }));
    const { people, groups } = await createItems(service, key);
    clock.set('2026-11-15T09:00:00Z');
    await reassess(service, key);
    const queries = randomQueries(people, groups);
    const limited = await service.make('/v1/keys', key, {
      name: 'limited',
      scopes: ['projects.read', 'personnel.read'],
      project_ids: [(await service.get('/v1/projects/ONE', key)).body.id],
    });
    const read = async (path: string, secret: string) => pluck(await pages(service, secret, path), 'id');
    const found = new Map<string, unknown[]>();
    for (const path of queries) {
      found.set(path, await read(path, key));
      if (!/project=|archived/.test(path)) found.set(`${path}#limited`, await read(path, limited.secret));
    }
    await service.database.write(async (db) => {
      for (const index of indexes) await sql`drop index if exists ${sql.ref(index)}`.execute(db);
    });
    let rows = 0;
    for (const [path, ids] of found) {
      const secret = path.endsWith('#limited') ? limited.secret : key;
      const { body } = await service.get(path.replace('#limited', ''), secret);
      assert.deepEqual(ids, pluck(body.data ?? [], 'id'), path);
      rows += ids.length;
    }
    assert.ok(rows > 20 * queries.length, `${rows} rows`);
  });
});

function randomQueries(people: string[], groups: string[]): string[] {
  const filters = filtersOf(people, groups);
  return (['risks', 'issues', 'tasks'] as const).flatMap((list) => {
    const sorts = fc.constantFrom(...Object.keys(orders[list]));
    const given = fc.subarray(filters[list], { minLength: 0, maxLength: 2 });
    const random = fc.sample(fc.tuple(sorts, given), 15);
    const plain = Object.keys(orders[list]).map((sort): [string, string[]] => [sort, []]);
    const single = filters[list].map((filter): [string, string[]] => [
      Object.keys(orders[list])[0] ?? '',
      [filter],
    ]);
    return [...plain, ...single, ...random]
      .filter(([, given]) => new Set(given.map((filter) => filter.split('=')[0])).size === given.length)
      .map(([sort, given]) => `/v1/${list}?${[`sort=${sort}`, ...given].join('&')}`)
      .map((path) => (path.includes('change') ? `${path}&since=2026-11-12` : path));
  });
}

/** Two people and two groups have names that are equal without case and accents; one person is inactive. */
async function createItems(service: TestService, key: string) {
  for (const name of projects)
    await service.make('/v1/projects', key, { key: name, name: name.toLowerCase() });
  const people: string[] = [];
  for (const name of ['Ada', 'Bo', 'ädä', 'Zoe'])
    people.push((await service.make('/v1/personnel', key, { name })).user_id);
  const groups: string[] = [];
  for (const name of ['Ada team', 'Bo']) groups.push((await service.make('/v1/groups', key, { name })).id);
  for (const [list, row] of Object.entries(rowOf(people, groups))) {
    for (const project of projects) {
      const rows = fc.sample(row as fc.Arbitrary<object>, 40).map((one) => JSON.stringify(one));
      const path = `/v1/projects/${project}/${list}/import`;
      const { status, text } = await service.upload(path, key, rows.join('\n'), 'application/x-ndjson');
      assert.equal(status, 200, text);
    }
  }
  for (const number of [1, 5, 9])
    await service.patch(`/v1/projects/ONE/risks/ONE-R${number}`, key, {
      status: 'closed',
      closure_reason: 'x',
    });
  await service.post('/v1/projects/OLD/archive', key, undefined);
  await service.post(`/v1/personnel/${people[1]}/deactivate`, key, {});
  return { people, groups };
}

/** Some scores rise and some fall, and some risks are new. */
async function reassess(service: TestService, key: string) {
  const base = '/v1/projects/ONE/risks';
  for (const number of [2, 3, 4, 6, 7, 8, 10, 11])
    await service.patch(`${base}/ONE-R${number}`, key, { probability: (number % 5) + 1, impact: 3 });
  for (const title of ['Pump', 'A new one'])
    await service.make(base, key, { title, probability: 2, impact: 2 });
}

/** Follows the cursors of short pages. */
async function pages(service: TestService, key: string, path: string): Promise<{ id: string }[]> {
  const rows: { id: string }[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, body } = await service.get(`${path}&limit=20${cursor && `&cursor=${cursor}`}`, key);
    if (status === 400 && /nothing can match|No risk can match/.test(body.detail)) return [];
    assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
    rows.push(...body.data);
    cursor = body.page.next_cursor;
  }
  return rows;
}
