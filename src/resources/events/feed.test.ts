import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { KyselyPlugin } from 'kysely';
import { settableClock } from '../../../test/clock.ts';
import { onBothEngines, type TestService } from '../../../test/service.ts';
import type { Database } from '../../database/open.ts';
import { findKey } from '../../store/access/actors.ts';
import { createEventFeed } from './feed.ts';
import { createEventStream } from './stream.ts';

onBothEngines('the feed of events', (start) => {
  test('keeps no stream whose client left before it was added', async (t) => {
    const service = await start(t);
    const feed = createEventFeed(service.app);
    const watchEvents = t.mock.method(service.database, 'watchEvents');
    const key = await createKey(service);
    const { response } = await connectClient(t);
    response.destroy();
    await once(response, 'close');
    for (let n = 0; n < 2_000; n++)
      await feed.follow(createEventStream(response, key.actor, key.secret, {}), 0);
    feed.assertRoom(key.actor);
    assert.equal(watchEvents.mock.callCount(), 0);
  });

  test('writes nothing to a stream that ended while its past was read', async (t) => {
    const service = await start(t);
    const feed = createEventFeed(service.app);
    const key = await createKey(service);
    const [first, second] = [await connectClient(t), await connectClient(t)];
    await feed.follow(createEventStream(first.response, key.actor, key.secret, {}), undefined);
    const errors: Error[] = [];
    second.response.on('error', (error) => errors.push(error));
    const following = feed.follow(createEventStream(second.response, key.actor, key.secret, {}), 0);
    for (const end of service.app.endlessResponses) end();
    await following;
    await setImmediate();
    assert.deepEqual(errors, []);
    assert.match(await second.received(/closed/), /service_stopping/);
  });

  test('ends a stream that is added while the service stops', async (t) => {
    const service = await start(t);
    const feed = createEventFeed(service.app);
    const key = await createKey(service);
    const { response, received } = await connectClient(t);
    const following = feed.follow(createEventStream(response, key.actor, key.secret, {}), undefined);
    for (const end of service.app.endlessResponses) end();
    await following;
    assert.ok(response.writableEnded);
    assert.match(await received(/closed/), /service_stopping/);
  });

  test('sends an event once, even if the last stream ends while another one starts', {
    timeout: 60_000,
  }, async (t) => {
    const service = await start(t);
    const all = await service.key();
    const key = await createKey(service);
    const make = (name: string) => service.make('/v1/personnel', all, { name });
    const [versionsRead, eventsRead] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const isReadingEvents = Promise.withResolvers<void>();
    let holdsVersions = true;
    let holdsEvents = false;
    const holdEvents: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (holdsEvents) {
          holdsEvents = false;
          isReadingEvents.resolve();
          await eventsRead.promise;
        }
        return result;
      },
    };
    const database: Database = {
      ...service.database,
      db: service.database.db.withPlugin(holdEvents),
      async versions() {
        if (holdsVersions) {
          holdsVersions = false;
          await versionsRead.promise;
        }
        return service.database.versions();
      },
    };
    const feed = createEventFeed(Object.create(service.app, { database: { value: database } }));
    const { events: after } = await service.database.versions();
    const [first, second] = [await connectClient(t), await connectClient(t)];
    const following = feed.follow(createEventStream(second.response, key.actor, key.secret, {}), after);
    await feed.follow(createEventStream(first.response, key.actor, key.secret, {}), undefined);
    await make('Ada');
    await first.received(/Ada/);
    holdsEvents = true;
    await make('Bob');
    await isReadingEvents.promise;
    first.response.destroy();
    await once(first.response, 'close');
    await make('Cleo');
    versionsRead.resolve();
    await make('Dora');
    await make('Eve');
    eventsRead.resolve();
    await following;
    await make('Finn');
    const text = await second.received(/"Finn"/);
    const names = [...text.matchAll(/"data":\{[^}]*?"name":"(\w+)"/g)].map(([, name]) => name);
    assert.deepEqual(names, ['Ada', 'Bob', 'Cleo', 'Dora', 'Eve', 'Finn']);
  });

  test('lets others work while a stream catches up with events that it does not send', async (t) => {
    const service = await start(t);
    const all = await service.key();
    const names = Array.from({ length: 1_000 }, (_, i) => `Person ${i}\n`);
    await service.upload('/v1/personnel/import', all, `name\n${names.join('')}`);
    const key = await createKey(service);
    const feed = createEventFeed(service.app);
    const { response } = await connectClient(t);
    let turns = 0;
    let isEnded = false;
    const countTurns = async () => {
      for (; !isEnded; turns++) await setImmediate();
    };
    const counted = countTurns();
    const actor = { ...key.actor, scopes: ['events.read' as const] };
    await feed.follow(createEventStream(response, actor, key.secret, {}), 0);
    isEnded = true;
    await counted;
    // It reads 100 events at a time.
    assert.ok(turns >= 10, `${turns} turns of the event loop`);
  });

  test('ends a stream whose key was revoked before it was added', async (t) => {
    const service = await start(t);
    const feed = createEventFeed(service.app);
    const all = await service.key();
    const [key, revoked] = [await createKey(service), await createKey(service)];
    const [first, second] = [await connectClient(t), await connectClient(t)];
    await feed.follow(createEventStream(first.response, key.actor, key.secret, {}), undefined);
    assert.equal((await service.delete(`/v1/keys/${revoked.actor.id}`, all)).status, 204);
    // The feed has seen this change of keys before the second stream is added.
    await first.received(/key\.revoked/);
    await feed.follow(createEventStream(second.response, revoked.actor, revoked.secret, {}), undefined);
    await service.make('/v1/personnel', all, { name: 'Ada' });
    await first.received(/Ada/);
    assert.ok(second.response.writableEnded);
    assert.match(
      await second.received(/closed/),
      /^retry: 2000\n\nevent: closed\ndata: {"reason":"key_changed"}\n\n$/,
    );
  });

  test('a stream never goes back behind `after`', async (t) => {
    const clock = settableClock('2026-11-16T12:00:00Z');
    const service = await start(t, { clock });
    const all = await service.key();
    const key = await createKey(service);
    const feed = createEventFeed(service.app);
    const client = await connectClient(t);
    // As a client gets it from an instance that is ahead.
    const after = Date.parse('2026-11-16T13:00:00Z') * 1000;
    const stream = createEventStream(client.response, key.actor, key.secret, { after });
    await feed.follow(stream, after);
    stream.beat(after - 1);
    await service.make('/v1/personnel', all, { name: 'Ada' });
    clock.set('2026-11-16T14:00:00Z');
    await service.make('/v1/personnel', all, { name: 'Bob' });
    const text = await client.received(/Bob/);
    assert.doesNotMatch(text, /Ada/);
    assert.match(text, new RegExp(`^retry: 2000\n\nid: ${after}\n: heartbeat\n\n`));
  });
});

async function createKey(service: TestService) {
  const input = { name: 'follower', scopes: ['events.read', 'personnel.read', 'keys.read'] };
  const { id, secret } = await service.make('/v1/keys', await service.key(), input);
  const actor = await findKey(service.database.db, id);
  assert.ok(actor);
  return { actor, secret: secret as string };
}

/** A response as a route gets it, and the text that its client has received. */
async function connectClient(t: TestContext) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  const sent = request({ host: '127.0.0.1', port: (server.address() as { port: number }).port });
  sent.on('error', () => {}).end();
  const [, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  let text = '';
  const connected = once(sent, 'response') as Promise<[IncomingMessage]>;
  connected.catch(() => {});
  return {
    response,
    async received(pattern: RegExp): Promise<string> {
      const [incoming] = await connected;
      incoming.setEncoding('utf8');
      while (!pattern.test(text)) {
        const chunk: string | null = incoming.read();
        if (chunk === null) await once(incoming, 'readable');
        else text += chunk;
      }
      return text;
    },
  };
}
