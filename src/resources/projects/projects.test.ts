import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines } from '../../../test/service.ts';
import { momentOf } from '../../core/clock.ts';
import { generateKey } from './key.ts';

const clock = () => momentOf(new Date('2026-11-15T12:00:00Z'));

onBothEngines('projects', (start) => {
  test('derives a unique key from the name', async (t) => {
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

  test('derives a key with few queries, however many names start with the same word', async (t) => {
    const service = await start(t);
    const key = await service.key('projects.manage');
    const file = Array.from({ length: 300 }, (_, i) => JSON.stringify({ name: `Project ${i + 1}` }));
    const headers = { 'content-type': 'application/x-ndjson' };
    const imported = await service.post('/v1/projects/import', key, file.join('\n'), headers);
    assert.equal(imported.body.summary.created, 300, imported.text);
    const { data } = (await service.get('/v1/projects', key)).body as { data: { key: string }[] };
    const expected = ['PROJECT', ...Array.from({ length: 299 }, (_, i) => `PROJECT${i + 2}`)];
    assert.deepEqual(data.map((project) => project.key).sort(), expected.sort());
    // Each number that is tried is one query.
    let tried = 0;
    const takenKeys = new (class extends Set<string | undefined> {
      override has(value: string | undefined): boolean {
        tried++;
        return super.has(value);
      }
    })();
    const next = await service.database.write((db) => generateKey(db, 'Project 301', takenKeys));
    assert.equal(next, 'PROJECT301');
    assert.ok(tried < 20, String(tried));
  });

  test('returns a project with its counts by id and by key', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key('projects.manage');
    const created = await service.make('/v1/projects', key, { name: 'Apollo' });
    assert.deepEqual(created.counts, {
      open_issues: 0,
      active_risks: 0,
      unassessed_risks: 0,
      top_score: null,
      overdue_tasks: 0,
    });
    await service.make('/v1/projects/APOLLO/risks', key, { title: 'A', probability: 4, impact: 5 });
    await service.make(`/v1/projects/${created.id}/risks`, key, { title: 'B' });
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

  test('an archived project rejects new items and is left out of lists by default', async (t) => {
    const service = await start(t);
    const key = await service.key('projects.manage');
    const { id } = await service.make('/v1/projects', key, { name: 'Apollo' });
    await service.make('/v1/projects/APOLLO/risks', key, { title: 'Old', probability: 1, impact: 1 });
    await service.make('/v1/projects/APOLLO/issues', key, { title: 'Old' });
    await service.database.write((db) =>
      db.updateTable('projects').set({ archived_at: clock().now }).where('id', '=', id).execute(),
    );
    for (const what of ['risks', 'issues']) {
      const response = await service.post(`/v1/projects/${id}/${what}`, key, { title: 'New' });
      assert.equal(response.status, 409);
      assert.equal(response.body.code, 'project_archived');
      assert.equal((await service.get(`/v1/${what}`, key)).body.page.total, 0);
      assert.equal((await service.get(`/v1/${what}?archived=any`, key)).body.page.total, 1);
      assert.equal((await service.get(`/v1/${what}?archived=true`, key)).body.page.total, 1);
    }
    assert.equal((await service.get('/v1/projects', key)).body.page.total, 0);
    assert.equal((await service.get('/v1/projects?archived=any', key)).body.page.total, 1);
  });
});

onBothEngines('project updates', (start) => {
  test('updates are recorded in the history; a key in use cannot change', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key('projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo', attributes: { a: '1' } });
    const patch = (ref: string, body: object) => service.call('PATCH', `/v1/projects/${ref}`, key, body);
    const { body } = await patch('APOLLO', {
      name: 'Artemis',
      key: 'ARTEMIS',
      appetite: 9,
      reason: 'Renamed.',
    });
    assert.deepEqual([body.key, body.name, body.appetite, body.version], ['ARTEMIS', 'Artemis', 9, 2]);
    assert.equal((await service.get('/v1/projects?q=artem', key)).body.page.total, 1);
    await service.make('/v1/projects/ARTEMIS/risks', key, { title: 'x' });
    const fixed = await patch('ARTEMIS', { key: 'OTHER' });
    assert.deepEqual([fixed.status, fixed.body.errors[0].code], [422, 'fixed']);
    const wrong = await patch('ARTEMIS', { start_on: '2026-02-01', due_on: '2026-01-01' });
    assert.equal(wrong.body.errors[0].code, 'date_order');

    const history = (await service.get('/v1/projects/ARTEMIS/history', key)).body.data;
    assert.deepEqual(
      history.map(({ field, from, to, reason, key_name }: Record<string, unknown>) => [
        field,
        from,
        to,
        reason,
        key_name,
      ]),
      [
        ['created', null, 'APOLLO', null, 'projects.manage'],
        ['name', 'Apollo', 'Artemis', 'Renamed.', 'projects.manage'],
        ['key', 'APOLLO', 'ARTEMIS', 'Renamed.', 'projects.manage'],
        ['appetite', 12, 9, 'Renamed.', 'projects.manage'],
      ],
    );
  });

  test('can be archived and unarchived, and deleted only when empty', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key('projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const risk = await service.make('/v1/projects/APOLLO/risks', key, { title: 'x' });
    const act = (action: string) => service.post(`/v1/projects/APOLLO/${action}`, key, undefined);
    assert.equal((await act('archive')).body.archived_at, clock().now);
    assert.equal((await act('archive')).body.version, 2);
    const path = `/v1/projects/APOLLO/risks/${risk.key}`;
    for (const response of [
      await service.call('PATCH', path, key, { impact: 1 }),
      await service.call('DELETE', path, key),
      await service.post(`${path}/materialize`, key, {}),
      await service.call('PATCH', '/v1/projects/APOLLO', key, { name: 'x' }),
    ]) {
      assert.equal(response.body.code, 'project_archived');
    }
    assert.equal((await act('unarchive')).body.archived_at, null);
    const refused = await service.call('DELETE', '/v1/projects/APOLLO', key);
    assert.deepEqual(refused.body.used_by, { risks: { count: 1, samples: ['APOLLO-R1'] } });
    assert.equal((await service.call('DELETE', path, key)).status, 204);
    assert.equal((await service.call('DELETE', '/v1/projects/APOLLO', key)).status, 204);
    assert.equal((await service.get('/v1/projects/APOLLO', key)).status, 404);
  });

  test('report their health with reasons', async (t) => {
    const service = await start(t, { clock });
    const key = await service.key('projects.manage');
    const health = async (name: string) => (await service.get(`/v1/projects/${name}`, key)).body.health;
    const make = (what: string, body: object) =>
      service.make(`/v1/projects/APOLLO/${what}`, key, { title: 'x', ...body });
    await service.make('/v1/projects', key, { name: 'Apollo' });
    assert.deepEqual(await health('APOLLO'), {
      state: 'unknown',
      reasons: ['No assessed risks and no open issues'],
    });
    await make('risks', { probability: 2, impact: 2 });
    assert.deepEqual(await health('APOLLO'), { state: 'on_track', reasons: [] });
    await make('risks', { probability: 4, impact: 4 });
    await make('issues', { severity: 'critical' });
    assert.deepEqual(await health('APOLLO'), {
      state: 'at_risk',
      reasons: ['1 risk above appetite 12, highest APOLLO-R2 at 16', '1 critical issue open'],
    });
    await make('risks', { probability: 5, impact: 4 });
    await make('tasks', { due_on: '2026-11-14' });
    await make('tasks', { due_on: '2026-11-14' });
    assert.deepEqual(await health('APOLLO'), {
      state: 'off_track',
      reasons: [
        '2 risks above appetite 12, highest APOLLO-R3 at 20',
        '1 critical issue open',
        '2 of 2 open tasks overdue',
      ],
    });
    // A fifth of the open tasks makes a difference, less does not.
    await service.make('/v1/projects', key, { name: 'Mercury' });
    const makeMercury = (what: string, body: object = {}) =>
      service.make(`/v1/projects/MERCURY/${what}`, key, { title: 'x', ...body });
    await makeMercury('risks', { probability: 2, impact: 2 });
    await makeMercury('tasks', { due_on: '2026-11-14' });
    for (let i = 0; i < 4; i++) await makeMercury('tasks');
    const late = { state: 'at_risk', reasons: ['1 of 5 open tasks overdue'] };
    assert.deepEqual(await health('MERCURY'), late);
    await makeMercury('tasks');
    assert.deepEqual(await health('MERCURY'), { state: 'on_track', reasons: [] });
    await service.make('/v1/projects', key, { name: 'Gemini', due_on: '2026-11-14' });
    assert.deepEqual((await health('GEMINI')).reasons[0], 'Was due on 2026-11-14');
  });
});
