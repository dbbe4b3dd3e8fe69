import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settableClock } from '../../../test/clock.ts';
import { onBothEngines, pluck, type Start, withKey } from '../../../test/service.ts';
import { createApp } from '../../app.ts';
import { daysLater } from '../../core/clock.ts';
import { startOfDay } from '../../core/time-zones.ts';
import { writeDatedEvents } from '../../jobs/dated-events.ts';
import { openDatabase } from '../../store/open.ts';

const losAngeles = 'America/Los_Angeles';
const auckland = 'Pacific/Auckland';

/** 15 November in Los Angeles (UTC-8), 16 November in Auckland (UTC+13). */
const evening = '2026-11-16T01:30:00Z';

onBothEngines('the settings of the organization', (start) => {
  test('have defaults, change with history and an event, and are in `/v1/me`', async (t) => {
    const { service, key } = await withKey(start(t));
    const { body: initial } = await service.get('/v1/organization', key);
    const { id, ...fields } = initial;
    assert.deepEqual(fields, {
      name: null,
      time_zone: 'UTC',
      first_day_of_week: 'monday',
      comparison_days: 30,
      free_text_categories: true,
      time_zone_from: 'organization',
      version: 1,
      updated_at: null,
    });
    const patch = {
      name: 'Meridian Works',
      first_day_of_week: 'sunday',
      comparison_days: 14,
      free_text_categories: false,
    };
    const changed = await service.patch('/v1/organization', key, patch);
    assert.equal(changed.status, 200);
    assert.deepEqual(changed.body, { ...initial, ...patch, version: 2, updated_at: changed.body.updated_at });
    const { body, headers } = await service.get('/v1/organization', key);
    assert.deepEqual(body, changed.body);
    assert.match(headers.get('etag') ?? '', /^"2-/);
    const { body: me } = await service.get('/v1/me', key);
    assert.deepEqual(me.organization, {
      name: 'Meridian Works',
      first_day_of_week: 'sunday',
      comparison_days: 14,
    });

    // The same values again, and null, which removes the name.
    assert.equal((await service.patch('/v1/organization', key, patch)).body.version, 2);
    assert.equal((await service.patch('/v1/organization', key, { name: null })).body.name, null);
    const events = await service.list('/v1/events?types=organization.changed', key);
    assert.deepEqual(pluck(events, 'subject.id', 'data.name', 'previous'), [
      [
        id,
        'Meridian Works',
        { name: null, first_day_of_week: 'monday', comparison_days: 30, free_text_categories: true },
      ],
      [id, null, { name: 'Meridian Works' }],
    ]);
    const history = await service.list('/v1/organization/history', key);
    assert.deepEqual(pluck(history, 'field').toSorted(), [
      'comparison_days',
      'first_day_of_week',
      'free_text_categories',
      'name',
      'name',
    ]);
  });

  test('are refused if they cannot work, or if they changed since they were read', async (t) => {
    const { service, key } = await withKey(start(t));
    const refused = async (patch: object) => {
      const { status, body } = await service.patch('/v1/organization', key, patch);
      return [status, body.errors[0].pointer, body.detail];
    };
    const [status, pointer, detail] = await refused({ time_zone: 'America/Los_Angles' });
    assert.deepEqual([status, pointer], [422, '#/time_zone']);
    assert.match(detail, /Did you mean America\/Los_Angeles\?/);
    for (const time_zone of ['+01:00', 'Mars/Olympus', 'C'.repeat(200)])
      assert.deepEqual((await refused({ time_zone })).slice(0, 2), [422, '#/time_zone'], time_zone);
    for (const [field, value] of [
      ['comparison_days', 0],
      ['comparison_days', 366],
      ['first_day_of_week', 'tuesday'],
      ['name', ''],
      ['version', 3],
      ['time_zone_from', 'organization'],
    ] as const)
      assert.deepEqual((await refused({ [field]: value })).slice(0, 2), [422, `#/${field}`]);
    const at = '/v1/organization';
    assert.equal((await service.call('PATCH', at, key, { name: 'A' }, { 'if-match': '"1"' })).status, 200);
    assert.equal((await service.call('PATCH', at, key, { name: 'B' }, { 'if-match': '"1"' })).status, 412);
    const both = await Promise.all(
      ['C', 'D'].map((name) => service.call('PATCH', at, key, { name }, { 'if-match': '"2"' })),
    );
    assert.deepEqual(pluck(both, 'status').sort(), [200, 412]);
  });

  test('are read by every key, and changed with projects.manage in all projects', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const limited = await service.limitedKey(['APOLLO']);
    const write = await service.patch('/v1/organization', limited, { name: 'A' });
    assert.deepEqual([write.status, write.body.code], [403, 'key_limited']);
    await service.patch('/v1/organization', key, { name: 'B' });
    const reader = await service.key('events.read');
    for (const one of [limited, reader])
      assert.equal((await service.get('/v1/organization', one)).body.name, 'B');
    assert.equal((await service.list('/v1/organization/history', limited)).length, 1);
    assert.equal((await service.list('/v1/events?types=organization.changed', limited)).length, 1);
    const administrator = await service.key('keys.manage', 'personnel.manage', 'projects.read');
    const denied = await service.patch('/v1/organization', administrator, { name: 'C' });
    assert.deepEqual([denied.status, denied.body.scope], [403, 'projects.manage']);
  });

  test('MUSTER_TIME_ZONE wins: the zone is shown, and cannot be changed', async (t) => {
    const environment = { MUSTER_TIME_ZONE: auckland };
    const { service, key } = await withKey(start(t, { environment, clock: settableClock(evening) }));
    const { body } = await service.get('/v1/organization', key);
    assert.deepEqual([body.time_zone, body.time_zone_from], [auckland, 'setting']);
    const refused = await service.patch('/v1/organization', key, { time_zone: losAngeles });
    assert.deepEqual([refused.status, refused.body.errors[0].code], [422, 'read_only']);
    assert.match(refused.body.detail, /MUSTER_TIME_ZONE/);
    // A form sends it as it was.
    const patch = { time_zone: auckland, name: 'Meridian' };
    assert.equal((await service.patch('/v1/organization', key, patch)).status, 200);
    const { today, time_zone } = (await service.get('/v1/me', key)).body;
    assert.deepEqual([today, time_zone], ['2026-11-16', auckland]);
  });

  test('a change of the time zone takes effect with the next request on every instance', async (t) => {
    const { service, clock, key, inZone } = await startInZone(t, start, losAngeles, evening);
    const at = '/v1/projects/APOLLO';
    await service.make(`${at}/tasks`, key, { title: 'Task', due_on: '2026-11-15' });
    const accepted = await service.make(`${at}/risks`, key, { title: 'Accepted' });
    const acceptance = { status: 'accepted', acceptance_reason: 'Insured.', accepted_until: '2026-11-15' };
    await service.patch(`${at}/risks/${accepted.id}`, key, acceptance);
    const database = openDatabase(service.url);
    const readiness = { state: 'ready' as const };
    const other = await createApp({ config: service.app.config, database, clock, readiness });
    t.after(() => other.close());
    const headers = { authorization: `Bearer ${key}` };
    const ofOther = async (url: string) => (await other.inject({ url, headers })).json();
    const seen = async () => {
      const { data } = await ofOther('/v1/tasks?overdue=true');
      const { time_zone, today } = await ofOther('/v1/me');
      // The third response comes from the cache.
      for (let i = 0; i < 3; i++)
        assert.equal((await service.list('/v1/tasks?overdue=true', key)).length, data.length);
      const { body: me } = await service.get('/v1/me', key);
      assert.deepEqual([me.time_zone, me.today], [time_zone, today]);
      const { status } = await ofOther(`${at}/risks/${accepted.id}`);
      return [time_zone, today, data.length, status];
    };
    assert.deepEqual(await seen(), [losAngeles, '2026-11-15', 0, 'accepted']);
    const overdue = async () => pluck(await service.list('/v1/events?types=task.overdue', key), 'type');
    await writeDatedEvents(service.database, service.app.clock());
    await inZone(auckland);
    assert.deepEqual(await seen(), [auckland, '2026-11-16', 1, 'open']);
    const { raised_on } = await service.make(`${at}/risks`, key, { title: 'By default' });
    assert.equal(raised_on, '2026-11-16');
    await writeDatedEvents(service.database, service.app.clock());
    assert.deepEqual(await overdue(), ['task.overdue']);
    // The day goes back, and then on again: nothing happens twice.
    await inZone(losAngeles);
    assert.deepEqual(await seen(), [losAngeles, '2026-11-15', 0, 'open']);
    await writeDatedEvents(service.database, service.app.clock());
    await inZone(auckland);
    await seen();
    await writeDatedEvents(service.database, service.app.clock());
    assert.deepEqual(await overdue(), ['task.overdue']);
  });

  test('a chosen time zone ends days where clocks change', async (t) => {
    const { service, clock, key, inZone } = await startInZone(t, start, 'UTC', '2026-01-05T12:00:00Z');
    const at = '/v1/projects/APOLLO';
    // Days of 23 and of 25 hours, in both halves of the year.
    const days: [zone: string, day: string][] = [
      [losAngeles, '2026-03-08'],
      [auckland, '2026-04-05'],
      [auckland, '2026-09-27'],
      [losAngeles, '2026-11-01'],
    ];
    for (const [zone, day] of days) {
      clock.set(`${daysLater(day, -3)}T12:00:00Z`);
      await inZone(zone);
      const task = await service.make(`${at}/tasks`, key, { title: 'Task', due_on: day });
      const risk = await service.make(`${at}/risks`, key, { title: 'Risk', review_on: day });
      const acceptance = { status: 'accepted', acceptance_reason: 'Insured.', accepted_until: day };
      const accepted = await service.make(`${at}/risks`, key, { title: 'Accepted' });
      await service.patch(`${at}/risks/${accepted.id}`, key, acceptance);
      await writeDatedEvents(service.database, service.app.clock());
      const seen = async () => {
        await service.get('/v1/me', key);
        await writeDatedEvents(service.database, service.app.clock());
        const overdue = await service.list('/v1/tasks?overdue=true', key);
        const reviews = await service.list('/v1/risks?review_overdue=true', key);
        const events = await service.list(`/v1/events?types=task.overdue,risk.review_overdue`, key);
        const { body } = await service.get(`${at}/risks/${accepted.id}`, key);
        return [
          pluck(overdue, 'id').includes(task.id),
          pluck(reviews, 'id').includes(risk.id),
          pluck(events, 'subject.id').filter((id) => [task.id, risk.id].includes(id)).length,
          body.status,
        ];
      };
      const end = startOfDay(daysLater(day, 1), zone);
      clock.set(new Date(Date.parse(end) - 1).toISOString());
      const { raised_on } = await service.make(`${at}/issues`, key, { title: 'On this day' });
      assert.equal(raised_on, day, zone);
      assert.deepEqual(await seen(), [false, false, 0, 'accepted'], `${zone} ${day}`);
      clock.set(end);
      assert.deepEqual(await seen(), [true, true, 2, 'open'], `${zone} ${day}`);
    }
  });
});

/** A service with the project APOLLO, whose time zone is changed by requests. */
async function startInZone(t: Parameters<Start>[0], start: Start, zone: string, now: string) {
  const clock = settableClock(now);
  const { service, key } = await withKey(start(t, { clock }));
  const inZone = async (time_zone: string) =>
    assert.equal((await service.patch('/v1/organization', key, { time_zone })).status, 200);
  if (zone !== 'UTC') await inZone(zone);
  await service.make('/v1/projects', key, { name: 'Apollo' });
  return { service, clock, key, inZone };
}
