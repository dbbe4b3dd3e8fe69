import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines } from '../../../test/service.ts';

type Answers = { status: number }[];

onBothEngines('races', (start) => {
  const count = (answers: Answers, status: number) =>
    answers.filter((answer) => answer.status === status).length;

  test('one of many deletions happens, and is counted once', async (t) => {
    const service = await start(t);
    const key = await service.key('projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    for (const what of ['issues', 'risks', 'tasks']) {
      const made = await service.make(`/v1/projects/APOLLO/${what}`, key, { title: 'x' });
      const path = `/v1/projects/APOLLO/${what}/${made.key}`;
      const answers = await Promise.all(Array.from({ length: 8 }, () => service.call('DELETE', path, key)));
      assert.deepEqual([count(answers, 204), count(answers, 404)], [1, 7], what);
    }
    const { counts } = (await service.get('/v1/projects/APOLLO', key)).body;
    assert.deepEqual([counts.open_issues, counts.active_risks], [0, 0]);
  });

  test('a deletion for a version does not delete another', async (t) => {
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

  test('many changes of one thing, and many things of one name, all find their turn', async (t) => {
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
    const made = await Promise.all(
      numbers.map(() => service.post('/v1/projects', key, { name: 'Same Name' })),
    );
    assert.equal(count(made, 201), 30);
    assert.equal(new Set(made.map(({ body }) => body.key)).size, 30);
  });

  test('what is deleted takes nothing with it, and what is added to it is either there or refused', async (t) => {
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

  test('the key of a project and the keys of what is in it agree', async (t) => {
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
