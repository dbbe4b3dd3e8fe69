import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { onBothEngines, pluck, withKey } from '../../../test/service.ts';

type Message = { id?: string; event?: string; data?: string };

/** Opens a stream and reads its messages one by one. */
async function follow(origin: string, key: string, query = '', headers: Record<string, string> = {}) {
  const sent = request(`${origin}/v1/events/stream${query}`, {
    headers: { authorization: `Bearer ${key}`, ...headers },
  });
  sent.on('error', () => {});
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const messages = readMessages(response);
  return {
    response,
    /** The next message with data; undefined at the end of the stream. */
    next: async () => (await messages.next()).value as Message | undefined,
    close: () => sent.destroy(),
  };
}

async function* readMessages(response: IncomingMessage): AsyncGenerator<Message> {
  let text = '';
  response.setEncoding('utf8');
  for await (const chunk of response) {
    text += chunk;
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = block.split('\n').map((line) => line.split(/: (.*)/s) as [string, string]);
      const message: Message = Object.fromEntries(fields);
      if (message.data !== undefined) yield message;
    }
  }
}

onBothEngines('the stream of events', (start) => {
  test('sends an event to a client that asks for another type of the same change', async (t) => {
    const service = await start(t);
    const { make, call } = service;
    const key = await service.key();
    await make('/v1/projects', key, { name: 'Apollo', key: 'APOLLO' });
    await make('/v1/projects/APOLLO/risks', key, { title: 'Leak', probability: 1, impact: 1 });
    const raised = await follow(service.origin, key, '?types=risk.level_raised,group.created');
    const lowered = await follow(service.origin, key, '?types=risk.level_lowered,group.created');
    for (const body of [
      { status: 'closed', closure_reason: 'fixed' },
      { status: 'open', reason: 'again', probability: 5, impact: 5 },
    ])
      assert.equal((await call('PATCH', '/v1/projects/APOLLO/risks/APOLLO-R1', key, body)).status, 200);
    await make('/v1/groups', key, { name: 'Ops' });
    const message = await raised.next();
    assert.equal(message?.event, 'risk.reopened');
    assert.deepEqual(JSON.parse(message?.data ?? '').also, ['risk.level_raised']);
    assert.equal((await lowered.next())?.event, 'group.created');
    for (const { close } of [raised, lowered]) close();
  });

  test('sends matching events of all instances, and resumes after Last-Event-ID', async (t) => {
    const service = await start(t);
    const { make, call } = service;
    const other = await start(t, { target: { url: service.url, drop: async () => {} } });
    const key = await service.key();
    await make('/v1/projects', key, { name: 'Apollo', key: 'APOLLO' });
    await make('/v1/projects', key, { name: 'Gemini', key: 'GEMINI' });
    const limited = await service.limitedKey(['GEMINI'], 'events.read', 'projects.read');

    const all = await follow(service.origin, key);
    assert.equal(all.response.statusCode, 200);
    assert.equal(all.response.headers['content-type'], 'text/event-stream');
    const remote = await follow(other.origin, key, '?types=risk.created,person.updated');
    const own = await follow(other.origin, limited);
    const person = await make('/v1/personnel', key, { name: 'Ada' });
    await make('/v1/projects/APOLLO/risks', key, { title: 'Leak' });
    await make('/v1/projects/GEMINI/risks', key, { title: 'Fire' });
    await call('PATCH', `/v1/personnel/${person.user_id}`, key, { name: 'Ada L.' });

    const first = await all.next();
    assert.equal(first?.event, 'person.created');
    const event = JSON.parse(first?.data ?? '');
    assert.equal(first?.id, String(event.sequence));
    assert.deepEqual(event.data, person);
    const types = [await remote.next(), await remote.next(), await remote.next()].map((m) => m?.event);
    assert.deepEqual(types, ['risk.created', 'risk.created', 'person.updated']);
    assert.equal(JSON.parse((await own.next())?.data ?? '').subject.key, 'GEMINI-R1');
    all.close();

    await make('/v1/personnel', key, { name: 'Bob' });
    const resumed = await follow(other.origin, key, '', { 'last-event-id': first?.id ?? '' });
    const rest = [];
    for (let n = 0; n < 4; n++) rest.push((await resumed.next())?.event);
    assert.deepEqual(rest, ['risk.created', 'risk.created', 'person.updated', 'person.created']);
    await make('/v1/personnel', key, { name: 'Eve' });
    assert.equal(JSON.parse((await resumed.next())?.data ?? '').data.name, 'Eve');
    const wrong = await follow(service.origin, key, '', { 'last-event-id': 'x' });
    assert.equal(wrong.response.statusCode, 400);
  });

  test('sends a key that is limited to projects the same events as the list', async (t) => {
    const service = await start(t);
    const { make, call } = service;
    const key = await service.key();
    const [apollo] = [
      await make('/v1/projects', key, { name: 'Apollo', key: 'APOLLO' }),
      await make('/v1/projects', key, { name: 'Gemini', key: 'GEMINI' }),
    ];
    const limited = await service.limitedKey([apollo.id]);
    const own = await follow(service.origin, limited, '?after=0');
    for (const project_ids of [null, ['APOLLO'], ['APOLLO', 'GEMINI']]) {
      const target = { url: 'https://example.com/hook', types: ['*'], project_ids };
      const { id } = await make('/v1/webhooks', key, target);
      await call('PATCH', `/v1/webhooks/${id}`, key, { description: 'Secret' });
      await make('/v1/keys', key, { name: 'Secret', scopes: ['projects.read'], project_ids });
    }
    for (const project of ['APOLLO', 'GEMINI']) {
      const { id } = await make(`/v1/projects/${project}/risks`, key, { title: 'Leak' });
      await make(`/v1/projects/${project}/risks/${id}/comments`, key, { body: 'Dry again' });
    }
    await make('/v1/groups', key, { name: 'Works' });
    await make('/v1/personnel', key, { name: 'Ada' });

    const { data: listed } = (await service.get('/v1/events?after=0', limited)).body;
    const streamed: unknown[] = [];
    for (let type: string | undefined; type !== 'person.created'; ) {
      const message = await own.next();
      type = message?.event;
      streamed.push(JSON.parse(message?.data ?? ''));
    }
    assert.deepEqual(streamed, listed);
    assert.deepEqual(pluck(listed, 'type'), [
      'project.created',
      'risk.created',
      'comment.created',
      'group.created',
      'person.created',
    ]);
  });

  test('ends when its key is revoked, and when the service stops', async (t) => {
    const { service, key } = await withKey(start(t));
    const { id, secret } = await service.make('/v1/keys', key, {
      name: 'short',
      scopes: ['events.read', 'personnel.read'],
    });
    const [revoked, stopped] = [await follow(service.origin, secret), await follow(service.origin, key)];
    assert.equal((await service.delete(`/v1/keys/${id}`, key)).status, 204);
    assert.deepEqual(await revoked.next(), { event: 'closed', data: '{"reason":"key_changed"}' });
    assert.equal(await revoked.next(), undefined);
    assert.equal((await stopped.next())?.event, 'key.revoked');
    await service.app.close();
    assert.deepEqual(await stopped.next(), { event: 'closed', data: '{"reason":"service_stopping"}' });
    assert.equal(await stopped.next(), undefined);
  });

  test('a client that does not read is dropped, and holds up no other', async (t) => {
    const { service, key } = await withKey(start(t));
    const slow = await follow(service.origin, key);
    const good = await follow(service.origin, key);
    // More than the buffers of the operating system hold.
    const count = 1_500;
    const description = 'x'.repeat(9_000);
    await service.make('/v1/projects', key, { name: 'Apollo', key: 'APOLLO' });
    const rows = Array.from({ length: count }, (_, n) => `${n},${description}`);
    const csv = ['title,description', ...rows].join('\n');
    const imported = service.upload('/v1/projects/APOLLO/tasks/import', key, csv);
    assert.equal((await good.next())?.event, 'project.created');
    for (let n = 0; n < count; n++) {
      assert.equal(JSON.parse((await good.next())?.data ?? '').data.title, String(n));
    }
    assert.equal((await imported).status, 200);
    const received: (string | undefined)[] = [];
    try {
      for (let next = await slow.next(); next; next = await slow.next()) received.push(next.event);
    } catch (error) {
      // It has five seconds to read why it was dropped, which a busy machine may need for the other client.
      assert.equal((error as NodeJS.ErrnoException).code, 'ECONNRESET');
      received.push('dropped');
    }
    assert.ok(received.length < count, String(received.length));
    assert.equal(received.at(-1), 'dropped');
  });

  test('a client that catches up and does not read keeps little in memory, and gets all once it reads', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/projects', key, { name: 'Apollo', key: 'APOLLO' });
    const count = 1_500;
    const rows = Array.from({ length: count }, (_, n) => `${n},${'x'.repeat(9_000)}`);
    await service.upload('/v1/projects/APOLLO/tasks/import', key, ['title,description', ...rows].join('\n'));
    const { slowReaders, load } = service.app;
    const late = await follow(service.origin, key, '?after=0&types=task.created');
    while (slowReaders.unsentBytes === 0) await setTimeout(5);
    for (let i = 0; i < 20; i++) {
      await setTimeout(20);
      assert.ok(slowReaders.unsentBytes < 200_000, `${slowReaders.unsentBytes}`);
    }
    for (let n = 0; n < count; n++) {
      assert.equal(JSON.parse((await late.next())?.data ?? '').data.title, String(n));
    }
    late.close();
    await load.idle();
    assert.equal(slowReaders.unsentBytes, 0);
  });

  test('one key has at most 200 streams, and other keys are not affected', async (t) => {
    const service = await start(t);
    const [greedy, other] = [await service.key(), await service.key()];
    const streams: Awaited<ReturnType<typeof follow>>[] = [];
    // One after another: 200 requests at once are more than a busy machine serves, and some would get 503.
    while (streams.length < 200) streams.push(await follow(service.origin, greedy));
    assert.deepEqual(new Set(streams.map(({ response }) => response.statusCode)), new Set([200]));
    const rejected = await service.get('/v1/events/stream', greedy);
    assert.deepEqual([rejected.status, rejected.body.code], [429, 'rate_limited']);
    const allowed = await follow(service.origin, other);
    assert.equal(allowed.response.statusCode, 200);
    streams[0]?.close();
    while (service.app.load.inFlight > 200) await setTimeout(5);
    const again = await follow(service.origin, greedy);
    assert.equal(again.response.statusCode, 200);
    for (const { close } of [...streams, allowed, again]) close();
    await service.app.load.idle();
  });
});
