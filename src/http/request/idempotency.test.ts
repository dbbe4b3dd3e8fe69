import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settableClock } from '../../../test/clock.ts';
import { onBothEngines, withKey } from '../../../test/service.ts';
import { momentOf } from '../../core/clock.ts';
import { deleteOldResponses } from '../../jobs/retention.ts';
import { insertRows } from '../../store/writes/rows.ts';

onBothEngines('idempotency', (start, _engine) => {
  test('200 identical requests create one person and get 200 equal responses', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    const post = async () => {
      // A request that waits too long for the first one is told to try again.
      for (;;) {
        const response = await service.post(
          '/v1/personnel',
          key,
          { name: 'Ada' },
          { 'idempotency-key': 'once' },
        );
        if (response.status !== 503) return response;
        assert.equal(response.headers.get('retry-after'), '1');
      }
    };
    const responses = await Promise.all(Array.from({ length: 200 }, post));
    assert.deepEqual([...new Set(responses.map(({ status }) => status))], [201]);
    assert.equal(new Set(responses.map(({ text }) => text)).size, 1);
    assert.equal(
      responses.filter(({ headers }) => headers.get('idempotent-replayed') === 'true').length,
      199,
    );
    assert.equal(new Set(responses.map(({ headers }) => headers.get('location'))).size, 1);
    assert.equal((await service.get('/v1/personnel', key)).body.page.total, 1);
  });

  test('a key is the same with and without quotes, and is separate per path and API key', async (t) => {
    const service = await start(t);
    const [one, other] = [await service.key('personnel.manage'), await service.key('personnel.manage')];
    const post = (path: string, key: string, name: string, id = 'k') =>
      service.post(path, key, { name }, { 'idempotency-key': id });
    const first = await post('/v1/personnel', one, 'Ada');
    assert.deepEqual((await post('/v1/personnel', one, 'Ada', '"k"')).body, first.body);
    const mismatch = await post('/v1/personnel', one, 'Bob');
    assert.deepEqual([mismatch.status, mismatch.body.code], [422, 'idempotency_mismatch']);
    assert.equal((await post('/v1/groups', one, 'Ada')).headers.get('idempotent-replayed'), null);
    assert.notEqual((await post('/v1/personnel', other, 'Ada')).body.user_id, first.body.user_id);
    assert.equal((await service.get('/v1/personnel', one)).body.page.total, 2);
    for (const id of ['', 'ü', 'a b', 'x'.repeat(256), '"']) {
      const response = await post('/v1/personnel', one, 'Ada', id).catch(() => undefined);
      if (response) assert.equal(response.body.code, 'malformed_request', id);
    }
  });

  test('rejected requests are not stored, and stored responses expire after a day', async (t) => {
    const clock = settableClock('2026-11-15T12:00:00Z');
    const { service, key } = await withKey(start(t, { clock }), 'personnel.manage');
    const post = (body: object) => service.post('/v1/personnel', key, body, { 'idempotency-key': 'k' });
    assert.equal((await post({ name: '' })).status, 422);
    assert.equal(
      (await post({ name: 'Ada', manager_user_id: 'usr_00000000000000000000000000' })).status,
      422,
    );
    const { body } = await post({ name: 'Ada' });
    clock.set('2026-11-16T11:59:59Z');
    assert.deepEqual((await post({ name: 'Ada' })).body, body);
    clock.set('2026-11-16T12:00:01Z');
    assert.notEqual((await post({ name: 'Ada' })).body.user_id, body.user_id);
    clock.set('2026-11-18T12:00:00Z');
    await deleteOldResponses(service.database, clock());
    assert.equal((await service.database.db.selectFrom('idempotency').selectAll().execute()).length, 0);
  });

  test('expired responses are deleted in parts', async (t) => {
    const { database } = await start(t);
    const rows = Array.from({ length: 1_200 }, (_, i) => ({
      id: `record-${i}`,
      request_hash: '',
      response: '{}',
      created_at: '2026-11-15T12:00:00.000Z',
    }));
    await database.write((db) => insertRows(db, 'idempotency', rows));
    const written = t.mock.method(database, 'write');
    await deleteOldResponses(database, momentOf(new Date('2026-11-18T12:00:00Z')));
    assert.equal(written.mock.callCount(), 3);
    assert.deepEqual(await database.db.selectFrom('idempotency').select('id').execute(), []);
  });

  test('a replay is rejected after the permissions of the key change, and nothing runs twice', async (t) => {
    const service = await start(t);
    const whole = await service.key();
    for (const name of ['Apollo', 'Gemini']) await service.make('/v1/projects', whole, { name });
    const { id, secret } = await service.make('/v1/keys', whole, {
      name: 'retries',
      scopes: ['projects.manage', 'personnel.read'],
    });
    const post = (project: string) =>
      service.post(`/v1/projects/${project}/risks`, secret, { title: 'x' }, { 'idempotency-key': 'k' });
    const [apollo, gemini] = [await post('APOLLO'), await post('GEMINI')];
    const change = async (patch: object) =>
      assert.equal((await service.patch(`/v1/keys/${id}`, whole, patch)).status, 200);
    const seen = async () =>
      [await post('APOLLO'), await post('GEMINI')].map(({ body }) => body.code ?? body);

    await change({ name: 'renamed', rate_limit: 1000 });
    assert.deepEqual(await seen(), [apollo.body, gemini.body]);
    for (const patch of [{ project_ids: ['APOLLO'] }, { project_ids: null, scopes: ['projects.manage'] }]) {
      await change(patch);
      assert.deepEqual(await seen(), ['idempotency_mismatch', 'idempotency_mismatch']);
    }
    await change({ scopes: ['projects.manage', 'personnel.read'] });
    assert.deepEqual(await seen(), [apollo.body, gemini.body]);
    assert.equal((await service.get('/v1/risks', whole)).body.page.total, 2);
  });

  test('a risk materializes once', async (t) => {
    const { service, key } = await withKey(start(t), 'projects.manage');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const risk = await service.make('/v1/projects/APOLLO/risks', key, { title: 'x' });
    const path = `/v1/projects/APOLLO/risks/${risk.key}/materialize`;
    const post = () => service.post(path, key, {}, { 'idempotency-key': 'k' });
    const [first, second] = [await post(), await post()];
    assert.deepEqual([first.status, second.status], [201, 201]);
    assert.deepEqual(first.body, second.body);
    assert.equal((await service.post(path, key, {})).status, 409);
  });
});
