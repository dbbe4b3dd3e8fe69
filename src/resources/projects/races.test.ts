import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines } from '../../../test/service.ts';

type Responses = { status: number }[];

onBothEngines('concurrent writes', (start) => {
  const count = (responses: Responses, status: number) =>
    responses.filter((response) => response.status === status).length;

  test('one of many concurrent deletes succeeds and updates the counters once', async (t) => {
    const service = await start(t);
    const key = await service.key('projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    for (const what of ['issues', 'risks', 'tasks']) {
      const created = await service.make(`/v1/projects/APOLLO/${what}`, key, { title: 'x' });
      const path = `/v1/projects/APOLLO/${what}/${created.key}`;
      const responses = await Promise.all(Array.from({ length: 8 }, () => service.call('DELETE', path, key)));
      assert.deepEqual([count(responses, 204), count(responses, 404)], [1, 7], what);
    }
    const { counts } = (await service.get('/v1/projects/APOLLO', key)).body;
    assert.deepEqual([counts.open_issues, counts.active_risks], [0, 0]);
  });

  test('a delete with If-Match does not delete a newer version', async (t) => {
    const service = await start(t);
    const key = await service.key('projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    for (let round = 0; round < 10; round++) {
      const issue = await service.make('/v1/projects/APOLLO/issues', key, { title: 'x' });
      const path = `/v1/projects/APOLLO/issues/${issue.key}`;
      const [patched, deleted] = await Promise.all([
        service.call('PATCH', path, key, { status: 'resolved', resolution: 'fixed' }),
        service.call('DELETE', path, key, undefined, { 'if-match': '"1"' }),
      ]);
      assert.ok(patched.status === 200 ? deleted.status === 412 : deleted.status === 204);
    }
    assert.equal((await service.get('/v1/projects/APOLLO', key)).body.counts.open_issues, 0);
  });

  test('concurrent updates of one project and concurrent creations with the same name all succeed', async (t) => {
    const service = await start(t);
    const key = await service.key('projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const numbers = Array.from({ length: 30 }, (_, i) => i);
    const patched = await Promise.all(
      numbers.map((n) =>
        service.call('PATCH', '/v1/projects/APOLLO', key, { attributes: { [`n${n}`]: 'x' } }),
      ),
    );
    assert.equal(count(patched, 200), 30);
    assert.equal(Object.keys((await service.get('/v1/projects/APOLLO', key)).body.attributes).length, 30);
    const created = await Promise.all(
      numbers.map(() => service.post('/v1/projects', key, { name: 'Same Name' })),
    );
    assert.equal(count(created, 201), 30);
    assert.equal(new Set(created.map(({ body }) => body.key)).size, 30);
  });

  test('a concurrent create and delete never leave an item without its parent', async (t) => {
    const service = await start(t);
    const key = await service.key('projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    for (let round = 0; round < 10; round++) {
      const risk = await service.make('/v1/projects/APOLLO/risks', key, { title: 'x' });
      const [task, deleted] = await Promise.all([
        service.post('/v1/projects/APOLLO/tasks', key, { title: 'x', risk_id: risk.id }),
        service.call('DELETE', `/v1/projects/APOLLO/risks/${risk.key}`, key),
      ]);
      assert.ok(task.status === 201 ? deleted.status === 409 : task.status === 422 && deleted.status === 204);
      const project = await service.make('/v1/projects', key, { name: `P${round}`, key: `P${round}` });
      const [added, gone] = await Promise.all([
        service.post(`/v1/projects/${project.id}/risks`, key, { title: 'x' }),
        service.call('DELETE', `/v1/projects/${project.id}`, key),
      ]);
      assert.ok(added.status === 201 ? gone.status === 409 : added.status === 404 && gone.status === 204);
    }
  });

  test('item keys start with the project key after a concurrent key change', async (t) => {
    const service = await start(t);
    const key = await service.key('projects.manage');
    for (let round = 0; round < 10; round++) {
      const { id } = await service.make('/v1/projects', key, { name: `P${round}`, key: `P${round}` });
      await Promise.all([
        service.post(`/v1/projects/${id}/risks`, key, { title: 'x' }),
        service.call('PATCH', `/v1/projects/${id}`, key, { key: `X${round}` }),
      ]);
      const { data } = (await service.get(`/v1/projects/${id}/risks`, key)).body;
      const project = (await service.get(`/v1/projects/${id}`, key)).body;
      for (const risk of data)
        assert.ok(risk.key.startsWith(`${project.key}-`), `${risk.key} in ${project.key}`);
    }
  });
});
