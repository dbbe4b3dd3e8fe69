import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { startPgbouncer } from '../../../test/pgbouncer.ts';
import { isInstalled } from '../../../test/programs.ts';
import { startTestService, withKey } from '../../../test/service.ts';
import { createApp } from '../../app.ts';
import { readConfig } from '../../config.ts';
import { systemClock } from '../../core/clock.ts';
import { openDatabase } from '../../store/open.ts';

const ignored =
  'ignore_startup_parameters = options, statement_timeout, lock_timeout, idle_in_transaction_session_timeout';

for (const [name, settings] of [
  ['that rejects the settings of connections', ''],
  ['that ignores the settings of connections', ignored],
] as const) {
  test(`two services work behind a pgbouncer ${name}`, async (t) => {
    if (!isInstalled('pgbouncer')) return t.skip('pgbouncer is not installed');
    const via = await startPgbouncer(t, settings);
    const environment = { MUSTER_DATABASE_PREPARE: 'off' };
    const first = await startTestService(t, 'postgres', { via, environment });
    const key = await first.key();
    const second = await startSecond(t, first.url);

    // Enough repetitions for every statement to be prepared if it were allowed.
    for (let round = 0; round < 5; round++) {
      const statuses = await Promise.all(
        [first.origin, second].flatMap((origin, i) => [
          send(origin, key, 'POST', '/v1/personnel', {
            name: `Person ${round}`,
            email: `p${round}.${i}@example.com`,
          }),
          send(origin, key, 'POST', '/v1/projects', { name: `Project ${round} ${i}` }),
          send(origin, key, 'POST', '/v1/personnel/import?dry_run=true', 'name\nAda\n'),
          send(origin, key, 'POST', '/v1/groups/import', `name\nGroup ${round} ${i}\n`),
          ...[
            '/v1/personnel',
            '/v1/personnel?q=person&limit=2',
            '/v1/groups',
            '/v1/risks',
            '/v1/issues',
            '/v1/me',
          ].map((path) => send(origin, key, 'GET', path)),
        ]),
      );
      assert.deepEqual([...new Set(statuses)].sort(), [200, 201]);
    }
    for (const origin of [first.origin, second]) {
      const response = await fetch(`${origin}/v1/personnel`, { headers: { authorization: `Bearer ${key}` } });
      assert.equal((await response.json()).page.total, 10);
    }
  });

  test(`a transaction has its limits behind a pgbouncer ${name}, and nothing after it`, async (t) => {
    if (!isInstalled('pgbouncer')) return t.skip('pgbouncer is not installed');
    const via = await startPgbouncer(t, settings);
    const { url, database } = await startTestService(t, 'postgres', {
      via,
      environment: { MUSTER_DATABASE_PREPARE: 'off' },
    });
    const direct = Object.assign(new URL(url), { port: new URL(process.env.TEST_POSTGRES_URL ?? '').port });
    const administrator = new pg.Client(direct.href);
    await administrator.connect();
    await administrator.query(`alter database ${direct.pathname.slice(1)} set synchronous_commit = off`);
    await administrator.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    );
    await administrator.end();

    const names = [
      'synchronous_commit',
      'statement_timeout',
      'lock_timeout',
      'idle_in_transaction_session_timeout',
    ];
    const read = sql<
      Record<string, string>
    >`select ${sql.raw(names.map((name) => `current_setting('${name}') as ${name}`).join(', '))}`;
    const { rows } = await database.write((db) => read.execute(db));
    assert.deepEqual(Object.values(rows[0] ?? {}), ['on', '8s', '5s', '1min']);
    const after = await read.execute(database.db);
    assert.deepEqual(Object.values(after.rows[0] ?? {}), ['off', '0', '0', '0']);
  });
}

test('behind a pgbouncer without prepared statements, requests fail with advice and never run another statement', async (t) => {
  if (!isInstalled('pgbouncer')) return t.skip('pgbouncer is not installed');
  const via = await startPgbouncer(t, '');
  const { service, key } = await withKey(startTestService(t, 'postgres', { via }));
  const responses = [];
  for (let i = 0; i < 10; i++) {
    const created = service.post('/v1/groups', key, { name: `Group ${i}` });
    responses.push(
      ...(await Promise.all([created, service.get(`/v1/groups?q=${i}`, key), service.get('/v1/me', key)])),
    );
  }
  const failed = responses.filter(({ status }) => status !== 200 && status !== 201);
  for (const { status, body } of failed)
    assert.match(`${status} ${body.detail}`, /^500 .*MUSTER_DATABASE_PREPARE=off/);
  assert.ok(failed.length > 0);
  const ready = await service.get('/readyz');
  assert.equal(ready.status, 503);
  assert.match(ready.body.detail, /MUSTER_DATABASE_PREPARE=off/);
  await assert.rejects(service.database.checkSetup(), /MUSTER_DATABASE_PREPARE=off/);
  const created = responses.filter(({ status }) => status === 201).map(({ body }) => body.name);
  const { rows } = await sql<{ name: string }>`select * from groups`.execute(service.database.db);
  assert.deepEqual(rows.map(({ name }) => name).sort(), created.sort());
});

const send = async (origin: string, key: string, method: string, path: string, body?: object | string) => {
  const response = await fetch(origin + path, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body && { 'content-type': typeof body === 'string' ? 'text/csv' : 'application/json' }),
    },
    ...(body && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  await response.arrayBuffer();
  return response.status;
};

/** Another service on the same database. */
async function startSecond(t: { after(work: () => Promise<unknown>): void }, url: string): Promise<string> {
  const config = readConfig({
    MUSTER_DATABASE_URL: url,
    MUSTER_PORT: '0',
    MUSTER_LOG_LEVEL: 'silent',
    MUSTER_RATE_LIMIT: '0',
  });
  const database = openDatabase(url, undefined, { prepare: false });
  const app = await createApp({ config, database, clock: systemClock, readiness: { state: 'ready' } });
  t.after(() => app.close());
  return app.listen({ host: '127.0.0.1', port: 0 });
}
