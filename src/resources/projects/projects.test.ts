import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settableClock } from '../../../test/clock.ts';
import { onBothEngines, pluck, withKey } from '../../../test/service.ts';
import { momentOf } from '../../core/clock.ts';
import { generateKey } from './key.ts';

const clock = () => momentOf(new Date('2026-11-15T12:00:00Z'));

onBothEngines('projects', (start) => {
  test('derives a unique key from the name', async (t) => {
    const { service, key } = await withKey(start(t), 'projects.manage');
    const keys = [];
    for (const name of ['Apollo', 'Apollo 2', 'Große Brücke über den Fluss', 'Ω', 'Internationalisation']) {
      keys.push((await service.make('/v1/projects', key, { name })).key);
    }
    assert.deepEqual(keys, ['APOLLO', 'APOLLO2', 'GROSSE', 'PRJ', 'INTERNATIO']);
    const taken = await service.post('/v1/projects', key, { name: 'Other', key: 'APOLLO' });
    assert.deepEqual([taken.status, taken.body.field], [409, 'key']);
  });

  test('derives a key with few queries, however many names start with the same word', async (t) => {
    const { service, key } = await withKey(start(t), 'projects.manage');
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
    const { service, key } = await withKey(start(t, { clock }), 'projects.manage');
    const created = await service.make('/v1/projects', key, { name: 'Apollo' });
    assert.deepEqual(created.counts, {
      open_issues: 0,
      active_risks: 0,
      unassessed_risks: 0,
      top_score: null,
      top_level: null,
      opportunities: 0,
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
      top_level: 'critical',
      opportunities: 0,
      overdue_tasks: 0,
    });
    assert.deepEqual(await service.list('/v1/projects', key), [body]);
  });
});

onBothEngines('project updates', (start) => {
  test('updates are recorded in the history; a key in use cannot change', async (t) => {
    const { service, key } = await withKey(start(t, { clock }), 'projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo', attributes: { a: '1' } });
    const patch = (ref: string, body: object) => service.patch(`/v1/projects/${ref}`, key, body);
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

    const history = await service.list('/v1/projects/ARTEMIS/history', key);
    assert.deepEqual(pluck(history, 'field', 'from', 'to', 'reason', 'actor.name'), [
      ['created', null, 'APOLLO', null, 'projects.manage'],
      ['name', 'Apollo', 'Artemis', 'Renamed.', 'projects.manage'],
      ['key', 'APOLLO', 'ARTEMIS', 'Renamed.', 'projects.manage'],
      ['appetite', 12, 9, 'Renamed.', 'projects.manage'],
    ]);
  });

  test('can be archived and unarchived, and deleted only when empty', async (t) => {
    const { service, key } = await withKey(start(t, { clock }), 'projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const risk = await service.make('/v1/projects/APOLLO/risks', key, { title: 'x' });
    const act = (action: string) => service.post(`/v1/projects/APOLLO/${action}`, key, undefined);
    const archived = (await act('archive')).body;
    assert.equal(archived.archived_at, archived.updated_at);
    assert.equal((await act('archive')).body.version, 2);
    const path = `/v1/projects/APOLLO/risks/${risk.key}`;
    for (const response of [
      await service.patch(path, key, { impact: 1 }),
      await service.delete(path, key),
      await service.post(`${path}/materialize`, key, {}),
      await service.patch('/v1/projects/APOLLO', key, { name: 'x' }),
    ]) {
      assert.equal(response.body.code, 'project_archived');
    }
    assert.equal((await act('unarchive')).body.archived_at, null);
    const refused = await service.delete('/v1/projects/APOLLO', key);
    assert.deepEqual(refused.body.used_by, { risks: { count: 1, samples: ['APOLLO-R1'] } });
    assert.equal((await service.delete(path, key)).status, 204);
    assert.equal((await service.delete('/v1/projects/APOLLO', key)).status, 204);
    assert.equal((await service.get('/v1/projects/APOLLO', key)).status, 404);
  });

  test('report their health with reasons', async (t) => {
    const { service, key } = await withKey(start(t, { clock }), 'projects.manage');
    const health = async (name: string) => (await service.get(`/v1/projects/${name}`, key)).body.health;
    const make = (what: string, body: object) =>
      service.make(`/v1/projects/APOLLO/${what}`, key, { title: 'x', ...body });
    await service.make('/v1/projects', key, { name: 'Apollo' });
    assert.deepEqual(await health('APOLLO'), {
      state: 'unknown',
      reasons: ['No assessed risks and no open issues'],
      warnings: [],
    });
    await make('risks', { probability: 2, impact: 2 });
    assert.deepEqual(await health('APOLLO'), { state: 'on_track', reasons: [], warnings: [] });
    await make('risks', { probability: 4, impact: 4 });
    await make('issues', { severity: 'critical' });
    assert.deepEqual(await health('APOLLO'), {
      state: 'at_risk',
      reasons: [
        '1 of 2 assessed risks above appetite 12, highest APOLLO-R2 at 16',
        '1 of 1 open issue critical',
      ],
      warnings: [],
    });
    await make('risks', { probability: 5, impact: 4 });
    await make('tasks', { due_on: '2026-11-14' });
    await make('tasks', { due_on: '2026-11-14' });
    await make('issues', { severity: 'critical', raised_on: '2026-11-01', due_on: '2026-11-14' });
    assert.deepEqual(await health('APOLLO'), {
      state: 'off_track',
      reasons: [
        'No response plan for critical risk APOLLO-R3',
        '2 of 3 assessed risks above appetite 12, highest APOLLO-R3 at 20',
        '1 critical issue overdue',
        '2 of 2 open issues critical',
        '2 of 2 open tasks overdue',
      ],
      warnings: [],
    });
    await service.make('/v1/projects', key, { name: 'Gemini', due_on: '2026-11-14' });
    assert.deepEqual((await health('GEMINI')).reasons[0], 'Was due on 2026-11-14');
  });

  test('are at risk from a quarter of what is open, and warn below it', async (t) => {
    const { service, key } = await withKey(start(t, { clock }), 'projects.manage');
    await service.make('/v1/projects', key, { name: 'Mercury' });
    const make = async (what: string, body: object, count = 1) => {
      for (let i = 0; i < count; i++)
        await service.make(`/v1/projects/MERCURY/${what}`, key, { title: 'x', ...body });
    };
    const health = async () => (await service.get('/v1/projects/MERCURY', key)).body.health;
    const warnings: string[] = [];
    const low = { probability: 1, impact: 1 };
    for (const [what, bad, good, sign, highest] of [
      [
        'risks',
        { probability: 4, impact: 4 },
        low,
        'assessed risks above appetite 12',
        ', highest MERCURY-R1 at 16',
      ],
      ['issues', { severity: 'critical', due_on: '2026-11-15' }, {}, 'open issues critical', ''],
      ['tasks', { due_on: '2026-11-14' }, {}, 'open tasks overdue', ''],
    ] as const) {
      await make(what, bad);
      await make(what, good, 3);
      assert.deepEqual(await health(), { state: 'at_risk', reasons: [`1 of 4 ${sign}${highest}`], warnings });
      await make(what, good);
      warnings.push(`1 of 5 ${sign}, below the threshold of a quarter`);
      assert.deepEqual(await health(), { state: 'on_track', reasons: [], warnings }, what);
    }
    // A critical issue that is late counts alone.
    await make('issues', { severity: 'critical', raised_on: '2026-11-01', due_on: '2026-11-14' });
    await make('issues', {}, 3);
    warnings[1] = '2 of 9 open issues critical, below the threshold of a quarter';
    assert.deepEqual(await health(), { state: 'at_risk', reasons: ['1 critical issue overdue'], warnings });
  });

  test('are off track with a critical threat only if nobody has planned a response', async (t) => {
    const { service, key } = await withKey(start(t, { clock }), 'projects.manage');
    await service.make('/v1/projects', key, { name: 'Mercury' });
    const path = '/v1/projects/MERCURY/risks';
    for (let i = 0; i < 8; i++) await service.make(path, key, { title: 'x', probability: 1, impact: 1 });
    const critical = { title: 'x', probability: 5, impact: 5 };
    const { key: risk } = await service.make(path, key, critical);
    const health = async () => (await service.get('/v1/projects/MERCURY', key)).body.health;
    const reason = '1 of 9 assessed risks above appetite 12, highest MERCURY-R9 at 25';
    const unplanned = {
      state: 'off_track',
      reasons: ['No response plan for critical risk MERCURY-R9', reason],
      warnings: [],
    };
    const patch = (body: object) => service.patch(`${path}/${risk}`, key, body);
    assert.deepEqual(await health(), unplanned);
    await patch({ response_plan: 'A second supplier.' });
    assert.deepEqual(await health(), { state: 'at_risk', reasons: [reason], warnings: [] });
    await patch({ response_plan: null });
    assert.deepEqual(await health(), unplanned);
    await patch({ status: 'accepted', acceptance_reason: 'Insured.', accepted_until: '2026-12-31' });
    assert.deepEqual(await health(), { state: 'at_risk', reasons: [reason], warnings: [] });
    await patch({ status: 'open', kind: 'opportunity' });
    assert.deepEqual(await health(), { state: 'on_track', reasons: [], warnings: [] });
    await patch({ kind: 'threat' });
    await service.patch('/v1/projects/MERCURY', key, { appetite: 25 });
    assert.deepEqual(await health(), { state: 'on_track', reasons: [], warnings: [] });
  });

  test('are unarchived with the health that follows from reopened risks', async (t) => {
    const clock = settableClock('2026-11-15T12:00:00Z');
    const { service, key } = await withKey(start(t, { clock }));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    await service.make('/v1/projects/APOLLO/risks', key, { title: 'x', probability: 5, impact: 5 });
    const acceptance = { status: 'accepted', acceptance_reason: 'Insured.', accepted_until: '2026-11-20' };
    await service.patch('/v1/projects/APOLLO/risks/APOLLO-R1', key, acceptance);
    await service.post('/v1/projects/APOLLO/archive', key, {});
    clock.set('2026-12-01T12:00:00Z');
    const { next_after } = (await service.get('/v1/events', key)).body.meta;
    const { body } = await service.post('/v1/projects/APOLLO/unarchive', key, {});
    assert.equal(body.health.state, 'off_track');
    assert.deepEqual(body, (await service.get('/v1/projects/APOLLO', key)).body);
    const events = await service.list(`/v1/events?after=${next_after}`, key);
    const event = events.find(({ type }: { type: string }) => type.startsWith('project.'));
    assert.deepEqual(event.data.health, body.health);
  });

  test('count threats, with opportunities beside them, as the lists behind the numbers do', async (t) => {
    const { service, key } = await withKey(start(t, { clock }), 'projects.manage');
    await service.make('/v1/projects', key, { name: 'Mercury' });
    const path = '/v1/projects/MERCURY/risks';
    const make = (fields: object) => service.make(path, key, { title: 'x', ...fields });
    const opportunity = { kind: 'opportunity', probability: 5, impact: 5 };
    await make(opportunity);
    const read = async () => (await service.get('/v1/projects/MERCURY', key)).body;
    // No threat was assessed, so nothing is known of the health.
    assert.deepEqual((await read()).health.state, 'unknown');
    await make({ kind: 'opportunity' });
    const closed = await make(opportunity);
    await service.patch(`${path}/${closed.key}`, key, { status: 'closed', closure_reason: 'Missed.' });
    await make({ probability: 2, impact: 3 });
    await make({});
    const { counts, health } = await read();
    assert.deepEqual(health, { state: 'on_track', reasons: [], warnings: [] });
    assert.deepEqual(
      [counts.active_risks, counts.unassessed_risks, counts.top_score, counts.opportunities],
      [2, 1, 6, 2],
    );
    const listed = async (query: string) => (await service.list(`/v1/risks?${query}`, key)).length;
    assert.deepEqual(
      [
        await listed('kind=threat'),
        await listed('kind=threat&assessed=false'),
        await listed('kind=opportunity'),
        await listed('above_appetite=true'),
        await listed('check=above_appetite'),
      ],
      [2, 1, 2, 0, 0],
    );
    await make({ probability: 4, impact: 4 });
    assert.equal(await listed('above_appetite=true'), 1);
    const { body } = await service.get('/v1/risks/summary', key);
    const flagged = body.data.by_check.find(({ check }: { check: string }) => check === 'above_appetite');
    assert.equal(flagged.count, 1);
    assert.deepEqual((await read()).health.reasons, [
      '1 of 2 assessed risks above appetite 12, highest MERCURY-R6 at 16',
    ]);
    for (const [kind, count] of [
      ['threat', 3],
      ['opportunity', 2],
    ] as const) {
      const total = async (view: string) =>
        (await service.get(`/v1/risks/${view}?kind=${kind}`, key)).body.data;
      assert.equal((await total('summary')).total, count);
      const cells: { count: number }[] = await total('heatmap');
      assert.equal(
        cells.reduce((sum, cell) => sum + cell.count, 0),
        count - 1,
      );
      assert.equal((await total('trend')).at(-1).count, count);
    }
  });
});

onBothEngines('concurrent writes of projects and their items', (start) => {
  const count = (responses: { status: number }[], status: number) =>
    responses.filter((response) => response.status === status).length;

  test('one of many concurrent deletes succeeds and updates the counters once', async (t) => {
    const { service, key } = await withKey(start(t), 'projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    for (const what of ['issues', 'risks', 'tasks']) {
      const created = await service.make(`/v1/projects/APOLLO/${what}`, key, { title: 'x' });
      const path = `/v1/projects/APOLLO/${what}/${created.key}`;
      const responses = await Promise.all(Array.from({ length: 8 }, () => service.delete(path, key)));
      assert.deepEqual([count(responses, 204), count(responses, 404)], [1, 7], what);
    }
    const { counts } = (await service.get('/v1/projects/APOLLO', key)).body;
    assert.deepEqual([counts.open_issues, counts.active_risks], [0, 0]);
  });

  test('a delete with If-Match does not delete a newer version', async (t) => {
    const { service, key } = await withKey(start(t), 'projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    for (let round = 0; round < 10; round++) {
      const issue = await service.make('/v1/projects/APOLLO/issues', key, { title: 'x' });
      const path = `/v1/projects/APOLLO/issues/${issue.key}`;
      const [patched, deleted] = await Promise.all([
        service.patch(path, key, { status: 'resolved', resolution: 'fixed' }),
        service.delete(path, key, { 'if-match': '"1"' }),
      ]);
      assert.ok(patched.status === 200 ? deleted.status === 412 : deleted.status === 204);
    }
    assert.equal((await service.get('/v1/projects/APOLLO', key)).body.counts.open_issues, 0);
  });

  test('concurrent updates of one project and concurrent creations with the same name all succeed', async (t) => {
    const { service, key } = await withKey(start(t), 'projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const numbers = Array.from({ length: 30 }, (_, i) => i);
    const patched = await Promise.all(
      numbers.map((n) => service.patch('/v1/projects/APOLLO', key, { attributes: { [`n${n}`]: 'x' } })),
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
    const { service, key } = await withKey(start(t), 'projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    for (let round = 0; round < 10; round++) {
      const risk = await service.make('/v1/projects/APOLLO/risks', key, { title: 'x' });
      const [task, deleted] = await Promise.all([
        service.post('/v1/projects/APOLLO/tasks', key, { title: 'x', risk_id: risk.id }),
        service.delete(`/v1/projects/APOLLO/risks/${risk.key}`, key),
      ]);
      assert.ok(task.status === 201 ? deleted.status === 409 : task.status === 422 && deleted.status === 204);
      const project = await service.make('/v1/projects', key, { name: `P${round}`, key: `P${round}` });
      const [added, gone] = await Promise.all([
        service.post(`/v1/projects/${project.id}/risks`, key, { title: 'x' }),
        service.delete(`/v1/projects/${project.id}`, key),
      ]);
      assert.ok(added.status === 201 ? gone.status === 409 : added.status === 404 && gone.status === 204);
    }
  });

  test('item keys start with the project key after a concurrent key change', async (t) => {
    const { service, key } = await withKey(start(t), 'projects.manage');
    for (let round = 0; round < 10; round++) {
      const { id } = await service.make('/v1/projects', key, { name: `P${round}`, key: `P${round}` });
      await Promise.all([
        service.post(`/v1/projects/${id}/risks`, key, { title: 'x' }),
        service.patch(`/v1/projects/${id}`, key, { key: `X${round}` }),
      ]);
      const data = await service.list(`/v1/projects/${id}/risks`, key);
      const project = (await service.get(`/v1/projects/${id}`, key)).body;
      for (const risk of data)
        assert.ok(risk.key.startsWith(`${project.key}-`), `${risk.key} in ${project.key}`);
    }
  });
});
