import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { freePort } from '../../../test/ports.ts';
import { temporaryFolder } from '../../../test/process.ts';
import { onBothEngines, onSqlite, type TestService, withKey } from '../../../test/service.ts';
import { startService } from '../../commands/serve.ts';
import { fileDatabaseUrl, readConfig } from '../../config.ts';
import { unavailable } from '../../core/errors.ts';
import { createJobs } from '../../jobs/schedule.ts';
import { bucketBounds, Histogram } from './request-histogram.ts';

onBothEngines('metrics', (start) => {
  test('count responses by route and status, cached ones included', async (t) => {
    const { service, key } = await withKey(start(t));
    for (let i = 0; i < 4; i++) await service.get('/v1/risks?limit=5', key);
    // Not cached, because it is sent once.
    await service.get('/v1/risks?limit=6', key);
    await service.get('/v1/risks?wrong=1', key);
    await service.get('/nothing', key);
    const { status, headers, text } = await service.get('/metrics', await service.key('metrics.read'));
    assert.equal(status, 200);
    assert.equal(headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
    const values = samples(text);
    const value = (sample: string) => values.get(sample) ?? Number.NaN;
    const count = 'muster_http_request_duration_seconds_count';
    assert.equal(value(`${count}{method="GET",route="/v1/risks",status="200"}`), 5);
    assert.equal(value(`${count}{method="GET",route="/v1/risks",status="400"}`), 1);
    assert.equal(value(`${count}{method="GET",route="none",status="404"}`), 1);
    assert.equal(value('muster_response_cache_requests_total{result="hit"}'), 2);
    assert.equal(value('muster_response_cache_requests_total{result="miss"}'), 3);
    assert.equal(value('muster_response_cache_entries'), 1);
    assert.ok(value('muster_response_cache_bytes') > 100);
    assert.equal(value('muster_response_cache_max_bytes'), 64 * 1024 * 1024);
    assert.ok(value('process_resident_memory_bytes') > 1e6);
    assert.ok(value('process_cpu_seconds_total') > 0);
    assert.ok(value('muster_http_connections') > 0);
    assert.ok(value('muster_http_bytes_total{direction="sent"}') > 1000);
    assert.equal(value('muster_http_requests_shed_total'), 0);
    assert.equal(value('muster_list_streams'), 0);
    assert.equal(value('muster_database_pool_waiting{pool="stream"}'), 0);
    assert.ok(value('muster_database_connections{pool="slow",state="idle"}') >= 0);
    const slowest = `muster_http_request_duration_seconds_bucket{method="GET",route="/v1/risks",status="200",le="+Inf"}`;
    assert.equal(value(slowest), 5);
    for (const line of text.split('\n').filter((line) => line !== '')) {
      assert.match(line, /^(# (HELP|TYPE) \w+ .+|\w+(\{(\w+="[^"\\]*",?)+\})? [\d.e+-]+)$/);
    }
  });
});

onBothEngines('metrics of work in the background', (start) => {
  test('count sign-ins, runs of jobs, deleted rows and commits', async (t) => {
    const { service, key } = await withKey(start(t));
    const read = async () => scrape(service, key);
    const signIn = (body: object) =>
      service.call('POST', '/v1/session', undefined, body, { origin: service.origin });
    const before = await read();
    assert.equal(before.get('muster_sign_ins_total{way="password",result="failed"}'), 0);
    assert.equal((await signIn({ key })).status, 204);
    assert.equal((await signIn({ email: 'nobody@example.com', password: 'wrong' })).status, 401);
    const [commits, ways] = ['muster_database_commit_duration_seconds_count', 'muster_sign_ins_total'];
    const after = await read();
    assert.equal(after.get(`${ways}{way="key",result="succeeded"}`), 1);
    assert.equal(after.get(`${ways}{way="password",result="failed"}`), 1);
    assert.equal(after.get(`${ways}{way="password",result="succeeded"}`), 0);
    assert.ok((after.get(commits) ?? 0) > (before.get(commits) ?? Number.NaN));

    const headers = { 'idempotency-key': 'a' };
    await service.call('POST', '/v1/groups', key, { name: 'A' }, headers);
    await service.database.write((db) =>
      db.updateTable('idempotency').set({ created_at: '2020-01-01T00:00:00.000Z' }).execute(),
    );
    const jobs = createJobs(service.app);
    await jobs.runDue();
    jobs.start(1);
    const deleted = 'muster_retention_deleted_total{name="responses"}';
    while (!(await read()).get(deleted)) await setImmediate();
    await jobs.stop();
    const end = await read();
    assert.equal(end.get(deleted), 1);
    for (const job of ['folds', 'acceptances', 'dated_events', 'sequence'])
      assert.ok((end.get(`muster_job_runs_total{name="${job}",result="succeeded"}`) ?? 0) > 0, job);
    assert.equal(end.get('muster_job_runs_total{name="folds",result="failed"}'), 0);
    assert.ok((end.get('muster_job_seconds_total{name="responses"}') ?? 0) > 0);
  });

  test('count a job that fails', async (t) => {
    const { service, key } = await withKey(start(t));
    const { mock } = t.mock.method(service.app.organizationClock, 'refresh', async () => {
      throw new Error('Injected.');
    });
    await assert.rejects(createJobs(service.app).runDue(), /Injected/);
    mock.restore();
    const values = await scrape(service, key);
    assert.equal(values.get('muster_job_runs_total{name="acceptances",result="failed"}'), 1);
    assert.equal(values.get('muster_job_runs_total{name="acceptances",result="succeeded"}'), 0);
  });
});

onSqlite('metrics', (start) => {
  test('the counters of alerts begin with 0, so that the first error is an increase', async (t) => {
    const { service, key } = await withKey(start(t), 'metrics.read');
    const { requestHistogram } = service.app;
    const errors = (values: Map<string, number>) =>
      [500, 503, 507].map((status) => values.get(`muster_http_server_errors_total{status="${status}"}`));
    const before = await scrape(service, key);
    assert.deepEqual(errors(before), [0, 0, 0]);
    for (const result of ['delivered', 'retried', 'failed'])
      assert.equal(before.get(`muster_webhook_attempts_total{result="${result}"}`), 0, result);
    requestHistogram.record('GET', '/v1/risks', 500, 1);
    requestHistogram.record('GET', '/v1/issues', 500, 1);
    requestHistogram.record('POST', '/v1/groups', 507, 1);
    assert.deepEqual(errors(await scrape(service, key)), [2, 0, 1]);
  });

  test('say whether the service is ready, as /readyz does', async (t) => {
    const { service, key } = await withKey(start(t), 'metrics.read');
    assert.equal((await scrape(service, key)).get('muster_ready'), 1);
    t.mock.method(service.app.database, 'checkReady', async () => {
      throw new Error('down');
    });
    assert.equal((await service.get('/readyz')).status, 503);
    assert.equal((await scrape(service, key)).get('muster_ready'), 0);
  });

  test('leave out what a database that does not respond would have to say', {
    timeout: 60_000,
  }, async (t) => {
    const { service, key } = await withKey(start(t), 'metrics.read');
    const { database } = service.app;
    const never = () => new Promise<never>(() => {});
    const mocks = (['checkWritable', 'storage', 'checkReady'] as const).map((name) =>
      t.mock.method(database, name, never),
    );
    const frozen = await scrape(service, key);
    assert.equal(frozen.get('muster_ready'), 0);
    for (const name of ['muster_database_writable', 'muster_database_size_bytes'])
      assert.ok(!frozen.has(name), name);
    assert.equal(frozen.get('muster_acceptances_expired'), 0);
    for (const { mock } of mocks) mock.restore();

    for (const [error, expected] of [
      [new Error('Connection terminated'), undefined],
      [unavailable('The database does not accept writes.', 1), 0],
    ] as const) {
      const { mock } = t.mock.method(database, 'checkWritable', () => Promise.reject(error));
      assert.equal((await scrape(service, key)).get('muster_database_writable'), expected, error.message);
      mock.restore();
    }
    assert.equal((await scrape(service, key)).get('muster_database_writable'), 1);
  });

  test('the states of requests in flight do not overlap', async (t) => {
    const { service, key } = await withKey(start(t));
    const sockets = Array.from({ length: 3 }, () => {
      const socket = connect(Number(new URL(service.origin).port), '127.0.0.1');
      socket.write(
        `POST /v1/groups HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
          'content-type: application/json\r\ncontent-length: 100\r\n\r\n{',
      );
      return socket;
    });
    while (service.app.load.inFlight < 3) await setImmediate();
    const { text } = await service.get('/metrics', key);
    const inFlight = [...samples(text)].filter(([name]) => name.includes('_in_flight'));
    assert.deepEqual(inFlight, [
      ['muster_http_requests_in_flight{state="processing"}', 1],
      ['muster_http_requests_in_flight{state="transferring"}', 3],
    ]);
    for (const socket of sockets) socket.destroy();
  });

  test('queued requests are processing, and never counted twice or not at all', async (t) => {
    const { service, key } = await withKey(start(t));
    assert.equal((await service.get('/v1/projects/NONE', key)).status, 404);
    const { load, connections } = service.app;
    const sockets = Array.from({ length: 10 }, () =>
      connect(Number(new URL(service.origin).port), '127.0.0.1').resume(),
    );
    while (connections.open.size < 10) await setImmediate();
    for (const [i, socket] of sockets.entries())
      socket.write(
        `GET /v1/projects/NONE${i} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\nconnection: close\r\n\r\n`,
      );
    let isOver = false;
    const sent = Promise.all(sockets.map((socket) => once(socket, 'close'))).finally(() => {
      isOver = true;
    });
    let maxProcessing = 0;
    while (!isOver) {
      maxProcessing = Math.max(maxProcessing, load.active);
      assert.ok(load.inFlight >= load.active, `${load.inFlight} in flight, ${load.active} processing`);
      await setImmediate();
    }
    await sent;
    assert.ok(maxProcessing > 1);
    assert.deepEqual([load.inFlight, load.active], [0, 0]);
  });

  test('a scrape resets nothing that another scraper reads', async (t) => {
    const { service, key } = await withKey(start(t), 'metrics.read');
    const delays = 'muster_event_loop_delay_seconds_count';
    let before = await scrape(service, key);
    while (!before.get(delays)) before = await scrape(service, key);
    const after = await scrape(service, key);
    const growing = [...before].filter(([name]) => /_(total|count|sum|bucket)(\{|$)/.test(name));
    assert.ok(growing.length > 20);
    for (const [name, value] of growing) assert.ok((after.get(name) ?? -1) >= value, name);
  });

  test('are all in docs/operations.md', async (t) => {
    const service = await start(t);
    const { text } = await service.get('/metrics', await service.key('metrics.read'));
    const served = Array.from(text.matchAll(/^# TYPE (\w+) (\w+)$/gm), ([, name, type]) => `${name} ${type}`);
    const document = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
    const documented = Array.from(
      document.matchAll(/^\| `(\w+)` \| (gauge|counter|histogram) \|/gm),
      ([, name, type]) => `${name} ${type}`,
    );
    assert.deepEqual(documented.sort(), served.sort());
  });
});

onSqlite('metrics on their own port', (start) => {
  test('need no key', async (t) => {
    const port = await freePort();
    await start(t, { environment: { MUSTER_METRICS_PORT: String(port) } });
    const response = await fetch(`http://127.0.0.1:${port}/metrics`);
    assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
    assert.match(await response.text(), /^process_cpu_seconds_total /m);
    assert.equal((await fetch(`http://127.0.0.1:${port}/v1/risks`)).status, 404);
  });

  test('a port that is taken prevents the start, with a sentence', async (t) => {
    const taken = createServer().listen(0, '127.0.0.1');
    t.after(() => taken.close());
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const config = readConfig({ MUSTER_METRICS_PORT: String(port), MUSTER_PORT: '0' });
    const database_url = fileDatabaseUrl(join(temporaryFolder(t), 'muster.db'));
    await assert.rejects(startService({ ...config, database_url }), {
      name: 'UsageError',
      message: `127.0.0.1:${port} is already in use. Stop the other process, or set MUSTER_METRICS_PORT to another port.`,
    });
  });
});

test('a duration is counted in the first bucket that is long enough', () => {
  const histogram = new Histogram();
  for (const seconds of [0.003, 0.005, 0.7, 60]) histogram.observe(seconds);
  const counted = [...bucketBounds, Number.POSITIVE_INFINITY].flatMap((bound, index) =>
    Array<number>(histogram.counts[index] ?? 0).fill(bound),
  );
  assert.deepEqual(counted, [0.005, 0.005, 1, Number.POSITIVE_INFINITY]);
  assert.equal(histogram.sum, 60.708);
});

const scrape = async ({ get }: TestService, key: string) => samples((await get('/metrics', key)).text);

/** Values by name with labels. */
const samples = (text: string) =>
  new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line): [string, number] => {
        const [name = '', value] = line.split(/ (?=[^ ]+$)/);
        return [name, Number(value)];
      }),
  );
