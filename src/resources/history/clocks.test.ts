import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settableClock } from '../../../test/clock.ts';
import { clockAhead, startMuster, temporaryFolder } from '../../../test/process.ts';
import { freshDatabase, onBothEngines, pluck, withKey } from '../../../test/service.ts';
import { newId } from '../../core/ids.ts';
import { openDatabase } from '../../store/open.ts';
import { insertRows } from '../../store/writes/rows.ts';

onBothEngines('instances whose clocks differ', (start, engine) => {
  test('write changes in the order in which they were made', async (t) => {
    const { url, drop } = await freshDatabase(engine);
    t.after(drop);
    const environment = { MUSTER_DATABASE_URL: url };
    const behind = await startMuster(t, temporaryFolder(t), environment);
    const ahead = await startMuster(t, temporaryFolder(t), { ...environment, ...clockAhead(1500) });
    const ask = async ({ origin }: { origin: string }, method: string, path: string, body?: object) => {
      const response = await fetch(`${origin}/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${behind.key}`,
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      assert.ok(response.ok, `${method} ${path}: ${response.status} ${await response.clone().text()}`);
      return response.status === 204 ? undefined : response.json();
    };
    const instances = [ahead, behind];
    await ask(ahead, 'POST', '/projects', { name: 'Apollo', key: 'APOLLO' });
    const at = '/projects/APOLLO';
    await ask(ahead, 'POST', `${at}/risks`, { title: 'R', probability: 1, impact: 1 });
    const person = await ask(ahead, 'POST', '/personnel', { name: 'Ada' });
    const group = await ask(ahead, 'POST', '/groups', { name: 'Crew' });
    const member = `/groups/${group.id}/members/${person.user_id}`;
    const today = new Date().toISOString().slice(0, 10);
    for (let i = 0; i < 4; i++) {
      await ask(ahead, 'POST', `${at}/archive`);
      await ask(behind, 'POST', `${at}/unarchive`);
      for (const instance of instances) {
        const { data } = await ask(instance, 'GET', `/risks?as_of=${today}`);
        assert.deepEqual(pluck(data, 'title'), ['R'], 'the register of today has the risk that the list has');
      }
      await ask(ahead, 'PATCH', `${at}/risks/APOLLO-R1`, { probability: 2 + (i % 2) });
      await ask(behind, 'PATCH', `${at}/risks/APOLLO-R1`, { probability: 4 + (i % 2) });
      await ask(ahead, 'PUT', member);
      await ask(behind, 'DELETE', member);
    }

    const database = openDatabase(url);
    t.after(() => database.close());
    const { db } = database;
    const versions = await db.selectFrom('past_risks').selectAll().orderBy('version').execute();
    const current = await db.selectFrom('risks').selectAll().execute();
    for (const [i, { updated_at, valid_until }] of versions.entries()) {
      assert.ok(updated_at < valid_until, `${updated_at} is before ${valid_until}`);
      assert.equal([...versions, ...current][i + 1]?.updated_at, valid_until, 'without gap or overlap');
    }
    const risk = await ask(behind, 'GET', `${at}/risks/APOLLO-R1/history`);
    assert.deepEqual(pluck(risk.data.slice(1), 'to'), [2, 4, 3, 5, 2, 4, 3, 5]);
    const project = await ask(behind, 'GET', `${at}/history`);
    const values = project.data.slice(1).flatMap(({ from, to }: Record<string, unknown>) => [from, to]);
    assert.deepEqual(
      values.map((value: unknown) => value !== null),
      Array.from({ length: 4 }, () => [false, true, true, false]).flat(),
    );
    for (const path of [`/groups/${group.id}`, `/personnel/${person.user_id}`]) {
      const { data } = await ask(behind, 'GET', `${path}/history`);
      const changes = data.slice(1).map(({ to }: { to: unknown }) => (to === null ? 'left' : 'joined'));
      assert.deepEqual(changes, Array.from({ length: 4 }, () => ['joined', 'left']).flat(), path);
    }
    await ask(behind, 'DELETE', `${at}/risks/APOLLO-R1`);
    const last = await db
      .selectFrom('history')
      .select(['field', 'at'])
      .where('subject_id', '=', current[0]?.id ?? '')
      .orderBy('at', 'desc')
      .executeTakeFirst();
    assert.equal(last?.field, 'deleted');
  });

  test('at the same millisecond still write one change after the other', async (t) => {
    const { service, key } = await withKey(start(t, { clock: settableClock('2026-03-01T12:00:00Z') }));
    const { id } = await service.make('/v1/projects', key, { name: 'Apollo', key: 'APOLLO' });
    await service.post('/v1/projects/APOLLO/archive', key, undefined);
    await service.post('/v1/projects/APOLLO/unarchive', key, undefined);
    const rows = await service.database.db
      .selectFrom('history')
      .select('at')
      .where('subject_id', '=', id)
      .execute();
    assert.equal(new Set(pluck(rows, 'at')).size, 3);
  });

  test('that differ by seconds leave the items of a bulk change one time', async (t) => {
    const clock = settableClock('2026-03-01T12:00:00Z');
    const { service, key } = await withKey(start(t, { clock }));
    await service.make('/v1/projects', key, { name: 'Apollo', key: 'APOLLO' });
    for (const [title, seconds] of [
      ['a', '01.000'],
      ['b', '01.020'],
      ['c', '01.300'],
    ]) {
      clock.set(`2026-03-01T12:00:${seconds}Z`);
      await service.make('/v1/projects/APOLLO/risks', key, { title });
    }
    clock.set('2026-03-01T12:00:00Z');
    const items = ['APOLLO-R1', 'APOLLO-R2', 'APOLLO-R3'].map((id) => ({ id }));
    const { status } = await service.post('/v1/bulk/risks', key, { items, changes: { impact: 5 } });
    assert.equal(status, 200);
    const times = pluck(await service.list('/v1/risks', key), 'updated_at');
    assert.deepEqual(times, Array(3).fill('2026-03-01T12:00:01.301Z'));
  });

  test('years ahead for a while move no other item of a bulk change there', async (t) => {
    const clock = settableClock('2026-03-01T12:00:00Z');
    const { service, key } = await withKey(start(t, { clock }));
    await service.make('/v1/projects', key, { name: 'Apollo', key: 'APOLLO' });
    const at = '/v1/projects/APOLLO/risks';
    for (const title of ['Ahead', 'Other']) await service.make(at, key, { title, probability: 1, impact: 1 });
    clock.set('2036-03-01T12:00:00Z');
    await service.patch(`${at}/APOLLO-R1`, key, { impact: 2 });
    clock.set('2026-03-02T12:00:00Z');
    const change = (changes: object) =>
      service.post('/v1/bulk/risks', key, { items: [{ id: 'APOLLO-R1' }, { id: 'APOLLO-R2' }], changes });
    const { status, body } = await change({ impact: 5 });
    assert.deepEqual([status, pluck(body.data, 'key')], [200, ['APOLLO-R1', 'APOLLO-R2']]);
    const read = async (name: string) => (await service.get(`${at}/${name}`, key)).body;
    assert.match((await read('APOLLO-R1')).updated_at, /^2036-03-01T12:00:00.001Z$/);
    assert.match((await read('APOLLO-R2')).updated_at, /^2026-03-02/);
    const past = await service.list('/v1/risks?as_of=2026-03-02', key);
    assert.deepEqual(Object.fromEntries(pluck(past, 'key', 'impact')), { 'APOLLO-R1': 1, 'APOLLO-R2': 5 });
    assert.equal((await change({ raised_on: '2030-01-01' })).status, 422, 'in the future for one of them');
  });

  test('have written entries whose ids are in another order', async (t) => {
    const { service, key } = await withKey(start(t, { clock: settableClock('2026-03-01T12:00:00Z') }));
    const { id } = await service.make('/v1/projects', key, { name: 'Apollo', key: 'APOLLO' });
    await service.make('/v1/projects/APOLLO/risks', key, { title: 'R', probability: 1, impact: 1 });
    const { db, write } = service.database;
    const [created] = await db.selectFrom('history').selectAll().where('subject_id', '=', id).execute();
    assert.ok(created);
    const field = 'archived_at';
    const [first, second] = [newId('history'), newId('history')];
    const archived = {
      ...created,
      id: second,
      at: '2026-03-01T12:00:01.000Z',
      field,
      from: 'null',
      to: '"x"',
    };
    const unarchived = { ...archived, id: first, at: '2026-03-01T12:00:02.000Z', from: '"x"', to: 'null' };
    await write((db) => insertRows(db, 'history', [archived, unarchived]));

    assert.equal((await service.list('/v1/risks?as_of=2026-03-01', key)).length, 1);
    const path = '/v1/projects/APOLLO/history';
    const expected = [created.id, second, first];
    assert.deepEqual(pluck(await service.list(path, key), 'id'), expected);
    const paged = [];
    for (let cursor = ''; ; ) {
      const { body } = await service.get(`${path}?limit=1${cursor}`, key);
      paged.push(...pluck(body.data, 'id'));
      if (body.page.next_cursor === null) break;
      cursor = `&cursor=${body.page.next_cursor}`;
    }
    assert.deepEqual(paged, expected);
  });
});
