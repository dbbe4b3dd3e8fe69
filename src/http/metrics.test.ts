import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines } from '../testing/service.ts';
import { Answered } from './answered.ts';

onBothEngines('metrics', (start) => {
  test('count what was answered, by route and status, also what came from memory', async (t) => {
    const service = await start(t);
    const key = await service.key();
    for (let i = 0; i < 3; i++) await service.get('/v1/risks?limit=5', key);
    await service.get('/v1/risks?wrong=1', key);
    await service.get('/nothing', key);
    const { status, headers, text } = await service.get('/metrics', await service.key('events.read'));
    assert.equal(status, 200);
    assert.equal(headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
    const value = (sample: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${sample} `))
          ?.split(' ')[1],
      );
    const count = 'muster_http_request_seconds_count';
    assert.equal(value(`${count}{method="GET",route="/v1/risks",status="200"}`), 3);
    assert.equal(value(`${count}{method="GET",route="/v1/risks",status="400"}`), 1);
    assert.equal(value(`${count}{method="GET",route="none",status="404"}`), 1);
    assert.equal(value('muster_cache_requests_total{result="hit"}'), 2);
    assert.equal(value('muster_cache_answers'), 1);
    assert.ok(value('muster_cache_bytes') > 100);
    assert.ok(value('process_resident_memory_bytes') > 1e6);
    assert.ok(value('muster_http_connections') > 0);
    assert.ok(value('muster_http_bytes_total{direction="sent"}') > 1000);
    assert.equal(value('muster_http_requests_under_way{state="worked_on"}'), 1);
    assert.equal(value('muster_http_requests_shed_total'), 0);
    assert.equal(value('muster_database_waiting{pool="stream"}'), 0);
    assert.ok(value('muster_database_connections{pool="slow",state="idle"}') >= 0);
    assert.ok(value('muster_event_loop_delay_seconds{quantile="0.99"}') >= 0);
    const slowest = `muster_http_request_seconds_bucket{method="GET",route="/v1/risks",status="200",le="+Inf"}`;
    assert.equal(value(slowest), 3);
    for (const line of text.trimEnd().split('\n')) {
      assert.match(line, /^(# (HELP|TYPE) \w+ .+|\w+(\{(\w+="[^"\\]*",?)+\})? [\d.e+-]+)$/);
    }
  });

  test('are for keys that may read events', async (t) => {
    const service = await start(t);
    assert.equal((await service.get('/metrics')).status, 401);
    assert.equal((await service.get('/metrics', await service.key('personnel.manage'))).status, 403);
  });
});

onBothEngines('metrics at a port of their own', (start, engine) => {
  test('need no key there', async (t) => {
    const port = engine === 'sqlite' ? 39_181 : 39_182;
    await start(t, { environment: { MUSTER_METRICS_PORT: String(port) } });
    const response = await fetch(`http://127.0.0.1:${port}/metrics`);
    assert.match(await response.text(), /^process_cpu_seconds_total /m);
    assert.equal((await fetch(`http://127.0.0.1:${port}/v1/risks`)).status, 404);
  });
});

test('times are counted in all buckets that are not shorter', () => {
  const answered = new Answered();
  answered.record('GET', '/x', 200, 3);
  answered.record('GET', '/x', 200, 700);
  answered.record('GET', '/x', 200, 60_000);
  const buckets = answered
    .lines()
    .flatMap((line) => /le="(.+)"\} (\d+)/.exec(line)?.slice(1).join(' ') ?? []);
  assert.deepEqual(
    buckets.filter((bucket) => /^(0.0025|0.005|0.5|1|10|\+Inf) /.test(bucket)),
    ['0.0025 0', '0.005 1', '0.5 1', '1 2', '10 2', '+Inf 3'],
  );
});
