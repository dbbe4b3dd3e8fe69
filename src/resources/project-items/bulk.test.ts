import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines, pluck, type TestService } from '../../../test/service.ts';

type Body = Record<string, unknown>;
type Changed = { id: string; key: string; version: number; previous: Body };
type Failed = { id: string; key?: string; code: string; detail: string; errors?: { pointer: string }[] };

onBothEngines('bulk changes', (start) => {
  test('change items of several projects, with versions, history and one event each', async (t) => {
    const dataset = await makeItems(await start(t));
    const { service, key, ada, risks } = dataset;
    const { next_after } = (await service.get('/v1/events', key)).body.meta;
    const items = [{ id: risks[0]?.key }, { id: risks[1]?.id, version: 1, changes: { category: 'supply' } }];
    const changes = { owner_user_id: ada, status: 'mitigating', reason: 'Steering committee' };
    const { status, body } = await service.post('/v1/bulk/risks', key, { items, changes });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(body.data, [
      {
        id: risks[0]?.id,
        key: 'APOLLO-R1',
        version: 2,
        previous: { owner_user_id: null, status: 'open' },
      },
      {
        id: risks[1]?.id,
        key: 'GEMINI-R1',
        version: 2,
        previous: { category: null, owner_user_id: null, status: 'open' },
      },
    ]);
    const second = (await service.get('/v1/projects/GEMINI/risks/GEMINI-R1', key)).body;
    assert.deepEqual(
      [second.owner_name, second.status, second.category, second.version],
      ['Ada', 'mitigating', 'supply', 2],
    );
    const events = await service.list(`/v1/events?after=${next_after}`, key);
    assert.deepEqual(
      events.map(({ type, subject }: { type: string; subject: Body }) => [type, subject.key]),
      [
        ['risk.updated', 'APOLLO-R1'],
        ['risk.updated', 'GEMINI-R1'],
      ],
    );
    assert.deepEqual(events[1].data, second);
    assert.deepEqual(events[1].previous, { category: null, owner_user_id: null, status: 'open' });
    const history = await service.list('/v1/projects/APOLLO/risks/APOLLO-R1/history', key);
    assert.deepEqual(pluck(history.slice(1), 'field', 'reason'), [
      ['status', 'Steering committee'],
      ['owner_user_id', 'Steering committee'],
    ]);
  });

  test('that end where they began report no change of level or status', async (t) => {
    const { service, key, risks } = await makeItems(await start(t));
    const at = `/v1/projects/APOLLO/risks/${risks[0]?.id}`;
    await service.patch(at, key, { probability: 5, impact: 5 });
    const { next_after } = (await service.get('/v1/events', key)).body.meta;
    const items = [{ impact: 1 }, { status: 'mitigating' }, { impact: 5 }, { status: 'open' }].map(
      (changes) => ({
        id: risks[0]?.id,
        changes,
      }),
    );
    assert.equal((await service.post('/v1/bulk/risks', key, { items })).status, 200);
    const [event, ...others] = await service.list(`/v1/events?after=${next_after}`, key);
    assert.deepEqual(
      [event.type, event.also, event.previous, event.data.version],
      ['risk.updated', [], {}, 6],
    );
    assert.deepEqual(others, []);
    const history = await service.list(`${at}/history`, key);
    assert.deepEqual(pluck(history.slice(-4), 'field', 'from', 'to'), [
      ['impact', 5, 1],
      ['status', 'open', 'mitigating'],
      ['impact', 1, 5],
      ['status', 'mitigating', 'open'],
    ]);
  });

  test('merge the attributes of an item with the shared ones', async (t) => {
    const { service, key, risks } = await makeItems(await start(t));
    const items = [{ id: risks[0]?.id, changes: { attributes: { own: '2' } } }];
    const { status } = await service.post('/v1/bulk/risks', key, {
      items,
      changes: { attributes: { shared: '1' } },
    });
    assert.equal(status, 200);
    const { body } = await service.get('/v1/risks/APOLLO-R1', key);
    assert.deepEqual(body.attributes, { own: '2', shared: '1' });
  });

  test('the previous values undo the change in one request', async (t) => {
    const dataset = await makeItems(await start(t));
    const { service, key, ada, issues } = dataset;
    const patch = { due_on: '2026-12-24', attributes: { old: 'x' } };
    await service.patch('/v1/projects/APOLLO/issues/APOLLO-I1', key, patch);
    const before = await contentOf(service, key, 'issues');
    const items = issues.map(({ id }) => ({ id }));
    const changes = {
      assignee_user_id: ada,
      due_on: '2999-01-01',
      status: 'in_progress',
      attributes: { old: null, new: 'y' },
    };
    const { body } = await service.post('/v1/bulk/issues', key, { items, changes });
    assert.notDeepEqual(await contentOf(service, key, 'issues'), before);
    assert.deepEqual(body.data[0].previous.attributes, { old: 'x', new: null });
    const undone = await service.post('/v1/bulk/issues', key, {
      items: body.data.map(({ id, version, previous }: Changed) => ({ id, version, changes: previous })),
    });
    assert.equal(undone.status, 200, undone.text);
    assert.deepEqual(await contentOf(service, key, 'issues'), before);
  });

  test('change nothing if one item cannot be changed, and list each reason', async (t) => {
    const dataset = await makeItems(await start(t));
    const { service, key, ada, risks, issues } = dataset;
    const { user_id: gone } = await service.make('/v1/personnel', key, { name: 'Gone', status: 'inactive' });
    await service.make('/v1/projects', key, { name: 'Old' });
    const archived = await service.make('/v1/projects/OLD/issues', key, { title: 'Old' });
    await service.post('/v1/projects/OLD/archive', key, {});
    const before = await contentOf(service, key, 'issues');
    const { next_after } = (await service.get('/v1/events', key)).body.meta;
    const { status, body } = await service.post('/v1/bulk/issues', key, {
      items: [
        { id: issues[0]?.id },
        { id: 'APOLLO-I999' },
        { id: archived.id },
        { id: issues[1]?.id, version: 7 },
        { id: issues[2]?.id, changes: { status: 'closed' } },
        { id: issues[3]?.id, changes: { assignee_user_id: gone } },
        { id: issues[4]?.id, changes: { risk_id: risks[1]?.id } },
      ],
      changes: { assignee_user_id: ada, due_on: '2999-01-01' },
    });
    assert.deepEqual([status, body.code, body.failed], [422, 'bulk_refused', 6]);
    assert.equal(
      body.detail,
      '6 of 7 issues cannot be changed, so nothing was changed. `results` lists each with the reason.',
    );
    const failed: Failed[] = body.results;
    assert.deepEqual(
      failed.map((one) => [one.key ?? one.id, one.code, one.errors?.[0]?.pointer]),
      [
        ['APOLLO-I999', 'not_found', undefined],
        ['OLD-I1', 'project_archived', undefined],
        ['GEMINI-I1', 'stale', undefined],
        ['APOLLO-I2', 'invalid_transition', undefined],
        ['GEMINI-I2', 'invalid_body', '#/assignee_user_id'],
        ['APOLLO-I3', 'invalid_body', '#/risk_id'],
      ],
    );
    assert.match(
      failed[2]?.detail ?? '',
      /^GEMINI-I1 has changed since you read it: it has version 1, not 7/,
    );
    assert.deepEqual(await contentOf(service, key, 'issues'), before);
    assert.deepEqual(await service.list(`/v1/events?after=${next_after}`, key), []);
  });

  test('change an item step by step, all or nothing', async (t) => {
    const { service, key, issues, risks } = await makeItems(await start(t));
    const [id, otherId] = issues.map((issue) => issue.id);
    const path = `/v1/projects/APOLLO/issues/${id}`;
    const resolve = { status: 'resolved', resolution: 'fixed' };
    assert.equal((await service.patch(path, key, resolve)).status, 200);
    const { next_after } = (await service.get('/v1/events', key)).body.meta;
    const reopen = (last: Body) =>
      service.post('/v1/bulk/issues', key, {
        items: [
          { id, version: 2, changes: { status: 'in_progress' } },
          { id: otherId, changes: { priority: 'low' } },
          { id: 'APOLLO-I1', ...last },
        ],
      });
    const blocked = { status: 'blocked', blocked_reason: 'No crane' };
    for (const last of [
      { version: 2, changes: blocked },
      { changes: { status: 'closed' } },
      { changes: { title: 'x', due_on: '1999-01-01' } },
    ]) {
      const refused = await reopen(last);
      assert.deepEqual([refused.status, refused.body.failed], [422, 1], refused.text);
    }
    assert.equal((await service.get(path, key)).body.version, 2);
    assert.equal((await service.get(`/v1/issues/${otherId}`, key)).body.priority, 'normal');
    assert.deepEqual(await service.list(`/v1/events?after=${next_after}`, key), []);

    const { status, body } = await reopen({ version: 3, changes: blocked });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(pluck(body.data, 'key', 'version', 'previous'), [
      ['APOLLO-I1', 3, { status: 'resolved', resolution: 'fixed' }],
      ['GEMINI-I1', 2, { priority: 'normal' }],
      ['APOLLO-I1', 4, { status: 'in_progress', blocked_reason: null }],
    ]);
    const after = (await service.get(path, key)).body;
    assert.deepEqual([after.status, after.resolution, after.version], ['blocked', null, 4]);
    const events = await service.list(`/v1/events?after=${next_after}`, key);
    assert.deepEqual(
      events.map(({ type, subject }: { type: string; subject: Body }) => [type, subject.key]),
      [
        ['issue.reopened', 'APOLLO-I1'],
        ['issue.updated', 'GEMINI-I1'],
      ],
    );
    assert.deepEqual(events[0].data, after);
    const { counts } = (await service.get('/v1/projects/APOLLO', key)).body;
    assert.equal(counts.open_issues, issues.length / 2);

    const steps = ['mitigating', 'monitoring'].map((status) => ({ id: risks[0]?.id, changes: { status } }));
    assert.equal((await service.post('/v1/bulk/risks', key, { items: steps })).status, 200);
    const past = await service.database.db.selectFrom('past_risks').select('version').execute();
    assert.deepEqual(past.map(({ version }) => version).sort(), [1, 2]);
  });

  test('keep items that have the values already as they are', async (t) => {
    const { service, key, tasks } = await makeItems(await start(t));
    const body = { items: tasks.map(({ id }) => ({ id })), changes: { status: 'todo' } };
    const { next_after } = (await service.get('/v1/events', key)).body.meta;
    const { data } = (await service.post('/v1/bulk/tasks', key, body)).body;
    assert.deepEqual(
      pluck(data, 'version', 'previous'),
      tasks.map(() => [1, {}]),
    );
    assert.deepEqual(await service.list(`/v1/events?after=${next_after}`, key), []);
  });

  test('count the risks and issues of each project again', async (t) => {
    const { service, key, issues, risks } = await makeItems(await start(t));
    const ids = (items: { id: string }[]) => items.map(({ id }) => ({ id }));
    const close = { status: 'closed', closure_reason: 'Over' };
    assert.equal(
      (await service.post('/v1/bulk/risks', key, { items: ids(risks), changes: close })).status,
      200,
    );
    const solve = { items: ids(issues), changes: { status: 'resolved', resolution: 'fixed' } };
    assert.equal((await service.post('/v1/bulk/issues', key, solve)).status, 200);
    for (const project of ['APOLLO', 'GEMINI']) {
      const { counts } = (await service.get(`/v1/projects/${project}`, key)).body;
      assert.deepEqual([counts?.open_issues ?? 0, counts?.active_risks ?? 0], [0, 0]);
    }
    assert.equal((await service.get('/v1/risks', key)).body.page.total, 0);
    const past = await service.database.db.selectFrom('past_risks').select('id').execute();
    assert.equal(past.length, risks.length);
  });

  test('give an external id to one item of a project only', async (t) => {
    const { service, key, tasks } = await makeItems(await start(t));
    await service.patch('/v1/projects/APOLLO/tasks/APOLLO-T1', key, { external_id: 'taken' });
    const post = (items: Body[]) => service.post('/v1/bulk/tasks', key, { items });
    const two = await post([
      { id: 'APOLLO-T2', changes: { external_id: 'x' } },
      { id: 'APOLLO-T3', changes: { external_id: 'x' } },
      { id: 'GEMINI-T1', changes: { external_id: 'x' } },
      { id: 'GEMINI-T2', changes: { external_id: 'taken' } },
    ]);
    assert.deepEqual(pluck(two.body.results, 'key', 'code'), [['APOLLO-T3', 'duplicate']]);
    const used = await post([{ id: 'APOLLO-T2', changes: { external_id: 'taken' } }]);
    assert.deepEqual(
      [used.body.results[0].code, used.body.results[0].existing_id],
      ['duplicate', tasks[0]?.id],
    );
  });

  test('reach only the projects of a limited key', async (t) => {
    const { service, key, issues } = await makeItems(await start(t));
    const limited = await service.limitedKey(['APOLLO'], 'projects.manage');
    const post = (items: { id: string }[]) =>
      service.post('/v1/bulk/issues', limited, { items, changes: { priority: 'urgent' } });
    const [own, other] = issues.map(({ id }) => ({ id })) as [{ id: string }, { id: string }];
    const { status, body } = await post([own, other]);
    assert.deepEqual([status, body.results.length, body.results[0].code], [422, 1, 'not_found']);
    assert.ok(!JSON.stringify(body).includes('GEMINI'));
    assert.equal((await service.get(`/v1/issues/${own.id}`, key)).body.priority, 'normal');
    assert.equal((await post([own])).status, 200);
    assert.equal((await service.get(`/v1/issues/${own.id}`, key)).body.priority, 'urgent');
  });

  test('run once with an idempotency key', async (t) => {
    const { service, key, tasks } = await makeItems(await start(t));
    const body = { items: tasks.map(({ id }) => ({ id })), changes: { title: 'Renamed' } };
    const post = () => service.post('/v1/bulk/tasks', key, body, { 'idempotency-key': 'k' });
    const [first, second] = [await post(), await post()];
    assert.deepEqual(first.body, second.body);
    assert.deepEqual([first.status, second.headers.get('idempotent-replayed')], [200, 'true']);
    assert.equal((await service.get(`/v1/tasks/${tasks[0]?.id}`, key)).body.version, 2);
  });

  test('run at the same time as others of the same items', async (t) => {
    const { service, key, risks } = await makeItems(await start(t));
    const items = risks.map(({ id }) => ({ id }));
    const requests = Array.from({ length: 8 }, (_, i) =>
      service.post('/v1/bulk/risks', key, {
        items: i % 2 ? items : items.toReversed(),
        changes: { category: `c${i}` },
      }),
    );
    const statuses = (await Promise.all(requests)).map(({ status }) => status);
    assert.deepEqual(statuses, Array(8).fill(200));
    const { body } = await service.get('/v1/risks', key);
    assert.deepEqual(
      pluck(body.data, 'version'),
      risks.map(() => 9),
    );
    assert.equal(new Set(pluck(body.data, 'category')).size, 1);
  });

  test('take up to 500 items, and reject more', async (t) => {
    const { service, key } = await makeItems(await start(t));
    const rows = `title\n${Array.from({ length: 500 }, (_, i) => `Task ${i}\n`).join('')}`;
    await service.upload('/v1/projects/APOLLO/tasks/import', key, rows);
    const { body } = await service.get('/v1/projects/APOLLO/tasks', key);
    const items = body.data.map(({ id, version }: Changed) => ({ id, version }));
    const changes = { due_on: '2999-01-01' };
    const send = (count: number) =>
      service.post('/v1/bulk/tasks', key, { items: items.slice(0, count), changes });
    assert.equal((await send(501)).status, 422);
    const { status, body: changed } = await send(500);
    assert.deepEqual([status, changed.data.length], [200, 500]);
    const stale = await send(500);
    assert.deepEqual([stale.status, stale.body.failed, stale.body.results.length], [422, 500, 100]);
    assert.match(stale.body.detail, /`results` lists the first 100\.$/);
  });

  test('need at least one item, known fields and POST', async (t) => {
    const { service, key } = await makeItems(await start(t));
    const pointers = async (body: unknown) =>
      pluck((await service.post('/v1/bulk/risks', key, body)).body.errors, 'pointer');
    assert.deepEqual(await pointers({}), ['#/items']);
    assert.deepEqual(await pointers({ items: [] }), ['#/items']);
    const wrong = {
      items: [{ id: 'APOLLO-R1', changes: { score: 3 } }, { id: 'x y' }],
      changes: { impact: 8 },
    };
    assert.deepEqual((await pointers(wrong)).sort(), [
      '#/changes/impact',
      '#/items/0/changes/score',
      '#/items/1/id',
    ]);
    for (const [method, path] of [
      ['GET', '/v1/bulk/risks'],
      ['PATCH', '/v1/risks'],
      ['POST', '/v1/issues'],
    ] as const) {
      assert.equal((await service.call(method, path, key)).status, 405);
    }
  });
});

/** Two projects with items in turns: `APOLLO-I1`, `GEMINI-I1`, `APOLLO-I2`, … */
async function makeItems(service: TestService) {
  const key = await service.key();
  const { user_id: ada } = await service.make('/v1/personnel', key, { name: 'Ada' });
  const projects = ['APOLLO', 'GEMINI'];
  for (const name of projects) await service.make('/v1/projects', key, { name });
  const make = async (what: string) => {
    const made: { id: string; key: string }[] = [];
    for (let i = 0; i < 6; i++) {
      made.push(
        await service.make(`/v1/projects/${projects[i % 2]}/${what}`, key, { title: `${what} ${i}` }),
      );
    }
    return made;
  };
  return {
    service,
    key,
    ada,
    risks: await make('risks'),
    issues: await make('issues'),
    tasks: await make('tasks'),
  };
}

/** The items without the fields that every change sets. */
async function contentOf({ get }: TestService, key: string, what: string): Promise<Body[]> {
  const items: Body[] = [];
  for (const project of ['APOLLO', 'GEMINI']) {
    const { data } = (await get(`/v1/projects/${project}/${what}`, key)).body;
    items.push(...data.map(({ version: _, updated_at: __, ...item }: Body) => item));
  }
  return items;
}
