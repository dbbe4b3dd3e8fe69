import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settableClock } from '../../test/clock.ts';
import { onBothEngines, pluck, type TestService, withKey } from '../../test/service.ts';
import { issueOrders } from '../resources/issues/queries.ts';
import { personnelSorts } from '../resources/personnel/queries.ts';
import { riskOrders } from '../resources/risks/register.ts';
import { taskOrders } from '../resources/tasks/queries.ts';

type Row = Record<string, string | number | null>;

const sorts = {
  personnel: personnelSorts,
  risks: Object.keys(riskOrders),
  issues: Object.keys(issueOrders),
  tasks: Object.keys(taskOrders),
};

onBothEngines('the sort orders of lists', (start) => {
  test('work in both directions and page by page, with missing values last', async (t) => {
    const clock = settableClock('2026-11-15T09:00:00Z');
    const { service, key } = await withKey(start(t, { clock }), 'personnel.manage', 'projects.manage');
    await createRows(service, key, clock);
    for (const [list, ascendingOf] of Object.entries(expected)) {
      const { body } = await service.get(`/v1/${list}`, key);
      const times = (field: string) => body.data.map((row: Row) => row[field]).sort();
      const ascendingByField: Record<string, Row[string][]> = {
        ...ascendingOf,
        updated_at: times('updated_at'),
        ...(list === 'personnel' && { created_at: times('created_at') }),
      };
      const tested = ['rank', 'relevance', 'change', ...Object.keys(ascendingByField)];
      const offered = sorts[list as keyof typeof sorts].map((sort) => sort.replace('-', ''));
      assert.deepEqual(new Set(offered).difference(new Set(tested)), new Set(), `untested orders of ${list}`);
      for (const [field, ascending] of Object.entries(ascendingByField)) {
        const present = ascending.filter((value) => value !== null);
        const missing = ascending.filter((value) => value === null);
        for (const [sort, values] of [
          [field, ascending],
          [`-${field}`, [...present.toReversed(), ...missing]],
        ] as const) {
          const path = `/v1/${list}?sort=${sort}`;
          const rows: Row[] = await service.list(path, key);
          const idsOf = (rows: Row[]) => rows.map(({ id, user_id }) => id ?? user_id);
          assert.deepEqual(
            rows.map((row) => row[field]),
            values,
            path,
          );
          assert.equal(new Set(idsOf(rows)).size, 4, path);
          assert.deepEqual(idsOf(await pageByPage(service, key, path)), idsOf(rows), `${path} in pages`);
        }
      }
      const { status, body: unknown } = await service.get(`/v1/${list}?sort=phone`, key);
      assert.deepEqual([status, unknown.errors[0].parameter], [400, 'sort'], list);
    }
  });

  test('compare texts without case and accents, also where a folded text is longer', async (t) => {
    const { service, key } = await withKey(start(t), 'projects.manage', 'personnel.manage');
    await service.make('/v1/projects', key, { key: 'PRO', name: 'P' });
    const latin =
      'Ærø,Ärger,Đinh,ðorn,ﬁﬁﬁ 1,ﬁﬁﬁ 2,ır,Łódź,ŒUVRE,ÖL,ölf,STRASSE 1,straße 10,Straße 2,Þing,Zoll';
    const ascending = [...latin.split(','), 'Ά', 'ζ', 'Ёлка', 'ель', '한강 1', '한강 2', 'かく', 'が'];
    const titles = ascending.toReversed();
    for (const list of ['risks', 'issues', 'tasks']) {
      const category = list === 'risks' ? (title: string) => ({ category: title }) : () => ({});
      for (const title of titles)
        await service.make(`/v1/projects/PRO/${list}`, key, {
          title,
          description: 'Text',
          ...category(title),
        });
    }
    for (const title of titles) await service.make('/v1/personnel', key, { name: 'Ada', title });
    for (const [path, field] of [
      ['/v1/risks', 'title'],
      ['/v1/risks', 'category'],
      ['/v1/issues', 'title'],
      ['/v1/tasks', 'title'],
      ['/v1/personnel', 'title'],
    ] as const) {
      for (const [sort, expected] of [
        [field, ascending],
        [`-${field}`, titles],
      ] as const) {
        const { body } = await service.get(`${path}?sort=${sort}`, key);
        const values = body.data.map((row: Record<string, unknown>) => row[field]);
        assert.deepEqual(values, expected, `${path} by ${sort}`);
      }
    }
  });

  test('put names that start with the text of a search first, with pages, in lists of groups and projects', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage', 'projects.manage');
    const names = ['Opérations', 'Night operations', 'Cooperation'];
    for (const name of names) await service.make('/v1/groups', key, { name });
    for (const [i, name] of names.entries())
      await service.make('/v1/projects', key, { key: `NAMED${i}`, name });
    await service.make('/v1/projects', key, { key: 'OPERA', name: 'Zeppelin' });
    for (const [list, expected] of [
      ['groups', names],
      ['projects', ['Zeppelin', ...names]],
    ] as const) {
      const found = async (query: string) => {
        const { status, body } = await service.get(`/v1/${list}?${query}`, key);
        assert.equal(status, 200, JSON.stringify(body));
        return { names: pluck(body.data, 'name'), page: body.page };
      };
      assert.deepEqual((await found('q=oper')).names, [...expected].sort());
      assert.deepEqual((await found('q=OPER&sort=relevance')).names, expected);
      const first = await found('q=oper&sort=relevance&limit=2');
      const rest = await found(`q=oper&sort=relevance&limit=2&cursor=${first.page.next_cursor}`);
      assert.deepEqual([...first.names, ...rest.names], expected);
      assert.equal((await service.get(`/v1/${list}?sort=relevance`, key)).status, 400);
    }
  });
});

/** The values of four rows by field, in ascending order. */
const days = ['2030-02-01', '2030-03-01', null, null];
const common = {
  title: ['Émile', 'oslo', 'oslo', 'Oslo fjord'],
  project_name: ['aal', 'aal', 'aal', 'Zebra'],
  due_on: days,
};
const expected = {
  personnel: {
    name: ['Ånna', 'bo', 'Cy', 'Cy'],
    title: ['Architect', 'welder', null, null],
    department: ['oil rig', 'Öl', null, null],
    email: ['a@example.com', 'B@example.com', null, null],
    status: ['active', 'active', 'active', 'inactive'],
  },
  risks: {
    ...common,
    status: ['open', 'open', 'mitigating', 'monitoring'],
    score: [5, 15, null, null],
    residual_score: [1, 3, null, null],
    owner_name: ['Alpha', 'bo', null, null],
    category: ['a', 'B', null, null],
    review_on: days,
    raised_on: ['2020-01-01', '2020-02-01', '2020-03-01', '2020-03-01'],
  },
  issues: {
    ...common,
    status: ['open', 'open', 'in_progress', 'blocked'],
    priority: ['urgent', 'urgent', 'high', 'low'],
    owner_name: ['Alpha', 'bo', null, null],
    assignee_name: ['Ånna', 'bo', null, null],
    raised_on: ['2020-01-01', '2020-02-01', '2020-03-01', '2020-03-01'],
  },
  tasks: {
    ...common,
    status: ['todo', 'todo', 'in_progress', 'blocked'],
    kind: ['mitigation', 'resolution', 'work', 'work'],
    assignee_name: ['Ånna', 'bo', null, null],
    start_on: days,
  },
};

async function createRows(
  service: TestService,
  key: string,
  clock: ReturnType<typeof settableClock>,
): Promise<void> {
  let minute = 10;
  const make = (path: string, body: unknown) => {
    clock.set(`2026-11-15T09:${minute++}:00Z`);
    return service.make(path, key, body);
  };
  const anna = await make('/v1/personnel', {
    name: 'Ånna',
    title: 'welder',
    department: 'Öl',
    email: 'B@example.com',
  });
  const bo = await make('/v1/personnel', {
    name: 'bo',
    title: 'Architect',
    department: 'oil rig',
    email: 'a@example.com',
  });
  for (const status of ['inactive', 'active']) await make('/v1/personnel', { name: 'Cy', status });
  const group = await make('/v1/groups', { name: 'Alpha' });
  for (const project of ['Zebra', 'aal'])
    await make('/v1/projects', { key: project.toUpperCase(), name: project });
  const firsts = [`/v1/personnel/${anna.user_id}`];
  // The second and the last item have the same fields.
  for (const [position, i] of [0, 1, 2, 1].entries()) {
    const project = `/v1/projects/${i === 0 ? 'ZEBRA' : 'AAL'}`;
    const due_on = ['2030-03-01', undefined, '2030-02-01'][i];
    const raised_on = ['2020-02-01', '2020-03-01', '2020-01-01'][i];
    const owner = [{ owner_user_id: bo.user_id }, {}, { owner_group_id: group.id }][i];
    const assignee = i === 1 ? {} : { assignee_user_id: i === 0 ? anna.user_id : bo.user_id };
    const score =
      i === 1 ? {} : { probability: 1 + i, impact: 5, residual_probability: 1, residual_impact: 1 + i };
    const items = {
      risks: {
        status: ['monitoring', 'open', 'mitigating'][i],
        review_on: due_on,
        raised_on,
        category: ['B', undefined, 'a'][i],
        ...score,
        ...owner,
      },
      issues: {
        status: ['blocked', 'open', 'in_progress'][i],
        priority: ['low', 'urgent', 'high'][i],
        raised_on,
        ...assignee,
        ...owner,
      },
      tasks: {
        status: ['blocked', 'todo', 'in_progress'][i],
        kind: ['resolution', 'work', 'mitigation'][i],
        start_on: due_on,
        ...assignee,
      },
    };
    for (const [list, item] of Object.entries(items)) {
      const title = ['Oslo fjord', 'oslo', 'Émile'][i];
      const { id } = await make(`${project}/${list}`, { title, due_on, ...item });
      if (position === 0) firsts.push(`${project}/${list}/${id}`);
    }
  }
  // The rows that were created first are the last that changed.
  for (const path of firsts) {
    clock.set(`2026-11-15T09:${minute++}:00Z`);
    const { status, text } = await service.patch(path, key, { external_id: 'changed' });
    assert.equal(status, 200, text);
  }
}

async function pageByPage(service: TestService, key: string, path: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (let after = ''; ; ) {
    const { body } = await service.get(`${path}&limit=1${after}`, key);
    rows.push(...body.data);
    // A list that repeats its rows would not end.
    if (body.page.next_cursor === null || rows.length > 10) return rows;
    after = `&cursor=${body.page.next_cursor}`;
  }
}
