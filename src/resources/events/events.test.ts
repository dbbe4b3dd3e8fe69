import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settableClock } from '../../../test/clock.ts';
import { onBothEngines, type TestService } from '../../../test/service.ts';
import type { Event } from './schema.ts';

const listEvents = async ({ get }: TestService, key: string, query = ''): Promise<Event[]> => {
  const { status, body, text } = await get(`/v1/events${query}`, key);
  assert.equal(status, 200, text);
  return body.data;
};

onBothEngines('events', (start) => {
  test('each change appends one event with the resource as its GET returns it', async (t) => {
    const service = await start(t);
    const { make, call, get } = service;
    const key = await service.key();
    const person = await make('/v1/personnel', key, { name: 'Ada', title: 'Engineer' });
    const path = `/v1/personnel/${person.user_id}`;
    const { body: renamed } = await call('PATCH', path, key, { name: 'Ada L.', title: null });
    await call('PATCH', path, key, { name: 'Ada L.' });
    assert.deepEqual((await get(path, key)).body, renamed);
    assert.equal((await call('DELETE', path, key)).status, 204);

    const events = await listEvents(service, key, `?subject=${person.user_id}`);
    assert.deepEqual(
      events.map(({ type, previous }) => ({ type, previous })),
      [
        { type: 'person.created', previous: {} },
        { type: 'person.updated', previous: { name: 'Ada', title: 'Engineer' } },
        { type: 'person.deleted', previous: {} },
      ],
    );
    assert.deepEqual(
      events.map(({ data }) => data),
      [person, renamed, renamed],
    );
    const { body: me } = await get('/v1/me', key);
    const [first] = events;
    assert.deepEqual(first?.actor, { key_id: me.key_id, name: me.name });
    assert.deepEqual(first?.subject, { type: 'person', id: person.user_id, key: null });
    assert.equal(first?.at, person.created_at);
    const sequences = events.map(({ sequence }) => sequence);
    assert.deepEqual(
      sequences,
      sequences.toSorted((a, b) => a - b),
    );
  });

  test('risks, issues and tasks have the most specific type of event', async (t) => {
    const service = await start(t, { clock: settableClock('2026-03-01T12:00:00Z') });
    const { make, call } = service;
    const key = await service.key();
    await make('/v1/projects', key, { name: 'Apollo', key: 'APOLLO' });
    const risk = await make('/v1/projects/APOLLO/risks', key, { title: 'Leak' });
    const patch = async (path: string, ...bodies: object[]) => {
      for (const body of bodies) {
        const { status, text } = await call('PATCH', `/v1/projects/APOLLO/${path}`, key, body);
        assert.equal(status, 200, text);
      }
    };
    await patch(
      `risks/${risk.key}`,
      { category: 'pipes' },
      { probability: 2, impact: 2 },
      { probability: 1 },
      { impact: 5, probability: 5 },
      { impact: 2 },
      { status: 'accepted', acceptance_reason: 'cheap', accepted_until: '2026-04-01' },
      { status: 'closed', closure_reason: 'fixed', probability: 5 },
      { status: 'open', reason: 'again' },
    );
    const { body } = await call('POST', `/v1/projects/APOLLO/risks/${risk.key}/materialize`, key, {});
    await patch(
      `issues/${body.issue.key}`,
      { priority: 'urgent' },
      { status: 'resolved', resolution: 'fixed' },
      { status: 'closed' },
      { status: 'open', reason: 'again' },
    );
    const task = await make('/v1/projects/APOLLO/tasks', key, { title: 'Fix' });
    await patch(`tasks/${task.key}`, { status: 'done' }, { status: 'todo' }, { status: 'cancelled' });
    await call('POST', '/v1/projects/APOLLO/archive', key, {});
    await call('POST', '/v1/projects/APOLLO/unarchive', key, {});

    const events = await listEvents(service, key, '?project=APOLLO');
    assert.deepEqual(
      events.map(({ type, subject }) => `${type} ${subject.key}`),
      [
        'project.created APOLLO',
        'risk.created APOLLO-R1',
        'risk.updated APOLLO-R1',
        'risk.score_changed APOLLO-R1',
        'risk.score_changed APOLLO-R1',
        'risk.level_raised APOLLO-R1',
        'risk.level_lowered APOLLO-R1',
        'risk.accepted APOLLO-R1',
        'risk.closed APOLLO-R1',
        'risk.reopened APOLLO-R1',
        'issue.created APOLLO-I1',
        'risk.materialized APOLLO-R1',
        'issue.updated APOLLO-I1',
        'issue.resolved APOLLO-I1',
        'issue.closed APOLLO-I1',
        'issue.reopened APOLLO-I1',
        'task.created APOLLO-T1',
        'task.completed APOLLO-T1',
        'task.reopened APOLLO-T1',
        'task.cancelled APOLLO-T1',
        'project.archived APOLLO',
        'project.unarchived APOLLO',
      ],
    );
    const raised = events.find(({ type }) => type === 'risk.level_raised');
    assert.deepEqual(raised?.previous, { probability: 1, impact: 2, score: 2, level: 'low' });
    assert.equal(raised?.data.score, 25);
  });
});
