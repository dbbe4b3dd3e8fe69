import assert from 'node:assert/strict';
import { test } from 'node:test';
import { momentOf } from '../clock.ts';
import { onBothEngines } from '../testing/service.ts';

const clock = () => momentOf(new Date('2026-11-15T12:00:00Z'));

onBothEngines('projects', (start) => {
  test('makes a key from the name, and another when that is taken', async (t) => {
    const service = await start(t);
    const key = await service.key('projects.manage');
    const keys = [];
    for (const name of ['Apollo', 'Apollo 2', 'Große Brücke über den Fluss', 'Ω', 'Internationalisation']) {
      keys.push((await service.make('/v1/projects', key, { name })).key);
    }
    assert.deepEqual(keys, ['APOLLO', 'APOLLO2', 'GROSSE', 'PRJ', 'INTERNATIO']);
    const taken = await service.post('/v1/projects', key, { name: 'Other', key: 'APOLLO' });
    assert.equal(taken.status, 409);
    assert.equal(taken.body.field, 'key');
  });

  test('is found by id and by key, with its counts', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key('projects.manage');
    const made = await service.make('/v1/projects', key, { name: 'Apollo' });
    assert.deepEqual(made.counts, {
      open_issues: 0,
      active_risks: 0,
      unassessed_risks: 0,
      top_score: null,
      overdue_tasks: 0,
    });
    await service.make('/v1/projects/APOLLO/risks', key, { title: 'A', probability: 4, impact: 5 });
    await service.make(`/v1/projects/${made.id}/risks`, key, { title: 'B' });
    await service.make('/v1/projects/APOLLO/issues', key, { title: 'C' });
    const { body } = await service.get('/v1/projects/APOLLO', key);
    assert.deepEqual(body.counts, {
      open_issues: 1,
      active_risks: 2,
      unassessed_risks: 1,
      top_score: 20,
      overdue_tasks: 0,
    });
    assert.deepEqual((await service.get('/v1/projects', key)).body.data, [body]);
  });

  test('an archived project takes nothing in and is left out unless asked for', async (t) => {
    const service = await start(t);
    const key = await service.key('projects.manage');
    const { id } = await service.make('/v1/projects', key, { name: 'Apollo' });
    await service.make('/v1/projects/APOLLO/risks', key, { title: 'Old', probability: 1, impact: 1 });
    await service.make('/v1/projects/APOLLO/issues', key, { title: 'Old' });
    await service.database.write((db) =>
      db.updateTable('projects').set({ archived_at: clock().now }).where('id', '=', id).execute(),
    );
    for (const what of ['risks', 'issues']) {
      const answer = await service.post(`/v1/projects/${id}/${what}`, key, { title: 'New' });
      assert.equal(answer.status, 409);
      assert.equal(answer.body.code, 'project_archived');
      assert.equal((await service.get(`/v1/${what}`, key)).body.page.total, 0);
      assert.equal((await service.get(`/v1/${what}?archived=any`, key)).body.page.total, 1);
      assert.equal((await service.get(`/v1/${what}?archived=true`, key)).body.page.total, 1);
    }
    assert.equal((await service.get('/v1/projects', key)).body.page.total, 0);
    assert.equal((await service.get('/v1/projects?archived=any', key)).body.page.total, 1);
  });
});
