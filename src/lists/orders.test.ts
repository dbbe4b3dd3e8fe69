import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines } from '../../test/service.ts';

onBothEngines('the sort orders of lists', (start) => {
  test('work in both directions and in pages, with missing values last', async (t) => {
    const service = await start(t);
    const key = await service.key('personnel.manage', 'projects.manage');
    const anna = await service.make('/v1/personnel', key, {
      name: 'Ånna',
      title: 'welder',
      department: 'Öl',
      email: 'B@example.com',
    });
    const bo = await service.make('/v1/personnel', key, {
      name: 'bo',
      title: 'Architect',
      department: 'oil rig',
      email: 'a@example.com',
    });
    await service.make('/v1/personnel', key, { name: 'Cy' });
    const group = await service.make('/v1/groups', key, { name: 'Alpha' });
    for (const project of ['Zebra', 'aal'])
      await service.make('/v1/projects', key, { key: project.toUpperCase(), name: project });
    const days = ['2030-03-01', undefined, '2030-02-01'];
    const owners = [{ owner_user_id: bo.user_id }, {}, { owner_group_id: group.id }];
    for (const [i, title] of ['Oslo fjord', 'oslo', 'Émile'].entries()) {
      const project = `/v1/projects/${i === 0 ? 'ZEBRA' : 'AAL'}`;
      const due_on = days[i];
      const assignee = i === 1 ? {} : { assignee_user_id: i === 0 ? anna.user_id : bo.user_id };
      const score =
        i === 1 ? {} : { probability: 1 + i, impact: 5, residual_probability: 1, residual_impact: 1 + i };
      await service.make(`${project}/risks`, key, {
        title,
        due_on,
        review_on: due_on,
        category: ['B', undefined, 'a'][i],
        ...score,
        ...owners[i],
      });
      await service.make(`${project}/issues`, key, {
        title,
        due_on,
        priority: ['low', 'urgent', 'high'][i],
        status: ['blocked', 'open', 'in_progress'][i],
        ...assignee,
        ...owners[i],
      });
      await service.make(`${project}/tasks`, key, {
        title,
        due_on,
        start_on: due_on,
        status: ['blocked', 'todo', 'in_progress'][i],
        ...assignee,
      });
    }
    const expected = {
      personnel: {
        name: ['Ånna', 'bo', 'Cy'],
        title: ['Architect', 'welder', null],
        department: ['oil rig', 'Öl', null],
        email: ['a@example.com', 'B@example.com', null],
      },
      risks: {
        title: ['Émile', 'oslo', 'Oslo fjord'],
        score: [5, 15, null],
        residual_score: [1, 3, null],
        owner_name: ['Alpha', 'bo', null],
        category: ['a', 'B', null],
        project_name: ['aal', 'aal', 'Zebra'],
        due_on: ['2030-02-01', '2030-03-01', null],
        review_on: ['2030-02-01', '2030-03-01', null],
      },
      issues: {
        title: ['Émile', 'oslo', 'Oslo fjord'],
        priority: ['urgent', 'high', 'low'],
        status: ['open', 'in_progress', 'blocked'],
        owner_name: ['Alpha', 'bo', null],
        assignee_name: ['Ånna', 'bo', null],
        project_name: ['aal', 'aal', 'Zebra'],
        due_on: ['2030-02-01', '2030-03-01', null],
      },
      tasks: {
        title: ['Émile', 'oslo', 'Oslo fjord'],
        status: ['todo', 'in_progress', 'blocked'],
        assignee_name: ['Ånna', 'bo', null],
        project_name: ['aal', 'aal', 'Zebra'],
        due_on: ['2030-02-01', '2030-03-01', null],
        start_on: ['2030-02-01', '2030-03-01', null],
      },
    };
    for (const [list, fields] of Object.entries(expected)) {
      for (const [field, ascending] of Object.entries<(string | number | null)[]>(fields)) {
        const present = ascending.filter((value) => value !== null);
        const missing = ascending.filter((value) => value === null);
        for (const [sort, values] of [
          [field, ascending],
          [`-${field}`, [...present.toReversed(), ...missing]],
        ] as const) {
          const path = `/v1/${list}?sort=${sort}`;
          const valuesOf = (body: { data: Record<string, unknown>[] }) => body.data.map((row) => row[field]);
          const whole = await service.get(path, key);
          assert.deepEqual(valuesOf(whole.body), values, path);
          const first = await service.get(`${path}&limit=1`, key);
          const rest = await service.get(`${path}&limit=5&cursor=${first.body.page.next_cursor}`, key);
          assert.deepEqual([...valuesOf(first.body), ...valuesOf(rest.body)], values, `${path} in pages`);
        }
      }
    }
  });

  test('compare texts without case and accents, also where a folded text is longer', async (t) => {
    const service = await start(t);
    const key = await service.key('projects.manage', 'personnel.manage');
    await service.make('/v1/projects', key, { key: 'PRO', name: 'P' });
    const latin =
      'Ærø,Ärger,Đinh,ðorn,ﬁﬁﬁ 1,ﬁﬁﬁ 2,ır,Łódź,ŒUVRE,ÖL,ölf,STRASSE 1,straße 10,Straße 2,Þing,Zoll';
    const ascending = [...latin.split(','), 'Ά', 'ζ', 'Ёлка', 'ель', '한강 1', '한강 2', 'が', 'かく'];
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
});
