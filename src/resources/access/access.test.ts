import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { settableClock } from '../../../test/clock.ts';
import { onBothEngines, pluck, type TestService } from '../../../test/service.ts';
import { presets, scopes } from '../../core/scopes.ts';

const status = async (service: TestService, headers: Record<string, string>, path = '/v1/me') =>
  (await service.get(path, undefined, headers)).status;

const addPerson = async (service: TestService, key: string, more: object = {}): Promise<string> =>
  (await service.make('/v1/personnel', key, { name: 'Ada', email: 'ada@example.com', ...more })).user_id;

onBothEngines('access of a person', (start) => {
  test('is given, changed and ended, with history and events', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const ada = await addPerson(service, key);
    const path = `/v1/personnel/${ada}/access`;
    assert.equal((await service.get(path, key)).status, 404);
    const given = await service.call('PUT', path, key, { scopes: presets.viewer });
    assert.deepEqual([given.status, given.body.source, given.body.ways], [200, 'manual', []]);
    const again = await service.call('PUT', path, key, { scopes: presets.viewer });
    assert.equal(again.body.version, 1, 'nothing has changed');
    const stale = await service.call('PUT', path, key, { scopes: presets.editor }, { 'if-match': '"7"' });
    assert.equal(stale.body.code, 'stale');
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const limited = await service.call('PUT', path, key, {
      scopes: presets.editor,
      project_ids: ['apollo'],
    });
    assert.deepEqual([limited.body.version, limited.body.project_ids.length], [2, 1]);
    assert.deepEqual(pluck(await service.list('/v1/access', key), 'name', 'email'), [
      ['Ada', 'ada@example.com'],
    ]);
    const history = await service.list(`${path}/history`, key);
    assert.deepEqual(pluck(history, 'field'), ['created', 'scopes', 'project_ids']);
    assert.equal((await service.delete(path, key)).status, 204);
    assert.equal((await service.get(path, key)).status, 404);
    const events = await service.list('/v1/events?types=access.created,access.updated,access.deleted', key);
    assert.deepEqual(pluck(events, 'type', 'data.name', 'actor.type'), [
      ['access.created', 'Ada', 'key'],
      ['access.updated', 'Ada', 'key'],
      ['access.deleted', 'Ada', 'key'],
    ]);
  });

  test('is for active humans and external people, and never more than the giver has', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const human = await addPerson(service, key);
    const agent = await addPerson(service, key, {
      name: 'Bot',
      email: 'bot@example.com',
      kind: 'agent',
      accountable_user_id: human,
    });
    const left = await addPerson(service, key, { name: 'Eve', email: null, status: 'inactive' });
    const put = (user_id: string, by: string, body: object = { scopes: ['projects.read'] }) =>
      service.call('PUT', `/v1/personnel/${user_id}/access`, by, body);
    for (const user_id of [agent, left]) {
      const refused = await put(user_id, key);
      assert.deepEqual([refused.status, refused.body.errors[0].code], [422, 'not_eligible']);
    }
    const giver = await service.key('keys.manage', 'projects.read');
    assert.equal((await put(human, giver, { scopes: ['projects.manage'] })).body.code, 'insufficient_scope');
    assert.equal((await put(human, giver)).status, 200);
    assert.equal((await put(human, key, { scopes: presets.administrator })).status, 200);
    // Somebody who has more can neither be changed, nor invited, nor removed.
    assert.equal((await put(human, giver)).body.code, 'insufficient_scope');
    const invitation = await service.post(`/v1/personnel/${human}/invitation`, giver, undefined);
    assert.equal(invitation.body.code, 'insufficient_scope');
    assert.equal((await service.delete(`/v1/personnel/${human}/access`, giver)).status, 403);
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const limited = await service.limitedKey(['APOLLO'], 'keys.manage', 'projects.read');
    assert.equal((await put(human, limited)).body.code, 'key_limited');
    assert.equal((await service.get('/v1/access', limited)).body.code, 'key_limited');
    assert.equal((await service.get(`/v1/personnel/${human}/access`, key)).body.scopes.length, scopes.length);
  });

  test('narrows and ends sessions at the next request on every instance', async (t) => {
    const service = await start(t);
    const { url } = service;
    const other = await start(t, { target: { url, drop: async () => {} } });
    const key = await service.key();
    const ada = await service.member(['projects.manage', 'personnel.read']);
    const path = `/v1/personnel/${ada.user_id}/access`;
    const risks = async () => [
      await status(service, ada.headers, '/v1/risks'),
      await status(other, ada.headers, '/v1/risks'),
    ];
    for (let i = 0; i < 3; i++) assert.deepEqual(await risks(), [200, 200]);
    await service.call('PUT', path, key, { scopes: ['personnel.read'] });
    assert.deepEqual(await risks(), [403, 403]);
    await service.call('PUT', path, key, { scopes: ['projects.read'] });
    assert.deepEqual(await risks(), [200, 200]);
    await service.delete(`/v1/sessions/${ada.id}`, key);
    assert.deepEqual(await risks(), [401, 401]);
    const again = await service.signIn(ada.user_id);
    assert.equal(await status(other, again.headers), 200);
    await service.delete(path, key);
    assert.deepEqual([await status(service, again.headers), await status(other, again.headers)], [401, 401]);
  });

  test('ends when the person is deactivated in any way, and does not return', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const hr = await service.key('personnel.manage');
    const ways: ((user_id: string) => Promise<{ status: number; text: string }>)[] = [
      (id) => service.post(`/v1/personnel/${id}/deactivate`, hr, {}),
      (id) => service.patch(`/v1/personnel/${id}`, hr, { status: 'inactive' }),
      (id) =>
        service.upload(
          '/v1/personnel/import?mode=upsert',
          hr,
          `user_id,name,status\n${id},Member,inactive\n`,
        ),
      (id) => service.patch(`/v1/personnel/${id}`, hr, { kind: 'placeholder' }),
    ];
    for (const [i, deactivate] of ways.entries()) {
      const ada = await service.member(['projects.read']);
      const personal = await service.post(
        '/v1/me/keys',
        undefined,
        { name: 'mine', scopes: ['projects.read'] },
        ada.headers,
      );
      assert.equal((await service.get('/v1/risks', personal.body.secret)).status, 200);
      await service.post(`/v1/personnel/${ada.user_id}/invitation`, key, undefined);
      const done = await deactivate(ada.user_id);
      assert.equal(done.status, 200, done.text);
      assert.equal(await status(service, ada.headers), 401, `way ${i}`);
      assert.equal((await service.get('/v1/risks', personal.body.secret)).status, 401, `way ${i}`);
      const { db } = service.database;
      for (const table of ['access', 'sessions', 'links', 'passwords', 'passkeys'] as const) {
        const rows = await db.selectFrom(table).selectAll().where('user_id', '=', ada.user_id).execute();
        assert.deepEqual(rows, [], `way ${i}: ${table}`);
      }
      await service.patch(`/v1/personnel/${ada.user_id}`, hr, { kind: 'human', status: 'active' });
      assert.equal((await service.get(`/v1/personnel/${ada.user_id}/access`, key)).status, 404);
      assert.equal((await service.get('/v1/risks', personal.body.secret)).status, 401);
    }
  });

  test('of a person limited to a project limits their personal keys too', async (t) => {
    const service = await start(t);
    const key = await service.key();
    await service.make('/v1/projects', key, { name: 'Apollo' });
    await service.make('/v1/projects', key, { name: 'Gemini' });
    const ada = await service.member(['projects.read'], ['APOLLO']);
    const make = (body: object) =>
      service.post('/v1/me/keys', undefined, { name: 'mine', ...body }, ada.headers);
    const own = await make({});
    assert.equal(own.status, 201, own.text);
    assert.deepEqual(pluck(await service.list('/v1/projects', own.body.secret), 'key'), ['APOLLO']);
    assert.equal((await make({ project_ids: ['GEMINI'] })).status, 422);
    assert.equal((await make({ scopes: ['projects.manage'] })).status, 403);
    // At each request it has what both have.
    await service.call('PUT', `/v1/personnel/${ada.user_id}/access`, key, { scopes: ['personnel.read'] });
    assert.equal((await service.get('/v1/projects', own.body.secret)).status, 403);
  });

  test('ends after the last day of the person', async (t) => {
    const clock = settableClock('2026-11-15T10:00:00Z');
    const service = await start(t, { clock });
    const ada = await service.member(['projects.read'], null, { end_on: '2026-11-16' });
    clock.set('2026-11-16T23:00:00Z');
    assert.equal(await status(service, ada.headers), 200);
    clock.set('2026-11-17T00:00:01Z');
    const after = await service.get('/v1/me', undefined, ada.headers);
    assert.deepEqual(
      [after.status, after.body.detail],
      [401, 'Your access ended on 2026-11-16, your last day.'],
    );
    // A later last day brings back the access, and no session of before.
    const path = `/v1/personnel/${ada.user_id}`;
    assert.equal((await service.patch(path, await service.key(), { end_on: '2026-12-31' })).status, 200);
    assert.equal(await status(service, ada.headers), 401);
    assert.deepEqual(await service.database.db.selectFrom('sessions').selectAll().execute(), []);
    assert.equal(await status(service, (await service.signIn(ada.user_id)).headers), 200);
  });

  test('closes event streams within two seconds when it ends', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const ada = await service.member(['events.read', 'projects.read']);
    const revoked = await service.signIn(ada.user_id);
    const follow = async (headers: Record<string, string>) => {
      const response = await fetch(`${service.origin}/v1/events/stream`, { headers });
      assert.equal(response.status, 200);
      // Complete only when the stream ends.
      return { text: response.text() };
    };
    const [first, second] = [await follow(ada.headers), await follow(revoked.headers)];
    const within = ({ text }: { text: Promise<string> }) =>
      Promise.race([text, setTimeout(2000, 'still open', { ref: false })]);
    await service.delete(`/v1/sessions/${revoked.id}`, key);
    assert.match(await within(second), /"reason":"access_changed"/);
    await service.post(`/v1/personnel/${ada.user_id}/deactivate`, key, {});
    assert.match(await within(first), /"reason":"access_changed"/);
  });

  test('cannot be taken over by a new e-mail address', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const ada = await service.member(['projects.manage', 'keys.manage']);
    const invitation = await service.post(`/v1/personnel/${ada.user_id}/invitation`, key, undefined);
    assert.equal(invitation.status, 200);
    const hr = await service.key('personnel.manage');
    const weaker = await service.key('personnel.manage', 'keys.manage');
    const mine = { email: 'eve@example.com' };
    for (const by of [hr, weaker]) {
      const patched = await service.patch(`/v1/personnel/${ada.user_id}`, by, mine);
      assert.equal(patched.body.code, 'insufficient_scope');
      const file = `user_id,name,email\n${ada.user_id},Member,eve@example.com\n`;
      const imported = await service.upload('/v1/personnel/import?mode=upsert', by, file);
      assert.equal(imported.body.summary.failed, 1, imported.text);
    }
    const person = await service.get(`/v1/personnel/${ada.user_id}`, key);
    assert.equal(person.body.email, ada.email);
    assert.equal((await service.patch(`/v1/personnel/${ada.user_id}`, hr, { title: 'Lead' })).status, 200);
    const pending = () => service.database.db.selectFrom('links').selectAll().execute();
    assert.equal((await pending()).length, 1);
    const changed = await service.patch(`/v1/personnel/${ada.user_id}`, key, mine);
    assert.equal(changed.status, 200);
    assert.deepEqual(await pending(), [], 'a pending invitation ends');
    // Another person cannot get this address.
    const bob = await addPerson(service, key, { name: 'Bob', email: 'bob@example.com' });
    assert.equal((await service.patch(`/v1/personnel/${bob}`, key, mine)).body.code, 'duplicate');
  });

  test('prevents that the person is deleted', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const ada = await service.member(['projects.read']);
    const refused = await service.delete(`/v1/personnel/${ada.user_id}`, key);
    assert.deepEqual([refused.status, refused.body.code], [409, 'in_use']);
  });

  test('of the last administrator cannot be removed, whatever the way', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const ada = await service.member([...presets.administrator]);
    const bob = await service.member([...presets.administrator]);
    const keys = await service.list('/v1/keys', key);
    const revokeAll = async () => {
      const statuses = [];
      for (const { id } of keys)
        statuses.push((await service.delete(`/v1/keys/${id}`, undefined, ada.headers)).status);
      return statuses;
    };
    // Nobody has a password or a passkey yet, so a key must remain.
    assert.equal((await revokeAll()).filter((one) => one === 409).length, 1);
    const hash =
      '$argon2id$v=19$m=8,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
    await service.database.write((db) =>
      db
        .insertInto('passwords')
        .values({ user_id: ada.user_id, hash, set_at: '2026-11-15T00:00:00.000Z' })
        .execute(),
    );
    assert.ok((await revokeAll()).every((one) => one === 204));
    // Now Ada is the only one who can always sign in.
    const at = `/v1/personnel/${ada.user_id}`;
    const by = bob.headers;
    for (const attempt of [
      () => service.call('PUT', `${at}/access`, undefined, { scopes: ['projects.read'] }, by),
      () => service.delete(`${at}/access`, undefined, by),
      () => service.post(`${at}/deactivate`, undefined, {}, by),
      () => service.patch(at, undefined, { status: 'inactive' }, by),
      () => service.patch(at, undefined, { kind: 'placeholder' }, by),
      () => service.patch(at, undefined, { end_on: '2020-01-01', start_on: null }, by),
      () => service.patch(at, undefined, { end_on: '2099-12-31' }, by),
    ]) {
      const refused = await attempt();
      assert.deepEqual([refused.status, refused.body.code], [409, 'in_use'], refused.text);
    }
    assert.equal(await status(service, ada.headers), 200);
  });

  test('needs an administrator whose key lasts for 30 days', async (t) => {
    const clock = settableClock('2026-11-19T10:00:00.000Z');
    const service = await start(t, { clock });
    const key = await service.key();
    const [first] = await service.list('/v1/keys', key);
    const make = (expires_at: string) =>
      service.make('/v1/keys', key, { name: 'other', scopes: ['keys.manage'], expires_at });
    const { secret } = await make('2026-12-19T09:59:59.999Z');
    const revoke = async () => (await service.delete(`/v1/keys/${first.id}`, secret)).status;
    assert.equal(await revoke(), 409);
    assert.equal((await service.get(`/v1/keys/${first.id}`, key)).body.revoked_at, null);
    await make('2026-12-19T10:00:00.000Z');
    assert.equal(await revoke(), 204);
  });

  test('needs an administrator who stays for 30 days and has a way in that is not turned off', async (t) => {
    const clock = settableClock('2026-11-19T10:00:00.000Z');
    const service = await start(t, { clock, environment: { MUSTER_PASSWORDS: 'off' } });
    const key = await service.key();
    const admin = [...presets.administrator];
    const ada = await service.member(admin);
    const bob = await service.member(admin, null, { end_on: '2026-12-18' });
    const { write } = service.database;
    const set_at = '2026-11-15T00:00:00.000Z';
    const row = { user_id: ada.user_id, hash: 'x', set_at };
    await write((db) => db.insertInto('passwords').values(row).execute());
    const passkey = {
      id: 'psk_1',
      credential_id: 'x',
      name: 'x',
      public_key: 'x',
      counter: 0,
      transports: '[]',
      user_id: bob.user_id,
      created_at: set_at,
      last_used_at: null,
    };
    await write((db) => db.insertInto('passkeys').values(passkey).execute());
    const revoke = async () => {
      const keys = await service.list('/v1/keys?status=valid', key);
      const statuses = [];
      // The one in use last.
      for (const { id } of [...keys].reverse())
        statuses.push((await service.delete(`/v1/keys/${id}`, undefined, ada.headers)).status);
      return statuses.at(-1);
    };
    assert.equal(await revoke(), 409, 'Ada has only a password, and Bob leaves');
    assert.equal(
      (await service.patch(`/v1/personnel/${bob.user_id}`, key, { end_on: '2026-12-19' })).status,
      200,
    );
    assert.equal(await revoke(), 204);
  });
});
