import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startReceiver } from '../../../test/receiver.ts';
import { createTargets, type Resolve } from '../../core/network/targets.ts';
import { createSender } from './send.ts';

const message = (url: string) => ({ url, headers: {}, body: '{}' });

function openSender(
  t: TestContext,
  options: { allow?: string[]; resolve?: Resolve; timeoutMs?: number } = {},
) {
  const sender = createSender(
    createTargets(options.allow ?? ['127.0.0.1'], options.resolve),
    options.timeoutMs,
  );
  t.after(() => sender.close());
  return sender;
}

test('sends the body as JSON and reports the response', async (t) => {
  const { url, received } = await startReceiver(t, (response) => response.writeHead(202).end('thanks\0'));
  const attempt = await openSender(t).send({ url, headers: { 'webhook-id': 'evt_1' }, body: '{"a":"é"}' });
  assert.deepEqual(
    { ...attempt, latency_ms: 0 },
    {
      response_status: 202,
      response_excerpt: 'thanks\ufffd',
      retry_after: null,
      error: null,
      error_code: null,
      latency_ms: 0,
    },
  );
  assert.equal(received[0]?.text, '{"a":"é"}');
  assert.equal(received[0]?.headers['content-type'], 'application/json');
  assert.equal(received[0]?.headers['webhook-id'], 'evt_1');
});

test('addresses that are not public are refused, whatever their notation', () => {
  const { rejection } = createTargets([]);
  const refused = [
    '127.0.0.1',
    '127.1',
    '0x7f000001',
    '2130706433',
    '0.0.0.0',
    '10.0.0.1',
    '100.64.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '192.0.2.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '[::]',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[fc00::1]',
    '[fd00:ec2::254]',
    '[fe80::1]',
    '[ff02::1]',
    '[2002:7f00:1::]',
    '[2001:db8::1]',
    '[2001::1]',
  ];
  for (const host of refused)
    assert.match(rejection(new URL(`https://${host}/`)) ?? 'allowed', /not a public address/, host);
  for (const host of ['example.com', '93.184.216.34', '172.32.0.1', '100.128.0.1', '[2606:4700::1111]']) {
    assert.equal(rejection(new URL(`https://${host}/`)), undefined, host);
  }
});

test('requires https without credentials, unless the target is allowed by name or network', () => {
  const { rejection } = createTargets(['hooks.internal', '10.1.0.0/16', '::1']);
  assert.match(rejection(new URL('http://example.com/')) ?? '', /https/);
  assert.match(rejection(new URL('https://user:secret@example.com/')) ?? '', /credentials/);
  assert.match(rejection(new URL('http://user@hooks.internal/')) ?? '', /credentials/);
  assert.match(rejection(new URL('http://10.2.0.1/')) ?? '', /https/);
  for (const url of [
    'http://hooks.internal/',
    'http://HOOKS.internal./',
    'http://10.1.2.3/',
    'http://[::1]/',
  ]) {
    assert.equal(rejection(new URL(url)), undefined, url);
  }
});

test('a host that resolves to another address later is checked each time it is connected to', async (t) => {
  const { url, received } = await startReceiver(t);
  const { port } = new URL(url);
  // TEST-NET-1 is allowed here in place of a public address, because tests have no network.
  const answers = ['192.0.2.1', '127.0.0.1', '::ffff:127.0.0.1'];
  const resolve: Resolve = (_, __, callback) => {
    const address = answers.shift() ?? '127.0.0.1';
    callback(null, [{ address, family: address.includes(':') ? 6 : 4 }]);
  };
  const sender = openSender(t, { allow: ['192.0.2.0/24'], resolve, timeoutMs: 100 });
  const errors: (string | null)[] = [];
  for (let i = 0; i < 3; i++)
    errors.push((await sender.send(message(`https://rebind.example:${port}/`))).error);
  assert.doesNotMatch(errors[0] ?? '', /public/);
  assert.match(errors[1] ?? '', /rebind\.example is not a public address/);
  assert.match(errors[2] ?? '', /rebind\.example is not a public address/);
  assert.deepEqual(received, []);
});

test('a host is refused if only one of its addresses is not public', async (t) => {
  const resolve: Resolve = (_, __, callback) =>
    callback(null, [
      { address: '93.184.216.34', family: 4 },
      { address: '10.0.0.1', family: 4 },
    ]);
  const { error } = await openSender(t, { resolve }).send(message('https://mixed.example/'));
  assert.match(error ?? '', /mixed\.example is not a public address/);
  assert.doesNotMatch(error ?? '', /10\.0\.0\.1/);
});

test('localhost is refused by its address', async (t) => {
  const { error } = await openSender(t, { allow: [] }).send(message('https://localhost/'));
  assert.match(error ?? '', /not a public address/);
});

test('redirects are not followed', async (t) => {
  const { url, received } = await startReceiver(t, (response) =>
    response.writeHead(307, { location: '/elsewhere' }).end(),
  );
  const attempt = await openSender(t).send(message(url));
  assert.equal(attempt.response_status, 307);
  assert.match(attempt.error ?? '', /Redirects are not followed/);
  assert.equal(received.length, 1);
});

test('a receiver that never responds is given up after the time limit', async (t) => {
  const { url } = await startReceiver(t, () => {});
  const attempt = await openSender(t, { timeoutMs: 50 }).send(message(url));
  assert.deepEqual([attempt.response_status, attempt.error], [null, 'No response within 0.05 seconds.']);
});

test('a status counts even if the body never ends', async (t) => {
  const { url } = await startReceiver(t, (response) => response.writeHead(200).write('a'));
  const attempt = await openSender(t, { timeoutMs: 1000 }).send(message(url));
  assert.deepEqual([attempt.response_status, attempt.response_excerpt], [200, 'a']);
});

test('reads no more than 64 kB of an endless response', async (t) => {
  const chunk = Buffer.alloc(65_536, 'x');
  let sent = 0;
  const ended = Promise.withResolvers<void>();
  const { url } = await startReceiver(t, (response) => {
    const write = (error?: Error | null) => {
      if (error || sent > 2 ** 30) return;
      sent += chunk.length;
      response.write(chunk, write);
    };
    response.on('close', ended.resolve);
    response.writeHead(200);
    write();
  });
  const attempt = await openSender(t).send(message(url));
  await ended.promise;
  assert.deepEqual([attempt.response_status, attempt.response_excerpt?.length], [200, 1024]);
  assert.ok(sent < 2 ** 25, `${sent} bytes were sent`);
});

test('connection errors are explained without addresses', async (t) => {
  const { url } = await startReceiver(t, (response) => response.socket?.destroy());
  assert.match((await openSender(t).send(message(url))).error ?? '', /closed before a response/);
  const refused = await openSender(t).send(message('http://127.0.0.1:1/'));
  assert.equal(refused.error, 'The connection was refused.');
});
