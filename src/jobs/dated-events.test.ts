import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settableClock } from '../../test/clock.ts';
import { onBothEngines, pluck } from '../../test/service.ts';
import type { Event } from '../resources/events/schema.ts';
import { openDatabase } from '../store/open.ts';
import { expireAcceptances } from './acceptances.ts';
import { writeDatedEvents } from './dated-events.ts';

onBothEngines('events that a date causes', (start) => {
  test('are written once by two instances, also after days without service', async (t) => {
    const clock = settableClock('2026-03-01T12:00:00Z');
    const service = await start(t, { clock });
    const { make, call, get } = service;
    const other = openDatabase(service.url);
    other.setBaseUrl(service.origin);
    t.after(() => other.close());
    const instances = [service.database, other];
    const run = () =>
      Promise.all(
        [...instances, ...instances].map(async (database) => {
          await expireAcceptances(database, clock());
          await writeDatedEvents(database, clock());
        }),
      );
    const key = await service.key();
    await make('/v1/personnel', key, { name: 'Ended', start_on: '2026-01-01', end_on: '2026-03-02' });
    await make('/v1/personnel', key, { name: 'Stays', end_on: '2026-03-20' });
    await make('/v1/projects', key, { name: 'Apollo', key: 'APOLLO' });
    const at = '/v1/projects/APOLLO';
    const risk = await make(`${at}/risks`, key, { title: 'Reviewed', review_on: '2026-03-02' });
    await make(`${at}/risks`, key, { title: 'Not due', review_on: '2026-03-20' });
    const accepted = await make(`${at}/risks`, key, { title: 'Accepted' });
    const acceptance = { status: 'accepted', acceptance_reason: 'cheap', accepted_until: '2026-03-03' };
    await call('PATCH', `${at}/risks/${accepted.id}`, key, acceptance);
    const issue = await make(`${at}/issues`, key, { title: 'Late', due_on: '2026-03-01' });
    const resolved = await make(`${at}/issues`, key, { title: 'Done', due_on: '2026-03-01' });
    await call('PATCH', `${at}/issues/${resolved.id}`, key, { status: 'resolved', resolution: 'fixed' });
    await make(`${at}/tasks`, key, { title: 'Late', due_on: '2026-03-02' });
    await make('/v1/keys', key, {
      name: 'short',
      scopes: ['events.read'],
      expires_at: '2026-03-10T12:30:00Z',
    });
    await run();
    let after = (await get('/v1/events', key)).body.meta.next_after;
    const newEvents = async () => {
      await run();
      await run();
      const { body } = await get(`/v1/events?after=${after}`, key);
      after = body.meta.next_after;
      return body.data as Event[];
    };
    assert.deepEqual(await newEvents(), []);

    clock.set('2026-03-02T00:00:00Z');
    const [overdue, ...more] = await newEvents();
    assert.deepEqual(more, []);
    assert.equal(overdue?.type, 'issue.overdue');
    assert.deepEqual(overdue?.subject, {
      type: 'issue',
      id: issue.id,
      key: issue.key,
      web_url: issue.web_url,
    });
    assert.deepEqual(overdue?.actor, {
      type: 'service',
      user_id: null,
      key_id: null,
      name: 'Muster',
    });
    assert.deepEqual(overdue?.data, (await get(`${at}/issues/${issue.id}`, key)).body);

    // The service does not run on 3 March.
    clock.set('2026-03-04T08:00:00Z');
    const events = await newEvents();
    assert.deepEqual(events.map(({ type }) => type).toSorted(), [
      'key.expiring',
      'person.ended',
      'risk.acceptance_expired',
      'risk.review_overdue',
      'task.overdue',
    ]);
    assert.equal(events.find(({ type }) => type === 'risk.review_overdue')?.subject.id, risk.id);
    const expired = events.find(({ type }) => type === 'risk.acceptance_expired');
    assert.equal(expired?.subject.id, accepted.id);
    assert.deepEqual([expired?.previous.status, expired?.data.status], ['accepted', 'open']);

    // A new date causes a new event when it passes.
    await call('PATCH', `${at}/issues/${issue.id}`, key, { due_on: '2026-03-05' });
    clock.set('2026-03-06T08:00:00Z');
    assert.deepEqual(pluck(await newEvents(), 'type'), ['issue.updated', 'issue.overdue']);
  });
});
