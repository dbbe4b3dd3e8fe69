import assert from 'node:assert/strict';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { type Engine, freshDatabase } from '../../../test/databases.ts';
import { mainFile, muster, startMuster, temporaryFolder } from '../../../test/process.ts';
import { type Received, startReceiver } from '../../../test/receiver.ts';
import { newSecret } from '../../store/access/secret.ts';

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const parent = '00f067aa0ba902b7';

async function startTraced(
  t: TestContext,
  engine: Engine,
  collector: string,
  environment: Record<string, string> = {},
) {
  const { url, drop } = await freshDatabase(engine);
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, '.env'), `OTEL_EXPORTER_OTLP_ENDPOINT=${collector}\n`);
  const service = await startMuster(t, folder, {
    MUSTER_DATABASE_URL: url,
    MUSTER_LOG_LEVEL: 'info',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    ...environment,
  });
  t.after(async () => {
    service.child.kill('SIGKILL');
    await service.exit;
    await drop();
  });
  const send = (path: string, headers: Record<string, string> = {}, body?: object) =>
    fetch(service.origin + path, {
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json', ...headers },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
  const stop = async () => {
    service.child.kill('SIGTERM');
    assert.equal(await service.exit, 0);
    return service
      .stderr()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  };
  return { ...service, send, stop };
}

type Attribute = { key: string; value: Record<string, unknown> };
type ExportedSpan = {
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  attributes: Attribute[];
  status: { code: number };
};

/** Reads an OTLP request in JSON. */
const resourcesOf = (received: Received[]) => received.flatMap(({ event }) => event.resourceSpans);
const spansOf = (received: Received[]): ExportedSpan[] =>
  resourcesOf(received).flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap(({ spans }: { spans: ExportedSpan[] }) => spans),
  );
const attributesOf = (attributes: Attribute[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

for (const engine of ['sqlite', 'postgres'] as const) {
  describe(`tracing, on ${engine}`, () => {
    test('sends a span for each request, named by its route, with its statements', async (t) => {
      const collector = await startReceiver(t);
      const service = await startTraced(t, engine, new URL(collector.url).origin);
      const { send } = service;
      const secret = newSecret();
      const traceparent = `00-${trace}-${parent}-01`;
      assert.equal((await send('/v1/groups', { traceparent }, { name: 'Ops' })).status, 201);
      assert.equal((await send(`/v1/groups?q=${secret}`)).status, 200);
      // A response is cached when it is requested again.
      for (let i = 0; i < 2; i++) assert.equal((await send('/v1/groups')).status, 200);
      assert.equal((await send('/v1/groups', { traceparent })).status, 200);
      assert.equal((await send(`/v1/groups/${secret}`)).status, 404);
      assert.equal((await send(`/${secret}`, { traceparent: 'not valid' })).status, 404);
      assert.equal((await send('/livez')).status, 200);
      const lines = await service.stop();

      const spans = spansOf(collector.received);
      const requests = spans.filter(({ kind }) => kind === 2);
      assert.deepEqual(
        requests.map(({ name, traceId, parentSpanId, attributes }) => {
          const values = attributesOf(attributes);
          return [
            name,
            values['http.response.status_code'],
            values['muster.cached'],
            traceId === trace && parentSpanId === parent,
          ];
        }),
        [
          ['POST /v1/groups', 201, false, true],
          ...Array(3).fill(['GET /v1/groups', 200, false, false]),
          ['GET /v1/groups', 200, true, true],
          ['GET /v1/groups/:id', 404, false, false],
          ['GET none', 404, false, false],
        ],
      );
      const idOf = (name: string) => spans.find((span) => span.name === name)?.spanId;
      const insert = spans.find(({ name }) => name === 'INSERT groups');
      assert.equal(insert?.traceId, trace);
      assert.equal(insert?.parentSpanId, idOf('write transaction'));
      assert.equal(
        spans.find(({ name }) => name === 'write transaction')?.parentSpanId,
        idOf('POST /v1/groups'),
      );
      assert.equal(
        attributesOf(insert?.attributes ?? [])['db.system.name'],
        engine === 'sqlite' ? 'sqlite' : 'postgresql',
      );
      const reads = spans.filter(({ name }) => name === 'SELECT groups');
      assert.ok(reads.some(({ parentSpanId }) => parentSpanId === requests[1]?.spanId));

      const [resource] = resourcesOf(collector.received);
      const { 'service.name': name, 'deployment.environment.name': environment } = attributesOf(
        resource.resource.attributes,
      );
      assert.deepEqual([name, environment], ['muster', 'test']);
      const exported = collector.received.map(({ text }) => text).join('');
      for (const hidden of [secret, service.key ?? '', 'Ops']) assert.ok(!exported.includes(hidden));

      assert.deepEqual(
        lines.filter(({ level }) => level >= 40),
        [],
      );
      const logged = lines.filter(({ route }) => route !== undefined && route !== '/livez');
      assert.deepEqual(
        logged.map(({ trace_id, span_id }) => [trace_id, span_id]),
        requests.map(({ traceId, spanId }) => [traceId, spanId]),
      );
    });
  });
}

// The engines differ only in the spans of their statements.
test('a span is sent for each attempt to deliver an event, without the path of the webhook', async (t) => {
  const collector = await startReceiver(t);
  const service = await startTraced(t, 'sqlite', new URL(collector.url).origin, {
    MUSTER_WEBHOOK_ALLOW: '127.0.0.1',
  });
  const { send } = service;
  const receiver = await startReceiver(t, (response) =>
    response.writeHead(receiver.received.length === 1 ? 500 : 204).end(),
  );
  const { origin, hostname, port } = new URL(receiver.url);
  const inUrl = newSecret();
  const createWebhook = async (url: string, type: string) => {
    const response = await send('/v1/webhooks', {}, { url, types: [type] });
    assert.equal(response.status, 201);
    return (await response.json()) as { id: string; secret: string };
  };
  const url = `${origin}/${inUrl}?token=${inUrl}`;
  const { id, secret } = await createWebhook(url, 'group.created');
  const traceparent = `00-${trace}-${parent}-01`;
  assert.equal((await send('/v1/groups', { traceparent }, { name: 'Ops' })).status, 201);
  await receiver.receive(2);
  const { id: closedId } = await createWebhook('http://127.0.0.1:1/', 'risk.created');
  assert.equal((await send(`/v1/webhooks/${closedId}/test`, { traceparent }, {})).status, 200);
  await service.stop();

  const spans = spansOf(collector.received);
  const attempts = spans.filter(({ name, kind }) => name === 'POST' && kind === 3);
  const attributesOfAttempts = attempts.map(({ attributes }) => attributesOf(attributes));
  const common = {
    'http.request.method': 'POST',
    'url.full': `${origin}/REDACTED`,
    'server.address': hostname,
    'server.port': Number(port),
    'muster.webhook_id': id,
    'muster.event_id': receiver.received[0]?.headers['webhook-id'],
  };
  assert.deepEqual(attributesOfAttempts.slice(0, 2), [
    { ...common, 'http.response.status_code': 500, 'error.type': '500' },
    { ...common, 'http.response.status_code': 204, 'http.request.resend_count': 1 },
  ]);
  assert.equal(attributesOfAttempts[2]?.['error.type'], 'ECONNREFUSED');
  assert.deepEqual(
    attempts.map(({ status }) => status.code),
    [2, 0, 2],
  );
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers.traceparent),
    attempts.slice(0, 2).map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`),
  );
  // A test is part of its request. All else that is sent begins a trace.
  const request = spans.find(({ name }) => name === 'POST /v1/webhooks/:id/test');
  assert.deepEqual(
    attempts.map(({ parentSpanId }) => parentSpanId),
    [undefined, undefined, request?.spanId],
  );
  assert.equal(attempts[2]?.traceId, trace);
  const exported = collector.received.map(({ text }) => text).join('');
  for (const hidden of [secret, inUrl, 'Ops']) assert.ok(!exported.includes(hidden));
});

test('a collector that never responds slows down neither requests nor the end', async (t) => {
  const collector = await startReceiver(t, () => {});
  const { send, stop } = await startTraced(t, 'sqlite', new URL(collector.url).origin, {
    OTEL_BSP_SCHEDULE_DELAY: '1',
    OTEL_BSP_MAX_QUEUE_SIZE: '4',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '2',
  });
  for (let i = 0; i < 20; i++) assert.equal((await send(`/v1/personnel?limit=${i + 1}`)).status, 200);
  await collector.receive(1);
  await stop();
});

test('a collector that is down is logged once', async (t) => {
  const { send, stop } = await startTraced(t, 'sqlite', 'http://127.0.0.1:1', {
    OTEL_BSP_SCHEDULE_DELAY: '1',
    OTEL_EXPORTER_OTLP_TIMEOUT: '50',
  });
  for (let i = 0; i < 20; i++) assert.equal((await send(`/v1/personnel?limit=${i + 1}`)).status, 200);
  const warnings = (await stop()).filter(({ level }) => level >= 40);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]?.msg, /^OpenTelemetry: .*(ECONNREFUSED|export|retr)/i);
});

test('the standard variables set the resource, the headers, the sampler and the propagators', async (t) => {
  const collector = await startReceiver(t);
  const service = await startTraced(t, 'sqlite', new URL(collector.url).origin, {
    OTEL_SERVICE_NAME: 'roster',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=ops',
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0',
    OTEL_PROPAGATORS: 'b3',
  });
  for (const headers of [{}, { traceparent: `00-${trace}-${parent}-01` }, { b3: `${trace}-${parent}-1` }])
    assert.equal((await service.send('/v1/groups', headers as Record<string, string>)).status, 200);
  await service.stop();
  const requests = spansOf(collector.received).filter(({ kind }) => kind === 2);
  assert.deepEqual(
    requests.map(({ traceId, parentSpanId }) => [traceId, parentSpanId]),
    [[trace, parent]],
  );
  assert.equal(collector.received[0]?.headers['x-tenant'], 'ops');
  const [{ resource }] = resourcesOf(collector.received);
  assert.equal(attributesOf(resource.attributes)['service.name'], 'roster');
});

test('spans are sent as Protocol Buffers by default', async (t) => {
  const types: (string | undefined)[] = [];
  const collector = createServer((request, response) => {
    types.push(request.headers['content-type']);
    request.resume().on('end', () => response.end());
  }).listen(0, '127.0.0.1');
  t.after(() => collector.close());
  await new Promise((resolve) => collector.once('listening', resolve));
  const { port } = collector.address() as AddressInfo;
  const service = await startTraced(t, 'sqlite', `http://127.0.0.1:${port}`, {
    OTEL_EXPORTER_OTLP_PROTOCOL: '',
  });
  assert.equal((await service.send('/v1/groups')).status, 200);
  await service.stop();
  assert.deepEqual([...new Set(types)], ['application/x-protobuf']);
});

test('a problem that the SDK finds at the start is logged', async (t) => {
  const { stop } = await startTraced(t, 'sqlite', 'http://127.0.0.1:1', {
    OTEL_BSP_MAX_QUEUE_SIZE: '10',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '100',
  });
  const [warning] = (await stop()).filter(({ level }) => level >= 40);
  assert.match(warning.msg, /^OpenTelemetry: .*maxExportBatchSize/);
});

test('a variable with an invalid value prevents the start, with one line', async (t) => {
  const { code, stderr } = await muster(temporaryFolder(t), ['serve'], {
    MUSTER_PORT: '0',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'foo',
  });
  assert.equal(code, 1, stderr);
  assert.match(
    stderr,
    /^muster: The settings have errors: OTEL_EXPORTER_OTLP_ENDPOINT is “foo” but must be [^\n]+\n$/,
  );
});

test('the SDK is loaded only when traces are on', () => {
  const folder = dirname(mainFile);
  const loaded = new Set<string>();
  const load = (file: string) => {
    if (loaded.has(file)) return;
    loaded.add(file);
    const code = readFileSync(join(folder, file), 'utf8');
    assert.doesNotMatch(code, /node_modules\/@opentelemetry/, file);
    for (const [, imported = ''] of code.matchAll(/^import\b[^'"]*["']\.\/([\w.-]+)["']/gm)) load(imported);
  };
  for (const file of globSync('{main,worker,serve-*}.js', { cwd: folder })) load(file);
  assert.ok(loaded.size > 5);
});
