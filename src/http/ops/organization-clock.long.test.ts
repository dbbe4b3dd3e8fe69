import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settableClock } from '../../../test/clock.ts';
import { onBothEngines, pluck, type Start, type TestService, withKey } from '../../../test/service.ts';
import { createApp } from '../../app.ts';
import { daysLater } from '../../core/clock.ts';
import { startOfDay } from '../../core/time-zones.ts';
import { expireAcceptances } from '../../jobs/acceptances.ts';
import { writeDatedEvents } from '../../jobs/dated-events.ts';
import { storeConfiguredTimeZone } from '../../resources/organization/queries.ts';
import { openDatabase } from '../../store/open.ts';
import { findTimeZone } from '../../store/settings.ts';

const losAngeles = 'America/Los_Angeles';
const auckland = 'Pacific/Auckland';

/** A day in each time zone: usual ones, of 23 and of 25 hours, and one without midnight. */
const localDays: [zone: string, day: string][] = [
  [losAngeles, '2026-11-16'],
  [losAngeles, '2026-03-08'],
  [losAngeles, '2026-11-01'],
  [auckland, '2026-04-05'],
  ['Asia/Kolkata', '2026-11-16'],
  ['America/Santiago', '2026-09-06'],
];

onBothEngines('the day of the organization', (start, engine) => {
  // Time zones are computed in the service, so two days are enough on the second engine.
  const days = engine === 'sqlite' ? localDays : localDays.slice(1, 3);

  test('decides what is overdue, also in cached responses', async (t) => {
    for (const [zone, day] of days) {
      const { service, clock, key } = await startIn(t, start, zone, `${daysLater(day, -3)}T12:00:00Z`);
      const { make, get } = service;
      await make('/v1/projects/APOLLO/tasks', key, { title: 'Task', due_on: day });
      await make('/v1/projects/APOLLO/issues', key, { title: 'Issue', due_on: day });
      await make('/v1/projects/APOLLO/risks', key, { title: 'Risk', due_on: day, review_on: day });
      const paths = {
        '/v1/tasks?overdue=true': 1,
        '/v1/issues?overdue=true&limit=10': 1,
        '/v1/risks?review_overdue=true': 1,
        '/v1/risks?check=due_overdue&limit=10': 1,
      };
      const counts = async (etags: Map<string, string> = new Map()) => {
        const found: Record<string, number> = {};
        for (const path of Object.keys(paths)) {
          // The third response comes from the cache.
          for (let i = 0; i < 3; i++) {
            const { status, body, headers } = await get(path, key, {
              'if-none-match': etags.get(path) ?? '"none"',
            });
            assert.equal(status, 200, path);
            found[path] = body.data.length;
            if (i === 2) etags.set(path, headers.get('etag') ?? '');
          }
        }
        return found;
      };
      const none = Object.fromEntries(Object.keys(paths).map((path) => [path, 0]));
      const end = startOfDay(daysLater(day, 1), zone);
      const lastInstant = new Date(Date.parse(end) - 1).toISOString();
      const etags = new Map<string, string>();
      clock.set(startOfDay(day, zone));
      assert.deepEqual(await counts(etags), none, `${zone} ${day}`);
      clock.set(lastInstant);
      for (const [path, etag] of etags)
        assert.equal((await get(path, key, { 'if-none-match': etag })).status, 304, `${zone} ${path}`);
      const hits = service.app.responseCache.hits;
      clock.set(end);
      assert.deepEqual(await counts(etags), paths, `${zone} ${day}`);
      assert.ok(service.app.responseCache.hits > hits);
    }
  });

  test('is the default and the limit of `raised_on`, and limits `accepted_until`', async (t) => {
    const times: [zone: string, now: string, today: string][] = [
      // 17:30 of the day before in UTC.
      [losAngeles, '2026-11-16T01:30:00Z', '2026-11-15'],
      // 9:00 of the day after in UTC.
      [auckland, '2026-11-14T20:00:00Z', '2026-11-15'],
      ['Asia/Kolkata', '2026-11-14T18:30:00Z', '2026-11-15'],
      ['Asia/Kolkata', '2026-11-14T18:29:59Z', '2026-11-14'],
    ];
    for (const [zone, now, today] of times) {
      const { service, key } = await startIn(t, start, zone, now);
      for (const path of ['/v1/projects/APOLLO/risks', '/v1/projects/APOLLO/issues']) {
        const { raised_on } = await service.make(path, key, { title: 'By default' });
        assert.equal(raised_on, today, `${zone} ${now}`);
        await service.make(path, key, { title: 'Today', raised_on: today, due_on: today });
        const tomorrow = { title: 'Tomorrow', raised_on: daysLater(today, 1) };
        const { status, body } = await service.post(path, key, tomorrow);
        assert.deepEqual([status, body.errors[0].pointer], [422, '#/raised_on'], `${zone} ${now}`);
      }
      const accept = (accepted_until: string) =>
        service.patch('/v1/projects/APOLLO/risks/APOLLO-R1', key, {
          status: 'accepted',
          acceptance_reason: 'Insured.',
          accepted_until,
        });
      assert.equal((await accept(daysLater(today, -1))).status, 422);
      assert.equal((await accept(today)).status, 200);
      const data = await service.list('/v1/risks', key);
      assert.equal(data.length, 2);
    }
  });

  test('decides who can be assigned', async (t) => {
    const { service, clock, key } = await startIn(t, start, losAngeles, '2026-11-15T20:00:00Z');
    await service.make('/v1/personnel', key, { name: 'Ends', end_on: '2026-11-15' });
    await service.make('/v1/personnel', key, { name: 'Starts', start_on: '2026-11-16' });
    const assignable = async () => pluck(await service.list('/v1/personnel?assignable=true', key), 'name');
    for (const [now, names] of [
      ['2026-11-16T07:59:59.999Z', ['Ends']],
      ['2026-11-16T08:00:00.000Z', ['Starts']],
    ] as const) {
      clock.set(now);
      for (let i = 0; i < 3; i++) assert.deepEqual(await assignable(), names, now);
    }
  });

  test('ends acceptances and causes events once, at the local midnight', async (t) => {
    for (const [zone, day] of days) {
      const { service, clock, key } = await startIn(t, start, zone, `${daysLater(day, -3)}T12:00:00Z`);
      const { make, call, get } = service;
      const at = '/v1/projects/APOLLO';
      const accepted = await make(`${at}/risks`, key, { title: 'Accepted' });
      const acceptance = { status: 'accepted', acceptance_reason: 'Insured.', accepted_until: day };
      await call('PATCH', `${at}/risks/${accepted.id}`, key, acceptance);
      await make(`${at}/tasks`, key, { title: 'Task', due_on: day });
      await make('/v1/personnel', key, { name: 'Ends', end_on: day });
      const other = openDatabase(service.url);
      t.after(() => other.close());
      const run = () =>
        Promise.all(
          [service.database, other].map(async (database) => {
            await expireAcceptances(database, service.app.clock());
            await writeDatedEvents(database, service.app.clock());
          }),
        );
      const types = 'risk.acceptance_expired,task.overdue,person.ended';
      const events = async () => pluck((await get(`/v1/events?types=${types}`, key)).body.data, 'type');
      const statusOf = async () => (await get(`${at}/risks/${accepted.id}`, key)).body.status;
      await run();
      const end = startOfDay(daysLater(day, 1), zone);
      clock.set(new Date(Date.parse(end) - 1).toISOString());
      await run();
      assert.deepEqual([await statusOf(), await events()], ['accepted', []], `${zone} ${day}`);
      clock.set(end);
      await run();
      await run();
      assert.equal(await statusOf(), 'open', `${zone} ${day}`);
      assert.deepEqual((await events()).toSorted(), types.split(',').toSorted(), `${zone} ${day}`);
      const { data } = (await get(`${at}/risks/${accepted.id}/history`, key)).body;
      const reopened = data.filter((entry: Entry) => entry.field === 'status' && entry.to === 'open');
      assert.deepEqual(pluck(reopened, 'at'), [end]);
    }
  });

  test('divides the past: `as_of`, movement and trend', async (t) => {
    for (const [zone, day] of days) {
      const first = daysLater(day, -2);
      const { service, clock, key } = await startIn(t, start, zone, startOfDay(first, zone));
      const { make, call, get } = service;
      const at = '/v1/projects/APOLLO';
      const risk = await make(`${at}/risks`, key, { title: 'Risk', probability: 1, impact: 1 });
      await make('/v1/projects', key, { name: 'Archived', key: 'OLD' });
      await make('/v1/projects/OLD/risks', key, { title: 'Old', probability: 5, impact: 5 });
      const end = Date.parse(startOfDay(daysLater(day, 1), zone));
      const assess = async (time: number, probability: number) => {
        clock.set(new Date(time).toISOString());
        const { status } = await call('PATCH', `${at}/risks/${risk.id}`, key, { probability });
        assert.equal(status, 200);
      };
      await assess(Date.parse(startOfDay(day, zone)) - 1, 2);
      await assess(Date.parse(startOfDay(day, zone)), 3);
      await assess(end - 1, 4);
      await assess(end, 5);
      await call('POST', '/v1/projects/OLD/archive', key, {});
      clock.set(startOfDay(daysLater(day, 3), zone));

      const scores = { [first]: 1, [daysLater(day, -1)]: 2, [day]: 4, [daysLater(day, 1)]: 5 };
      for (const interval of ['day', 'week']) {
        // The second query has a value for each day of its own.
        for (const filters of ['', '&check=no_response_plan']) {
          const query = `from=${first}&to=${daysLater(day, 1)}&interval=${interval}${filters}`;
          const { data } = (await get(`/v1/risks/trend?${query}`, key)).body;
          assert.equal(data.length, interval === 'day' ? 4 : 1);
          for (const point of data as Point[]) {
            const old = point.day > day ? 0 : 25;
            const label = `${zone} ${day}, ${query}: ${point.day}`;
            if (point.day !== first) assert.equal(point.sum, (scores[point.day] ?? 0) + old, label);
          }
        }
      }
      for (const [as_of, score] of Object.entries(scores)) {
        const label = `${zone} ${as_of}`;
        const { data } = (await get(`/v1/risks?project=APOLLO&as_of=${as_of}`, key)).body;
        if (as_of !== first) assert.equal(data[0].score, score, label);
        for (const limit of ['', '&limit=10']) {
          const query = `/v1/risks?project=APOLLO&include=movement&since=${as_of}${limit}`;
          const moved = (await get(query, key)).body.data[0].movement;
          if (as_of !== first) assert.equal(moved.score_then, score, label);
        }
        const { body } = await get(`/v1/risks/summary?as_of=${as_of}`, key);
        assert.equal(body.data.total, as_of > day ? 1 : 2, label);
      }
      const tomorrow = await get(`/v1/risks?as_of=${daysLater(day, 4)}`, key);
      assert.equal(tomorrow.body.errors[0].parameter, 'as_of');
      assert.equal((await get(`/v1/risks?as_of=${daysLater(day, 3)}`, key)).status, 200);
    }
  });

  test('agrees in a trend over a year with the register of each day', async (t) => {
    const { service, clock, key } = await startIn(t, start, losAngeles, '2025-11-20T12:00:00Z');
    const at = '/v1/projects/APOLLO/risks';
    const risk = await service.make(at, key, { title: 'Risk', probability: 1, impact: 1 });
    // Every 67 hours, so at each hour of the day.
    for (let time = Date.parse('2025-11-21T00:30:00Z'), i = 0; i < 130; time += 67 * 3_600_000, i++) {
      clock.set(new Date(time).toISOString());
      const score = { probability: 1 + (i % 5), impact: 1 + (Math.floor(i / 5) % 5) };
      await service.patch(`${at}/${risk.id}`, key, score);
    }
    clock.set('2026-11-18T12:00:00Z');
    for (const interval of ['day', 'week']) {
      const period = `from=2025-11-22&to=2026-11-18&interval=${interval}`;
      const sums = async (filter: string) =>
        pluck(await service.list(`/v1/risks/trend?${period}${filter}`, key), 'day', 'sum');
      assert.deepEqual(await sums(''), await sums('&check=no_response_plan'), interval);
    }
  });

  test('is the same on all instances, which follow a change at once', async (t) => {
    const noon = '2026-11-16T01:30:00Z';
    const { service, clock, key } = await startIn(t, start, losAngeles, noon);
    const { get } = service;
    await service.make('/v1/projects/APOLLO/tasks', key, { title: 'Task', due_on: '2026-11-15' });
    const { config } = service.app;
    const database = openDatabase(service.url);
    const withoutSetting = { ...config, time_zone: undefined };
    const other = await createApp({
      config: withoutSetting,
      database,
      clock,
      readiness: { state: 'ready' },
    });
    t.after(() => other.close());
    const headers = { authorization: `Bearer ${key}` };
    const ofOther = async (url: string) => (await other.inject({ url, headers })).json();
    const seen = async () => {
      const overdue = [];
      // The third response comes from the cache.
      for (let i = 0; i < 3; i++) overdue.push((await get('/v1/tasks?overdue=true', key)).body.data.length);
      const { time_zone, today } = (await get('/v1/me', key)).body;
      const { data } = await ofOther('/v1/tasks?overdue=true');
      const me = await ofOther('/v1/me');
      assert.deepEqual([me.time_zone, me.today], [time_zone, today]);
      assert.deepEqual(new Set(overdue), new Set([data.length]));
      return [time_zone, today, data.length];
    };
    assert.deepEqual(await seen(), [losAngeles, '2026-11-15', 0]);
    await storeConfiguredTimeZone(database, auckland, clock());
    assert.deepEqual(await seen(), [auckland, '2026-11-16', 1]);
    await storeConfiguredTimeZone(service.database, 'UTC', clock());
    assert.deepEqual(await seen(), ['UTC', '2026-11-16', 1]);
    await storeConfiguredTimeZone(service.database, losAngeles, clock());
    assert.deepEqual(await seen(), [losAngeles, '2026-11-15', 0]);
    assert.equal(await findTimeZone(database.db), losAngeles);
    const history = await service.list('/v1/organization/history', key);
    assert.deepEqual(pluck(history, 'to', 'actor.type'), [
      [losAngeles, 'service'],
      [auckland, 'service'],
      ['UTC', 'service'],
      [losAngeles, 'service'],
    ]);
  });

  test('a change of the time zone divides the past in another way, on the same day', async (t) => {
    const { service, clock, key } = await startIn(t, start, losAngeles, '2026-11-14T20:00:00Z');
    const at = '/v1/projects/APOLLO/risks';
    const risk = await service.make(at, key, { title: 'Risk', probability: 1, impact: 1 });
    clock.set('2026-11-15T04:00:00Z');
    await service.patch(`${at}/${risk.id}`, key, { probability: 5 });
    // 16 November in both time zones.
    clock.set('2026-11-16T20:00:00Z');
    const paths = ['/v1/risks?as_of=2026-11-14', '/v1/risks?as_of=2026-11-14&limit=10'];
    const etags = new Map<string, string>();
    const scores = async () => {
      const found = new Set<number>();
      for (const path of paths) {
        for (let i = 0; i < 3; i++) {
          const { status, body, headers } = await service.get(path, key, {
            'if-none-match': i === 0 ? (etags.get(path) ?? '"none"') : '"none"',
          });
          assert.equal(status, 200);
          found.add(body.data[0].score);
          etags.set(path, headers.get('etag') ?? '');
        }
      }
      const summary = '/v1/risks/trend?from=2026-11-14&to=2026-11-14';
      const { status, body, headers } = await service.get(summary, key, {
        'if-none-match': etags.get(summary) ?? '"none"',
      });
      assert.equal(status, 200);
      found.add(body.data[0].sum);
      etags.set(summary, headers.get('etag') ?? '');
      return [...found];
    };
    assert.deepEqual(await scores(), [5]);
    await storeConfiguredTimeZone(service.database, 'UTC', clock());
    assert.deepEqual(await scores(), [1]);
  });

  test('flags risks without an update since the start of a local day', async (t) => {
    const { service, clock, key } = await startIn(t, start, losAngeles, '2026-08-17T06:59:59.999Z');
    const at = '/v1/projects/APOLLO/risks';
    await service.make(at, key, { title: 'Late on 16 August' });
    clock.set('2026-08-17T07:00:00.000Z');
    await service.make(at, key, { title: 'Early on 17 August' });
    clock.set('2026-11-15T20:00:00Z');
    const data = await service.list('/v1/risks?check=stale_90d', key);
    assert.deepEqual(pluck(data, 'title'), ['Late on 16 August']);
  });

  test('is the day of times in imported files', async (t) => {
    const { service, key } = await startIn(t, start, losAngeles, '2026-11-16T01:30:00Z');
    const file =
      'title,raised_on\nUTC,2026-11-16T01:00:00Z\nOffset,2026-11-16T09:00:00+0900\nDay,2026-11-15\nNo zone,2026-11-15 23:00\n';
    const path = '/v1/projects/APOLLO/risks/import';
    const { body } = await service.upload(path, key, file);
    assert.equal(body.summary.created, 4, JSON.stringify(body));
    const data = await service.list('/v1/risks', key);
    assert.deepEqual(pluck(data, 'raised_on'), Array(4).fill('2026-11-15'));
  });
});

type Entry = { field: string; to: unknown; at: string };
type Point = { day: string; sum: number };

/** A service in this time zone with the project APOLLO. */
async function startIn(
  t: Parameters<Start>[0],
  start: Start,
  zone: string,
  now: string,
): Promise<{ service: TestService; clock: ReturnType<typeof settableClock>; key: string }> {
  const clock = settableClock(now);
  const { service, key } = await withKey(start(t, { clock, environment: { MUSTER_TIME_ZONE: zone } }));
  await service.make('/v1/projects', key, { name: 'Apollo' });
  return { service, clock, key };
}
