import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { fillPeople } from '../../../test/people.ts';
import { freePort } from '../../../test/ports.ts';
import { type PostgresServer, startPostgresServer } from '../../../test/postgres-server.ts';
import { startMuster, temporaryFolder } from '../../../test/process.ts';
import { openDatabase } from '../../store/open.ts';

/**
 * The documented limits while PostgreSQL is unavailable, and after it is back, are 10, 2 and 1 seconds. Other tests on the
 * machine may delay a response.
 */
const maxResponseMs = 15_000;
const maxReadyzMs = 5_000;
const maxRecoveryMs = 5_000;
/** For requests that must not wait for the database. Generous, because the machine may run other tests. */
const maxImmediateMs = 2_000;

type Response = {
  method: string;
  path: string;
  status: number;
  ms: number;
  text: string;
  retryAfter: string | null;
};

test('PostgreSQL failures', async (t) => {
  const server = await startPostgresServer(['fsync=off', 'full_page_writes=off']);
  t.after(() => server.stop());
  const url = await server.createDatabase();
  const metricsPort = String(await freePort());
  const {
    child,
    origin,
    key = '',
  } = await startMuster(t, temporaryFolder(t), {
    MUSTER_DATABASE_URL: url,
    MUSTER_METRICS_PORT: metricsPort,
  });
  const scrape = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();

  async function call(method: string, path: string, body?: object, secret = key): Promise<Response> {
    const start = performance.now();
    const response = await fetch(origin + path, {
      method,
      headers: { authorization: `Bearer ${secret}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const { status, headers } = response;
    return {
      method,
      path,
      status,
      ms: performance.now() - start,
      text,
      retryAfter: headers.get('retry-after'),
    };
  }

  /**
   * Runs `work` while many clients read and write. Asserts that every response is correct or 503, and that each
   * acknowledged write is stored exactly once.
   */
  async function underLoad(work: (stop: () => Promise<unknown>) => Promise<void>) {
    let isStopped = false;
    let people = 0;
    const round = crypto.randomUUID().slice(0, 8);
    const responses: Response[] = [];
    const acknowledged: string[] = [];
    const write = async () => {
      const name = `${round} ${people++}`;
      const response = await call('POST', '/v1/personnel', { name });
      if (response.status === 201) acknowledged.push(name);
      return response;
    };
    const requests = [
      write,
      write,
      () => call('GET', '/v1/personnel?limit=5'),
      () => call('GET', '/v1/groups'),
      () => call('GET', `/v1/risks/summary?updated_since=${2000 + (people % 20)}-01-01T00:00:00Z`),
      () => call('GET', '/v1/projects/NONE'),
    ];
    const clients = Array.from({ length: 18 }, async (_, i) => {
      while (!isStopped) responses.push(await (requests[i % requests.length] ?? write)());
    });
    const stop = () => {
      isStopped = true;
      return Promise.all(clients);
    };
    try {
      await until(async () => acknowledged.length > 20);
      await work(stop);
    } finally {
      await stop();
    }

    assert.equal(child.exitCode, null, 'the service runs');
    for (const response of responses) {
      assert.ok([200, 201, 404, 503].includes(response.status), JSON.stringify(response));
      if (response.status !== 503) continue;
      assert.equal(response.retryAfter, '1', JSON.stringify(response));
      assert.ok(response.ms < maxResponseMs, JSON.stringify(response));
    }
    const rows = await server.run('select name, count(*)::int as count from people group by name', url);
    const stored = new Map(rows.map(({ name, count }) => [name, count]));
    for (const name of acknowledged) assert.equal(stored.get(name), 1, name);
    assert.ok(rows.every(({ count }) => count === 1));
  }

  /** Asserts that reads, writes and readiness succeed at the latest one second after the database is back. */
  async function assertRecovered() {
    const returned = performance.now();
    for (const [method, path, body, expected] of [
      ['GET', '/readyz', undefined, 200],
      ['GET', '/v1/personnel?limit=1', undefined, 200],
      ['GET', '/v1/risks/summary', undefined, 200],
      ['GET', '/v1/personnel', undefined, 200],
      ['POST', '/v1/groups', { name: crypto.randomUUID() }, 201],
    ] as const) {
      for (;;) {
        const sent = performance.now();
        const { status, text } = await call(method, path, body);
        if (status === expected) break;
        assert.equal(status, 503, `${method} ${path}: ${text}`);
        assert.ok(sent - returned < maxRecoveryMs, `${method} ${path} is served again: ${text}`);
        await setTimeout(20);
      }
    }
  }

  async function assertUnavailable() {
    const ready = await call('GET', '/readyz');
    assert.equal(ready.status, 503);
    assert.ok(ready.ms < maxReadyzMs, `${ready.ms}`);
    // A mistyped key is rejected by its checksum, without the database.
    const immediate = [
      { response: await call('GET', '/livez'), status: 200 },
      {
        response: await call('GET', '/v1/personnel?limit=5', undefined, `${key.slice(0, -1)}~`),
        status: 401,
      },
      { response: await call('GET', '/v1/personnel?limit=5', undefined, mistyped(key)), status: 401 },
      { response: await call('POST', '/v1/personnel', { name: 'x' }, mistyped(key)), status: 401 },
    ];
    for (const { response, status } of immediate) {
      assert.equal(response.status, status, response.text);
      assert.ok(response.ms < maxImmediateMs, JSON.stringify(response));
    }
    const waiting = await Promise.all([
      call('GET', '/v1/personnel?limit=5'),
      call('GET', '/v1/personnel'),
      call('POST', '/v1/personnel', { name: 'away' }),
    ]);
    for (const response of waiting) {
      assert.equal(response.status, 503, response.text);
      assert.ok(response.ms < maxResponseMs, JSON.stringify(response));
    }
  }

  await t.test('terminated and canceled backends cause at most 503 responses', async () => {
    await underLoad(async () => {
      for (let round = 0; round < 10; round++) {
        await server.terminateBackends(url);
        await setTimeout(60);
        await server.run(`select pg_cancel_backend(pid) from pg_stat_activity
          where datname = '${new URL(url).pathname.slice(1)}' and state = 'active'`);
        await setTimeout(30);
      }
    });
    await assertRecovered();
  });

  await t.test('the service recovers from a killed postmaster', async () => {
    await underLoad(async () => {
      await server.kill9();
      await assertUnavailable();
      await server.restart();
      await assertRecovered();
    });
  });

  await t.test('requests to a frozen server end within 10 seconds', async () => {
    await underLoad(async (stop) => {
      assert.match(await scrape(), /^muster_database_writable 1$/m);
      await server.freeze();
      try {
        const [metrics] = await Promise.all([scrape(), assertUnavailable(), stop()]);
        assert.match(metrics, /^muster_ready 0$/m);
        assert.doesNotMatch(metrics, /^muster_(database_writable|database_size_bytes|backup_\w+) /m);
      } finally {
        await server.thaw();
      }
      await assertRecovered();
    });
  });

  await t.test('with a read-only server the service is ready for reads and rejects writes', async () => {
    await server.run('alter system set default_transaction_read_only = on');
    await server.run('select pg_reload_conf()');
    const checks = async () => (await call('GET', '/readyz?verbose')).text;
    await until(async () => /"writes","status":"failed","detail":"[^"]*read-only/.test(await checks()));
    assert.equal((await call('GET', '/readyz')).status, 200);
    const write = await call('POST', '/v1/personnel', { name: 'x' });
    assert.equal(write.status, 503, write.text);
    assert.match(write.text, /read-only/);
    assert.equal((await call('GET', '/v1/personnel?limit=5')).status, 200);
    await server.run('alter system reset default_transaction_read_only');
    await server.run('select pg_reload_conf()');
    await until(async () => !(await checks()).includes('failed'));
    await assertRecovered();
  });

  await t.test('a change whose connection is lost before its commit is retried', async () => {
    const release = await lockPeople(url);
    t.after(release);
    const written = call('POST', '/v1/personnel', { name: 'before commit' });
    await terminateWhere(server, "wait_event_type = 'Lock'");
    await until(async () => (await server.run(backendsWhere("wait_event_type = 'Lock'"))).length > 0);
    await release();
    assert.equal((await written).status, 201);
    assert.equal((await server.run("select 1 from people where name = 'before commit'", url)).length, 1);
  });

  await t.test(
    'a change whose connection is lost during its commit is reported as unknown and not retried',
    async () => {
      await server.run(
        `create function sleep() returns trigger language plpgsql as $$ begin perform pg_sleep(5); return null; end $$;
      create constraint trigger sleep after insert on people deferrable initially deferred
        for each row execute function sleep()`,
        url,
      );
      const written = call('POST', '/v1/personnel', { name: 'in commit' });
      await terminateWhere(server, "query = 'commit' and state = 'active'");
      const { status, text, retryAfter } = await written;
      assert.equal(status, 503);
      assert.equal(retryAfter, '1');
      assert.match(text, /may or may not have been saved/);
      await server.run('drop trigger sleep on people', url);
      assert.equal((await server.run("select 1 from people where name = 'in commit'", url)).length, 0);
    },
  );

  await t.test('a stream that loses its connection releases it', async () => {
    const database = openDatabase(url);
    const attributes = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`a${i}`, 'x'.repeat(200)]));
    await fillPeople(database, 5_000, { attributes });
    await database.close();
    // Each round uses all connections for streams.
    for (let round = 0; round < 2; round++) {
      const readers = await Promise.all(
        Array.from({ length: 8 }, () => stalledReader(t, `${origin}/v1/personnel`, key)),
      );
      await server.terminateBackends(url);
      const areWhole = await Promise.all(readers.map((read) => read()));
      assert.ok(areWhole.includes(false), 'some responses were truncated');
    }
    const whole = await call('GET', '/v1/personnel');
    assert.equal(whole.status, 200);
    assert.ok(whole.text.endsWith('}'));
    assert.equal(child.exitCode, null);
  });
});

/** Changes one character of a key, so that its checksum is wrong. */
const mistyped = (key: string) => key.slice(0, 10) + (key[10] === 'a' ? 'b' : 'a') + key.slice(11);

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await setTimeout(10);
}

const backendsWhere = (condition: string) =>
  `select pid from pg_stat_activity where application_name = 'muster' and ${condition}`;

/** Waits until the service has a backend that meets the condition, and terminates it. */
async function terminateWhere(server: PostgresServer, condition: string): Promise<void> {
  await until(async () => (await server.run(backendsWhere(condition))).length > 0);
  await server.run(`select pg_terminate_backend(pid) from (${backendsWhere(condition)}) as backends`);
}

/** Locks the table against writes. Returns a function that releases the lock. */
async function lockPeople(url: string): Promise<() => Promise<void>> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query('begin; lock table people in exclusive mode');
  return () => client.end();
}

/** Starts a request without reading its body. Returns a function that reads it and reports whether it was complete. */
async function stalledReader(t: TestContext, url: string, key: string): Promise<() => Promise<boolean>> {
  const request = get(url, { headers: { authorization: `Bearer ${key}` }, agent: false });
  t.after(() => request.destroy());
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return async () => {
    response.on('error', () => {}).resume();
    await new Promise((resolve) => response.once('close', resolve));
    return response.complete;
  };
}
