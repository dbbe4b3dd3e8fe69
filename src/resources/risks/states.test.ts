import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settableClock } from '../../../test/clock.ts';
import { onBothEngines, pluck, type TestService } from '../../../test/service.ts';
import { riskTransitions } from './rules/transitions.ts';
import type { Risk } from './schema.ts';

const statuses = Object.keys(riskTransitions) as Risk['status'][];

/** The patch that moves a risk to a status, with the fields that it requires. */
const bodyFor = (status: string) => ({
  status,
  ...(status === 'accepted' && { acceptance_reason: 'Insured.', accepted_until: '2026-12-01' }),
  ...(status === 'closed' && { closure_reason: 'Gone.' }),
  ...(status === 'open' && { reason: 'It is back.' }),
});

onBothEngines('risk transitions', (start) => {
  test('every pair of statuses: allowed transitions succeed; other transitions are rejected with the allowed ones', async (t) => {
    const { key, patch, materialize, make } = await begin(t, start);
    for (const from of statuses) {
      for (const to of statuses.filter((status) => status !== from)) {
        const risk = await make();
        if (from === 'materialized') await materialize(risk.key);
        else if (from !== 'open') assert.equal((await patch(risk.key, bodyFor(from))).status, 200, from);
        const response = await (to === 'materialized' ? materialize(risk.key) : patch(risk.key, bodyFor(to)));
        const allowed = riskTransitions[from].includes(to);
        assert.equal(response.status, allowed ? (to === 'materialized' ? 201 : 200) : 409, `${from} → ${to}`);
        if (allowed) continue;
        const { code, from: was, to: target, allowed: transitions } = response.body;
        assert.deepEqual(
          [code, was, target, transitions],
          ['invalid_transition', from, to, riskTransitions[from]],
        );
      }
    }
    assert.ok(key);
  });

  test('each status requires its own fields', async (t) => {
    const { patch, make } = await begin(t, start);
    const errors = async (body: object, from: object = {}) => {
      const risk = await make();
      if ('status' in from) assert.equal((await patch(risk.key, from)).status, 200);
      const response = await patch(risk.key, body);
      assert.equal(response.status, 422, response.text);
      return response.body.errors.map(
        ({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`,
      );
    };
    assert.deepEqual(await errors({ status: 'accepted' }), [
      '#/acceptance_reason required',
      '#/accepted_until required',
    ]);
    const accepted = (accepted_until: string) => ({
      status: 'accepted',
      acceptance_reason: 'x',
      accepted_until,
    });
    assert.deepEqual(await errors(accepted('2026-11-14')), ['#/accepted_until in_the_past']);
    assert.deepEqual(await errors(accepted('2027-11-16')), ['#/accepted_until too_far']);
    assert.deepEqual(await errors({ status: 'closed' }), ['#/closure_reason required']);
    assert.deepEqual(await errors({ status: 'open' }, bodyFor('closed')), ['#/reason required']);
    assert.deepEqual(await errors({ accepted_until: '2026-12-01' }), ['#/accepted_until not_accepted']);
    assert.deepEqual(await errors({ closure_reason: 'x' }), ['#/closure_reason not_closed']);
    assert.deepEqual(await errors({ status: 'materialized' }), ['#/status own_action']);
    assert.deepEqual(await errors({ title: null }), ['#/title type']);
    assert.deepEqual(await errors({ score: 25 }), ['#/score unknown_field']);
  });

  test('materialize creates an issue with a severity from the impact, and links both', async (t) => {
    const { service, key, materialize, make, read } = await begin(t, start);
    const severities = [];
    for (const impact of [5, 4, 3, 2, 1]) {
      const risk = await make({ impact, probability: 3, description: 'Oh dear.' });
      const { body, headers } = await materialize(risk.key, { priority: 'urgent' });
      severities.push(body.issue.severity);
      assert.equal(body.risk.status, 'materialized');
      assert.deepEqual(body.risk.issue_ids, [body.issue.id]);
      assert.deepEqual(
        [body.issue.risk_id, body.issue.title, body.issue.priority],
        [risk.id, risk.title, 'urgent'],
      );
      const at = new URL(headers.get('location') ?? '').pathname;
      assert.deepEqual((await service.get(at, key)).body, body.issue);
      assert.deepEqual(await read(risk.key), body.risk);
    }
    assert.deepEqual(severities, ['critical', 'high', 'medium', 'low', 'low']);
    const twice = await make();
    await materialize(twice.key);
    assert.equal((await materialize(twice.key)).body.code, 'invalid_transition');
    const refused = await make();
    const response = await materialize(refused.key, { assignee_user_id: 'usr_00000000000000000000000000' });
    assert.equal(response.status, 422);
    assert.equal((await read(refused.key)).status, 'open');
  });

  test('materialize moves the open tasks of the risk to the issue on request', async (t) => {
    const { service, key, materialize, make, read } = await begin(t, start);
    const addTask = (risk_id: string, body: object = {}) =>
      service.make('/v1/projects/APOLLO/tasks', key, {
        title: 'Order',
        kind: 'mitigation',
        risk_id,
        ...body,
      });
    const readTask = async ({ id }: { id: string }) =>
      (await service.get(`/v1/projects/APOLLO/tasks/${id}`, key)).body;
    const risk = await make();
    const elsewhere = await service.make('/v1/projects/APOLLO/issues', key, { title: 'Another issue' });
    const [open, work, done, shared] = [
      await addTask(risk.id),
      await addTask(risk.id, { kind: 'work', status: 'blocked' }),
      await addTask(risk.id, { status: 'done' }),
      await addTask(risk.id, { issue_id: elsewhere.id }),
    ];
    const untouched = await addTask((await make()).id);
    const { body } = await materialize(risk.key, { move_tasks: true, reason: 'The strike began.' });
    assert.equal(body.moved_tasks, 2);
    assert.deepEqual([body.risk.tasks_total, body.risk.tasks_done], [2, 1]);
    assert.deepEqual(await read(risk.key), body.risk);
    const moved = [await readTask(open), await readTask(work)];
    assert.deepEqual(pluck(moved, 'risk_id', 'issue_id', 'kind', 'version'), [
      [null, body.issue.id, 'resolution', 2],
      [null, body.issue.id, 'work', 2],
    ]);
    for (const task of [done, shared, untouched]) assert.deepEqual(await readTask(task), task);
    const history = await service.list(`/v1/projects/APOLLO/tasks/${open.id}/history`, key);
    assert.deepEqual(pluck(history, 'field', 'reason').slice(1).sort(), [
      ['issue_id', 'The strike began.'],
      ['kind', 'The strike began.'],
      ['risk_id', 'The strike began.'],
    ]);
    const events = await service.list('/v1/events?types=task.updated', key);
    assert.deepEqual(pluck(events, 'subject.key', 'data.issue_id').sort(), [
      [open.key, body.issue.id],
      [work.key, body.issue.id],
    ]);

    // Without it they stay, and nothing is moved if the issue is refused.
    const kept = await make();
    const task = await addTask(kept.id);
    await materialize(kept.key, { move_tasks: true, assignee_user_id: 'usr_00000000000000000000000000' });
    assert.deepEqual(await readTask(task), task);
    assert.equal('moved_tasks' in (await materialize(kept.key)).body, false);
    assert.deepEqual(await readTask(task), task);
  });

  test('the initial score is that of the first assessment since the risk was unassessed', async (t) => {
    const { service, key, clock, patch, make, read } = await begin(t, start);
    const risk = await make({ probability: null, impact: null });
    const initialScoreAfter = async (body: object) => (await patch(risk.key, body)).body.initial_score;
    assert.equal(await initialScoreAfter({ probability: 5, impact: 4 }), 20);
    assert.equal(await initialScoreAfter({ probability: 1 }), 20);
    clock.set('2026-11-16T12:00:00Z');
    assert.equal(await initialScoreAfter({ probability: null, impact: null }), null);
    assert.equal(await initialScoreAfter({ probability: 2, impact: 2 }), 4);
    assert.equal(await initialScoreAfter({ impact: 5 }), 4);
    assert.equal((await read(risk.key)).initial_score, 4);
    const { body } = await service.get('/v1/risks?as_of=2026-11-15', key);
    assert.deepEqual(pluck(body.data, 'initial_score'), [20]);
    const events = await service.list('/v1/events?types=risk.score_changed', key);
    assert.deepEqual(
      events.map(({ previous }: { previous: Partial<Risk> }) => previous.initial_score),
      [null, 20, null],
    );
  });

  test('can be deleted only without issues and tasks', async (t) => {
    const { service, key, make, materialize } = await begin(t, start);
    const risk = await make();
    const { body } = await materialize(risk.key);
    const path = `/v1/projects/APOLLO/risks/${risk.key}`;
    const refused = await service.delete(path, key);
    assert.equal(refused.status, 409);
    assert.deepEqual(refused.body.used_by, { issues: { count: 1, samples: [body.issue.key] } });
    assert.equal((await service.delete(`/v1/projects/APOLLO/issues/${body.issue.key}`, key)).status, 204);
    assert.equal((await service.delete(path, key)).status, 204);
    assert.equal((await service.get(path, key)).status, 404);
    const next = await make();
    assert.notEqual(next.key, risk.key);
  });

  test('concurrent updates all succeed, one after another', async (t) => {
    const { make, patch, read } = await begin(t, start);
    const risk = await make({ attributes: {} });
    const names = Array.from({ length: 5 }, (_, i) => `n${i}`);
    await Promise.all(names.map((name) => patch(risk.key, { attributes: { [name]: 'x' } })));
    const { version, attributes } = await read(risk.key);
    assert.deepEqual(Object.keys(attributes).sort(), names);
    assert.equal(version, 6);
  });
});

type Start = Parameters<Parameters<typeof onBothEngines>[1]>[0];

async function begin(t: Parameters<Start>[0], start: Start) {
  const clock = settableClock('2026-11-15T12:00:00Z');
  const service: TestService = await start(t, { clock });
  const key = await service.key();
  await service.make('/v1/projects', key, { name: 'Apollo' });
  const path = (risk: string) => `/v1/projects/APOLLO/risks/${risk}`;
  return {
    service,
    clock,
    key,
    make: (body: object = {}) =>
      service.make('/v1/projects/APOLLO/risks', key, { title: 'Valves', probability: 2, impact: 2, ...body }),
    patch: (risk: string, body: object) => service.patch(path(risk), key, body),
    materialize: (risk: string, body: object = {}) => service.post(`${path(risk)}/materialize`, key, body),
    read: async (risk: string) => (await service.get(path(risk), key)).body,
  };
}
