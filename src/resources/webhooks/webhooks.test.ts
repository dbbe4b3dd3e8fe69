import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import type { KyselyPlugin } from 'kysely';
import { Compile } from 'typebox/compile';
import { startReceiver } from '../../../test/receiver.ts';
import { onBothEngines, type Start, withKey } from '../../../test/service.ts';
import { Event } from '../events/schema.ts';
import { Risk } from '../risks/schema.ts';
import { listActiveWebhooks } from './claims.ts';

const environment = { MUSTER_WEBHOOK_ALLOW: '127.0.0.1,hooks.internal' };
const target = { url: 'https://example.com/hook', types: ['risk.*'] };

onBothEngines('webhooks', (start) => {
  const startService: Start = (t, options) => start(t, { environment, ...options });

  test('shows the secret once, and never again', async (t) => {
    const { service, key } = await withKey(startService(t));
    const { secret, ...webhook } = await service.make('/v1/webhooks', key, target);
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.equal(webhook.status, 'enabled');
    assert.deepEqual(webhook.scopes, ['personnel.read', 'projects.read', 'keys.read', 'events.read']);
    assert.deepEqual(await service.list('/v1/webhooks?status=enabled', key), [webhook]);
    assert.deepEqual(await service.list('/v1/webhooks?status=disabled', key), []);
    const rotated = await service.post(`/v1/webhooks/${webhook.id}/rotate`, key, undefined);
    assert.equal(rotated.status, 200);
    assert.match(rotated.body.secret, /^whsec_/);
    assert.notEqual(rotated.body.secret, secret);
    for (const path of ['', `/${webhook.id}`, `/${webhook.id}/history`, `/${webhook.id}/deliveries`]) {
      const { text, status } = await service.get(`/v1/webhooks${path}`, key);
      assert.equal(status, 200);
      assert.doesNotMatch(text, /whsec_/);
    }
    assert.doesNotMatch((await service.get('/v1/events?after=0', key)).text, /whsec_/);
  });

  test('are read ten at a time with what is pending for them, for which SQLite uses the thread of requests', async (t) => {
    const { service, key } = await withKey(startService(t));
    for (let i = 0; i < 25; i++) await service.make('/v1/webhooks', key, target);
    const pages: number[] = [];
    const countRows: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        pages.push(result.rows.length);
        return result;
      },
    };
    const webhooks = await listActiveWebhooks(service.database.db.withPlugin(countRows));
    assert.equal(new Set(webhooks.map(({ id }) => id)).size, 25);
    assert.deepEqual(pages, [10, 10, 5]);
  });

  test('there are at most MUSTER_MAX_WEBHOOKS, whoever creates them and even if many are created at once', async (t) => {
    const { service, key } = await withKey(
      start(t, { environment: { ...environment, MUSTER_MAX_WEBHOOKS: '3' } }),
    );
    const project = await service.make('/v1/projects', key, { name: 'Apollo' });
    const limited = await service.limitedKey([project.id], 'events.manage', 'projects.read');
    const input = { url: 'https://example.com/hook', types: ['risk.created'] };
    const count = async () =>
      (await service.database.db.selectFrom('webhooks').select('id').execute()).length;
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => service.post('/v1/webhooks', key, input)),
    );
    assert.deepEqual(
      responses.map(({ status }) => status).toSorted(),
      [201, 201, 201, 422, 422, 422, 422, 422],
    );
    assert.equal(await count(), 3);
    // It sees none of them, but they count.
    const rejected = await service.post('/v1/webhooks', limited, input);
    assert.deepEqual([rejected.status, rejected.body.code], [422, 'invalid_body']);
    assert.match(rejected.body.detail, /already 3 webhooks.*MUSTER_MAX_WEBHOOKS.*Delete one/);
    assert.equal(await count(), 3);
    const [{ id }] = await service.list('/v1/webhooks', key);
    assert.equal((await service.delete(`/v1/webhooks/${id}`, key)).status, 204);
    assert.equal((await service.post('/v1/webhooks', limited, input)).status, 201);
    assert.equal(await count(), 3);
  });

  test('targets and types that cannot work are rejected', async (t) => {
    const { service, key } = await withKey(startService(t));
    const codeOf = async (body: object) => {
      const response = await service.post('/v1/webhooks', key, { ...target, ...body });
      return response.body.errors?.[0]?.code ?? response.status;
    };
    for (const url of [
      'http://example.com/',
      'https://10.0.0.1/',
      'https://[::1]/',
      'https://a:b@example.com/',
    ]) {
      assert.equal(await codeOf({ url }), 'not_allowed', url);
    }
    assert.equal(await codeOf({ types: ['risk.exploded'] }), 'unknown_type');
    assert.equal(await codeOf({ types: ['webhook.test'] }), 'unknown_type');
    assert.equal(await codeOf({ types: ['**'] }), 'pattern');
    assert.equal(await codeOf({ types: [] }), 'minItems');
    assert.equal(await codeOf({ project_ids: ['NOPE'] }), 'unknown_reference');
    assert.equal(await codeOf({ secret: 'whsec_chosen' }), 'unknown_field');
    assert.equal(await codeOf({ url: 'http://hooks.internal/', types: ['*'] }), 201);
  });

  test('a webhook reads no more than the key that creates it, and only a key that reads as much may change it', async (t) => {
    const service = await startService(t);
    const all = await service.key();
    const narrow = await service.key('events.manage', 'projects.read');
    const forbidden = await service.post('/v1/webhooks', narrow, { ...target, types: ['person.created'] });
    assert.deepEqual([forbidden.status, forbidden.body.scope], [403, 'personnel.read']);
    const own = await service.make('/v1/webhooks', narrow, { ...target, types: ['*'] });
    assert.deepEqual(own.scopes, ['projects.read', 'events.read']);
    const { id } = await service.make('/v1/webhooks', all, target);
    for (const [method, action, body] of [
      ['PATCH', '', { url: 'https://attacker.example/' }],
      ['POST', '/rotate', undefined],
      ['POST', '/test', undefined],
      ['POST', '/replay', { after: 0 }],
      ['GET', '/deliveries', undefined],
    ] as const) {
      const response = await service.call(method, `/v1/webhooks/${id}${action}`, narrow, body);
      assert.equal(response.status, 403, action);
      assert.equal(response.body.code, 'insufficient_scope');
    }
    const extended = await service.patch(`/v1/webhooks/${own.id}`, all, { types: ['person.*'] });
    assert.equal(extended.status, 403);
    const reader = await service.key('events.read');
    assert.equal((await service.get(`/v1/webhooks/${id}`, reader)).status, 200);
    assert.equal((await service.post('/v1/webhooks', reader, target)).status, 403);
  });

  test('a webhook of a limited key is limited to its projects and hidden from other limited keys', async (t) => {
    const service = await startService(t);
    const all = await service.key();
    const [apollo, zeus] = [
      await service.make('/v1/projects', all, { name: 'Apollo', key: 'APOLLO' }),
      await service.make('/v1/projects', all, { name: 'Zeus', key: 'ZEUS' }),
    ];
    const limited = await service.limitedKey([apollo.id]);
    const other = await service.limitedKey([zeus.id]);
    const webhook = await service.make('/v1/webhooks', limited, target);
    assert.deepEqual(webhook.project_ids, [apollo.id]);
    const path = `/v1/webhooks/${webhook.id}`;
    const widened = await service.patch(path, limited, { project_ids: null });
    assert.equal(widened.body.errors[0].code, 'beyond_own');
    const elsewhere = await service.patch(path, limited, { project_ids: ['ZEUS'] });
    assert.equal(elsewhere.body.errors[0].code, 'unknown_reference');
    assert.equal((await service.get(path, other)).status, 404);
    assert.equal((await service.get(`${path}/deliveries`, other)).status, 404);
    assert.equal((await service.delete(path, other)).status, 404);
    const unlimited = await service.make('/v1/webhooks', all, target);
    assert.equal((await service.get(`/v1/webhooks/${unlimited.id}`, limited)).status, 404);
  });

  test('a limited key can create a webhook after one of its projects is deleted', async (t) => {
    const service = await startService(t);
    const all = await service.key();
    const apollo = await service.make('/v1/projects', all, { name: 'Apollo' });
    const zeus = await service.make('/v1/projects', all, { name: 'Zeus' });
    const limited = await service.limitedKey([apollo.id, zeus.id]);
    assert.equal((await service.delete(`/v1/projects/${zeus.id}`, all)).status, 204);
    const { id, project_ids } = await service.make('/v1/webhooks', limited, target);
    assert.deepEqual(project_ids, [apollo.id, zeus.id]);
    assert.equal((await service.get(`/v1/webhooks/${id}`, limited)).status, 200);
  });

  test('the delivery log is hidden from a limited key as soon as the webhook is', async (t) => {
    const service = await startService(t);
    const all = await service.key();
    const { id: project_id } = await service.make('/v1/projects', all, { name: 'Apollo' });
    const limited = await service.limitedKey([project_id]);
    const { id } = await service.make('/v1/webhooks', limited, target);
    const path = `/v1/webhooks/${id}`;
    // The second response comes from the cache.
    for (let n = 0; n < 2; n++) assert.equal((await service.get(`${path}/deliveries`, limited)).status, 200);
    assert.equal((await service.patch(path, all, { project_ids: null })).status, 200);
    assert.equal((await service.get(`${path}/deliveries`, limited)).status, 404);
  });

  test('concurrent tests with one idempotency key send one event and get the same response', async (t) => {
    const { service, key } = await withKey(startService(t));
    const responses: ServerResponse[] = [];
    const receiver = await startReceiver(t, (response) => responses.push(response));
    const { id } = await service.make('/v1/webhooks', key, { ...target, url: receiver.url });
    const send = () => service.post(`/v1/webhooks/${id}/test`, key, undefined, { 'idempotency-key': 'once' });
    const first = send();
    await receiver.receive(1);
    const second = send();
    // Without a result to wait for, the second request would have its response by then.
    for (const name of ['Ops', 'Works', 'Field']) await service.make('/v1/groups', key, { name });
    responses[0]?.writeHead(204).end();
    const [a, b] = await Promise.all([first, second]);
    assert.equal(a.body.status, 'delivered');
    assert.deepEqual(b.body, a.body);
    assert.equal(b.headers.get('idempotent-replayed'), 'true');
    assert.equal(receiver.received.length, 1);
  });

  test('a test is sent at once, even if the webhook is disabled, and its result is returned', async (t) => {
    const { service, key } = await withKey(startService(t));
    let status = 200;
    const receiver = await startReceiver(t, (response) => response.writeHead(status).end('seen'));
    const { id } = await service.make('/v1/webhooks', key, {
      ...target,
      url: receiver.url,
      status: 'disabled',
    });
    const path = `/v1/webhooks/${id}/test`;
    const passed = await service.post(path, key, undefined);
    assert.equal(passed.status, 200);
    const { event_type, attempts, response_status, response_excerpt, next_attempt_at } = passed.body;
    assert.equal(passed.body.status, 'delivered');
    assert.deepEqual(
      { event_type, attempts, response_status, response_excerpt, next_attempt_at },
      {
        event_type: 'webhook.test',
        attempts: 1,
        response_status: 200,
        response_excerpt: 'seen',
        next_attempt_at: null,
      },
    );
    const [message] = receiver.received;
    assert.equal(message?.event.type, 'webhook.test');
    // The body has all that a real event has, and its data all that a risk has.
    const { timestamp, ...sample } = message?.event ?? {};
    const asReal = { ...sample, type: 'risk.level_raised' };
    assert.deepEqual(Compile(Event).Errors(asReal), []);
    assert.deepEqual(Compile(Risk).Errors(sample.data), []);
    assert.equal(timestamp, sample.at);
    const { body: me } = await service.get('/v1/me', key);
    assert.deepEqual(sample.actor, {
      type: 'key',
      user_id: null,
      key_id: me.key_id,
      name: me.name,
    });
    assert.equal(sample.subject.web_url, `${service.origin}/risks/APOLLO-R7`);
    const data = await service.list('/v1/events?limit=1', key);
    assert.deepEqual(Object.keys(sample), Object.keys(data[0]));
    assert.equal(message?.headers['webhook-id'], passed.body.event_id);
    status = 410;
    const failed = await service.post(path, key, undefined, { 'idempotency-key': 'one-test' });
    assert.deepEqual([failed.body.status, failed.body.next_attempt_at], ['failed', null]);
    const repeated = await service.post(path, key, undefined, { 'idempotency-key': 'one-test' });
    assert.deepEqual(repeated.body, failed.body);
    assert.equal(failed.headers.get('idempotent-replayed'), null);
    assert.equal(repeated.headers.get('idempotent-replayed'), 'true');
    assert.equal(receiver.received.length, 2);
    assert.equal((await service.get(`/v1/webhooks/${id}`, key)).body.disabled_reason, null);
  });
});
