import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { settableClock } from '../../test/clock.ts';
import { onBothEngines } from '../../test/service.ts';
import { checkCommand } from '../commands/check.ts';
import { daysLater } from '../core/clock.ts';
import { deleteOldHistory } from './history-retention.ts';
import { createJobs } from './schedule.ts';

onBothEngines('deleting old history', (start) => {
  test('is logged', async (t) => {
    const clock = settableClock('2026-01-01T12:00:00Z');
    const environment = { MUSTER_HISTORY_RETENTION_DAYS: '100' };
    const service = await start(t, { clock, environment });
    const key = await service.key();
    const { user_id } = await service.make('/v1/personnel', key, { name: 'Ada' });
    await service.patch(`/v1/personnel/${user_id}`, key, { title: 'Countess' });
    const entries = await service.database.db.selectFrom('history').select('id').execute();
    clock.set('2026-06-01T12:00:00Z');
    const logged = t.mock.method(service.app.log, 'warn');
    const jobs = createJobs(service.app);
    jobs.start(1);
    while (logged.mock.callCount() === 0) await setTimeout(5);
    await jobs.stop();
    assert.match(String(logged.mock.calls[0]?.arguments[0]), new RegExp(`^${entries.length} past versions`));
    assert.deepEqual(await service.database.db.selectFrom('history').select('id').execute(), []);
  });

  test('leaves the past exact from its first day on, and rejects the days before', async (t) => {
    const clock = settableClock('2026-01-01T12:00:00Z');
    const service = await start(t, { clock });
    const { database, make, call, get } = service;
    const key = await service.key();
    const at = '/v1/projects/APOLLO';
    await make('/v1/projects', key, { name: 'Apollo', key: 'APOLLO' });
    await make('/v1/projects', key, { name: 'Archived', key: 'OLD' });
    await make('/v1/projects/OLD/risks', key, { title: 'Archived', probability: 1, impact: 1 });
    const risks = ['Changed', 'Unchanged', 'Deleted'];
    for (const title of risks) await make(`${at}/risks`, key, { title, probability: 1, impact: 5 });
    await make(`${at}/issues`, key, { title: 'Resolved' });
    const changes: [now: string, probability: number][] = [
      ['2026-01-05T12:00:00Z', 2],
      ['2026-01-11T12:00:00Z', 3],
      ['2026-01-12T12:00:00Z', 4],
      ['2026-03-01T12:00:00Z', 5],
    ];
    for (const [now, probability] of changes) {
      clock.set(now);
      await call('PATCH', `${at}/risks/APOLLO-R1`, key, { probability });
    }
    await call('DELETE', `${at}/risks/APOLLO-R3`, key);
    await call('PATCH', `${at}/issues/APOLLO-I1`, key, { status: 'resolved', resolution: 'Done.' });
    await call('POST', '/v1/projects/OLD/archive', key);
    clock.set('2026-04-22T12:00:00Z');
    const first = '2026-01-11';
    const paths = Array.from({ length: 10 }, (_, i) => daysLater(first, i * 6)).flatMap((day) => [
      `/v1/risks?as_of=${day}`,
      `/v1/risks?include=movement&since=${day}`,
      `/v1/risks/summary?as_of=${day}`,
    ]);
    const read = async () => {
      const bodies = [];
      for (const path of [...paths, `/v1/risks/trend?from=${first}`]) {
        const { status, body } = await get(path, key);
        assert.equal(status, 200, path);
        bodies.push(body);
      }
      return bodies;
    };
    const before = await read();
    assert.equal((await get('/v1/me', key)).body.history_from, null);

    const noProgress = () => {};
    const violations = async () => (await checkCommand(database, noProgress)).violations;
    const history = async () => (await get(`${at}/risks/APOLLO-R1/history`, key)).body.data;
    const entries = (await history()).length;
    assert.equal(await deleteOldHistory(database, clock(), undefined), 0);
    assert.equal((await get(`/v1/risks?as_of=2026-01-01`, key)).status, 200);
    // The first run announces, the second deletes, and both instances may do it at the same time.
    assert.equal(await deleteOldHistory(database, clock(), 100), 0);
    assert.deepEqual([(await history()).length, await violations()], [entries, []]);
    const deleted = await Promise.all([1, 2].map(() => deleteOldHistory(database, clock(), 100)));
    assert.ok(deleted[0] !== undefined && deleted[0] > 0);
    assert.equal(await deleteOldHistory(database, clock(), 100), 0);
    assert.ok((await history()).length < entries);
    const left = await database.db
      .selectFrom('past_risks')
      .select(['key', 'version'])
      .orderBy('key')
      .orderBy('version')
      .execute();
    assert.deepEqual(
      left.map(({ key, version }) => `${key} ${version}`),
      // The second version ended on the first day, before its end.
      ['APOLLO-R1 3', 'APOLLO-R1 4', 'APOLLO-R3 1'],
    );

    assert.deepEqual(await read(), before);
    assert.deepEqual(await violations(), []);
    assert.equal((await get('/v1/me', key)).body.history_from, first);
    const refused = [
      ['as_of', '/v1/risks?as_of=2026-01-10'],
      ['as_of', '/v1/risks/heatmap?as_of=2026-01-10'],
      ['since', '/v1/risks?include=movement&since=2026-01-10'],
      ['from', '/v1/risks/trend?from=2026-01-10'],
      ['to', '/v1/risks/trend?to=2026-01-10'],
      ['resolved_since', '/v1/projects/APOLLO/issues?resolved_since=2026-01-10T00:00:00Z'],
    ] as const;
    for (const [parameter, path] of refused) {
      const { status, body } = await get(path, key);
      assert.deepEqual([status, body.errors?.[0]?.parameter], [400, parameter], path);
      assert.match(body.errors[0].detail, /^The history begins (on|at) 2026-01-1[12]/);
    }
    // The usual period of a trend begins before, and becomes shorter.
    const { body } = await get('/v1/risks/trend?to=2026-03-01', key);
    assert.equal(body.data[0].day, first);
    const explained = await get(`${at}/risks/APOLLO-R2?explain=true`, key);
    assert.equal(explained.status, 200);

    // A longer period does not bring anything back, and a version that is missing is still noticed.
    assert.equal(await deleteOldHistory(database, clock(), 200), 0);
    assert.equal((await get('/v1/risks?as_of=2026-01-10', key)).status, 400);
    await database.write((db) => db.deleteFrom('past_risks').where('version', '=', 3).execute());
    assert.deepEqual(
      (await violations()).map(({ samples }) => samples),
      [['APOLLO-R1']],
    );
  });
});
