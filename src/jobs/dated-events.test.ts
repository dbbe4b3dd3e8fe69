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

  test('are written again after a clock that was wrong, and each once', async (t) => {
    const clock = settableClock('2026-03-01T12:00:00Z');
    const service = await start(t, { clock });
    const { make } = service;
    const key = await service.key();
    await make('/v1/projects', key, { name: 'Apollo', key: 'APOLLO' });
    const add = (title: string, due_on: string) =>
      make('/v1/projects/APOLLO/issues', key, { title, due_on, raised_on: '2026-01-01' });
    for (const day of ['2026-02-20', '2026-03-01', '2026-03-04']) await add(day, day);
    const overdue = async () => {
      const rows = await service.database.db
        .selectFrom('events')
        .select('data')
        .where('type', '=', 'issue.overdue')
        .orderBy('sequence')
        .execute();
      return pluck(
        rows.map(({ data }) => JSON.parse(data)),
        'title',
      );
    };
    /** One instance after the other, each with a clock. A restart forgets what the instance knows. */
    const known = [new Map<string, string>(), new Map<string, string>()];
    const run = async (...days: string[]) => {
      for (const [i, day] of days.entries()) {
        clock.set(`${day}T12:00:00Z`);
        await writeDatedEvents(service.database, clock(), known[i]);
      }
    };
    await run('2026-03-01', '2026-03-01');
    await run('2026-03-02', '2026-03-02');
    assert.deepEqual(await overdue(), ['2026-03-01']);
    await run('2036-03-02');
    const early = ['2026-03-01', '2026-03-04'];
    assert.deepEqual(await overdue(), early, 'the clock of one instance is wrong');
    await run('2036-03-03', '2026-03-03');
    await run('2036-03-03', '2026-03-03');
    await run('2036-03-03', '2026-03-04');
    assert.deepEqual(await overdue(), early, 'nothing again while both go on');
    await add('new', '2026-03-04');
    await run('2036-03-04', '2026-03-05');
    assert.deepEqual(
      await overdue(),
      [...early, '2026-03-04', 'new'],
      'on the day itself, by the right clock',
    );

    await run('2036-03-05');
    known.splice(0, 2, new Map(), new Map());
    await run('2026-03-06', '2026-03-06');
    await add('later', '2026-03-06');
    await run('2026-03-07', '2026-03-07');
    assert.deepEqual((await overdue()).slice(4), ['later'], 'after the clock was corrected');

    known.splice(0, 2, new Map(), new Map());
    await run('1970-01-01', '2026-03-04');
    await run('2026-03-08', '2026-03-08');
    assert.equal((await overdue()).length, 5, 'a clock that is behind repeats nothing');
  });
});
