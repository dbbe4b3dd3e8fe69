import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { startMuster, temporaryFolder } from '../../../test/process.ts';
import { sendRaw } from '../../../test/raw-http.ts';
import { onSqlite } from '../../../test/service.ts';
import { momentOf } from '../../core/clock.ts';
import { Problem, unavailable } from '../../core/errors.ts';
import { newSecret } from '../../store/access/secret.ts';
import { logBackgroundError } from './logging.ts';

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';

test('keys, sessions, links and passwords are never logged, at any log level and wherever they were sent', async (t) => {
  const folder = temporaryFolder(t);
  const service = await startMuster(t, folder, {
    MUSTER_LOG_LEVEL: 'trace',
    MUSTER_TRUST_PROXY: '127.0.0.1',
  });
  const { origin, key = '' } = service;
  const secrets: string[] = [];
  const canary = () => secrets[secrets.push(newSecret()) - 1] ?? '';
  const json = { 'content-type': 'application/json' };
  const send = (path: string, headers: Record<string, string> = {}, method = 'GET', body?: string) =>
    fetch(origin + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...headers },
      ...(body !== undefined && { body }),
    });

  const created = await send('/v1/keys', json, 'POST', '{"name":"x","scopes":["personnel.read"]}');
  const { id, secret } = await created.json();
  const rotated = await (await send(`/v1/keys/${id}/rotate`, json, 'POST', '{"overlap_seconds":60}')).json();
  for (const held of [secret, rotated.secret]) {
    secrets.push(held);
    assert.equal((await send('/v1/personnel', { authorization: `Bearer ${held}` })).status, 200);
    assert.equal((await send('/v1/risks', { authorization: `Bearer ${held}` })).status, 403);
  }

  const page = { ...json, origin };
  const signedIn = await fetch(`${origin}/v1/session`, {
    method: 'POST',
    headers: page,
    body: JSON.stringify({ key: secret }),
  });
  const [cookie = ''] = (signedIn.headers.get('set-cookie') ?? '').split(';');
  secrets.push(cookie.split('=')[1] ?? '');
  for (const path of ['/v1/me', '/v1/risks']) await fetch(origin + path, { headers: { cookie } });
  for (const body of [{ link: newSecret('link') }, { email: 'a@b.c', password: canary() }]) {
    secrets.push(...Object.values(body));
    await fetch(`${origin}/v1/session`, { method: 'POST', headers: page, body: JSON.stringify(body) });
  }
  secrets.splice(secrets.indexOf('a@b.c'), 1);

  for (const scheme of ['Bearer', 'bearer', 'Basic', 'Token', 'Bearer x', ''])
    assert.equal((await send('/v1/me', { authorization: `${scheme} ${canary()}` })).status, 401);
  for (const header of [
    'cookie',
    'idempotency-key',
    'if-match',
    'if-none-match',
    'origin',
    'referer',
    'traceparent',
    'user-agent',
    'x-api-key',
    'x-forwarded-for',
    'x-request-id',
  ])
    await send('/v1/groups', { ...json, [header]: canary() }, 'POST', '{"name": 1}');
  for (const path of ['/v1/me?key=', '/v1/groups/', '/v1/', '/docs?', '/v1/risks?q=', '/v1/groups/%zz'])
    await send(path + canary());
  for (const body of [`{"name": "${canary()}"}`, `{"${canary()}": 1}`, `"${canary()}`, `[${canary()}]`])
    await send('/v1/groups', json, 'POST', body);
  await send('/v1/groups', { 'content-type': `text/${canary()}` }, 'POST', canary());
  for (const broken of [
    `GET /v1/me HTTP/1.1\r\nhost: x\r\nauthorization Bearer ${canary()}\r\n\r\n`,
    `GET /v1/me?${canary()} HTTP/9\r\nhost: x\r\n\r\n`,
    `GET /v1/me HTTP/1.1\r\nhost: ${canary()}\r\nhost: ${canary()}\r\nconnection: close\r\n\r\n`,
    `POST /v1/groups HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${canary()}\r\n`,
    `${canary()}\r\n\r\n`,
  ])
    await sendRaw(origin, broken);

  // Causes an internal error: the table is missing.
  const database = new Sqlite(join(folder, 'data/muster.db'));
  database.exec('alter table groups rename to gone');
  database.close();
  const traceparent = `00-${trace}-00f067aa0ba902b7-01`;
  const defect = await send('/v1/groups', { ...json, traceparent }, 'POST', `{"name": "${canary()}"}`);
  assert.equal(defect.status, 500);
  const { request_id } = await defect.json();

  const cached = { ...json, 'x-forwarded-for': '198.51.100.1, 203.0.113.7' };
  for (let i = 0; i < 4; i++) await send('/v1/projects?limit=1', cached);

  service.child.kill('SIGTERM');
  assert.equal(await service.exit, 0);
  const log = service.stderr();
  const lines = log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.ok(lines.length > 40);
  const responses = lines.filter(({ route }) => route === '/v1/projects');
  assert.deepEqual(
    responses.map(({ address }) => address),
    Array(4).fill('203.0.113.7'),
    'routed and cached responses are logged with the address that the proxy forwarded',
  );
  const rejected = lines.filter(({ msg }) => msg === 'A key was rejected.');
  assert.equal(rejected.length, 3, 'one line for each rejected key');
  for (const { level, address, method, route, reason } of rejected)
    assert.deepEqual(
      [level, address, method, route, reason],
      [40, '127.0.0.1', 'GET', '/v1/me', "That key isn't valid."],
    );
  const ofDefect = lines.filter((line) => line.request_id === request_id);
  assert.deepEqual(
    ofDefect.map(({ level, trace_id }) => [level, trace_id]),
    [
      [50, trace],
      [30, trace],
    ],
  );
  assert.match(ofDefect[0].stack, /no such table/);
  assert.equal(
    service.stdout().split(key).length,
    3,
    'the first start shows the key, and a line to try it with',
  );
  for (const found of [key, ...secrets]) assert.ok(!log.includes(found), `${found.slice(0, 8)}… in the log`);
  for (const found of secrets) assert.ok(!service.stdout().includes(found));
});

test('a client that leaves before its response begins is not an error', async (t) => {
  const folder = temporaryFolder(t);
  const service = await startMuster(t, folder);
  const { origin, key = '' } = service;
  const headers = { authorization: `Bearer ${key}` };
  const lock = new Sqlite(join(folder, 'data/muster.db'));
  lock.exec('begin immediate');
  const leave = new AbortController();
  const sent = fetch(`${origin}/v1/groups/import`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'text/csv', 'accept-encoding': 'zstd' },
    body: 'name\nOps\n',
    signal: leave.signal,
  });
  const inFlight = async () => {
    const metrics = await (await fetch(`${origin}/metrics`, { headers })).text();
    return Number(/requests_in_flight\{state="processing"\} (\d+)/.exec(metrics)?.[1]);
  };
  // The import, and the request for the metrics.
  while ((await inFlight()) < 2) await setTimeout(20);
  leave.abort();
  await assert.rejects(sent);
  lock.exec('rollback');
  lock.close();
  const count = async () => (await (await fetch(`${origin}/v1/groups`, { headers })).json()).data.length;
  while ((await count()) === 0) await setTimeout(20);
  service.child.kill('SIGTERM');
  assert.equal(await service.exit, 0);
  assert.doesNotMatch(service.stderr(), /"level":50/);
});

onSqlite('an outage', (start) => {
  test('is logged once a second, without stacks, with how many lines were left out', async (t) => {
    let now = Date.parse('2026-11-19T12:00:00Z');
    const clock = () => momentOf(new Date(now));
    const lines: string[] = [];
    t.mock.method(process.stderr, 'write', (line: string) => lines.push(line) > 0);
    const service = await start(t, { clock, environment: { MUSTER_LOG_LEVEL: 'error' } });
    const { database } = service.app;
    let cause: Error = new Error('Connection refused');
    t.mock.method(database, 'checkReady', async () => {
      throw cause;
    });
    const fail = async (count: number) => {
      for (let i = 0; i < count; i++) assert.equal((await service.get('/readyz')).status, 503);
    };
    await fail(50);
    now += 999;
    await fail(1);
    now += 1;
    await fail(3);
    cause = new Problem('storage_full', 'The disk is full.', { cause: new Error('No space') });
    for (let i = 0; i < 2; i++) assert.equal((await service.get('/readyz')).status, 507);
    // What the service does by itself fails for the same reason.
    logBackgroundError(service.app, unavailable('The database cannot be reached.', 1, cause));
    const logged = lines.map((line) => JSON.parse(line));
    assert.deepEqual(
      logged.map(({ code, cause, left_out, stack }) => [code, cause, left_out, stack]),
      [
        ['unavailable', 'Connection refused', undefined, undefined],
        ['unavailable', 'Connection refused', 50, undefined],
        ['storage_full', 'No space', undefined, undefined],
      ],
    );
    for (const { request_id } of logged) assert.ok(request_id);
    logBackgroundError(service.app, new Error('A bug.'));
    assert.match(JSON.parse(lines.at(-1) ?? '').err.stack, /A bug/);
  });
});
