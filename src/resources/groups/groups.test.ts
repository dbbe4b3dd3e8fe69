import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillPeople } from '../../../test/people.ts';
import { onBothEngines, pluck, type TestService, withKey } from '../../../test/service.ts';

onBothEngines('groups', (start) => {
  test('lists groups by name with their member counts', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    const platform = await service.make('/v1/groups', key, { name: 'platform' });
    const ops = await service.make('/v1/groups', key, {
      name: 'Ops',
      parent_id: platform.id,
      description: 'On call.',
    });
    const { user_id } = await service.make('/v1/personnel', key, { name: 'Ada' });
    assert.equal((await service.call('PUT', `/v1/groups/${ops.id}/members/${user_id}`, key)).status, 204);
    assert.equal((await service.call('PUT', `/v1/groups/${ops.id}/members/${user_id}`, key)).status, 204);

    const { body } = await service.get('/v1/groups', await service.key('personnel.read'));
    assert.deepEqual(pluck(body.data, 'name', 'member_count'), [
      ['Ops', 1],
      ['platform', 0],
    ]);
    assert.deepEqual((await service.get(`/v1/groups/${platform.id}`, key)).body, platform);
    assert.deepEqual((await service.list(`/v1/groups?parent_id=${platform.id}`, key))[0].id, ops.id);
    assert.equal((await service.get('/v1/groups?q=OP', key)).body.page.total, 1);
  });

  test('rejects a duplicate name, ignoring case and accents', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    const first = await service.make('/v1/groups', key, { name: 'Équipe' });
    const response = await service.post('/v1/groups', key, { name: 'equipe' });
    assert.deepEqual([response.status, response.body.existing_id], [409, first.id]);
  });

  test('nests at most ten levels deep', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    let parent_id: string | null = null;
    for (let level = 1; level <= 10; level++) {
      parent_id = (await service.make('/v1/groups', key, { name: `Level ${level}`, parent_id })).id;
    }
    const response = await service.post('/v1/groups', key, { name: 'Level 11', parent_id });
    assert.deepEqual([response.status, response.body.errors[0].code], [422, 'too_deep']);
  });
});

onBothEngines('changes of groups', (start) => {
  test('are recorded in the history and keep names unique', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    const ada = await service.make('/v1/personnel', key, { name: 'Ada' });
    const ops = await service.make('/v1/groups', key, { name: 'Ops' });
    await service.make('/v1/groups', key, { name: 'Other' });
    const patch = (body: object, headers = {}) => service.patch(`/v1/groups/${ops.id}`, key, body, headers);
    const { body } = await patch({ name: 'OPS', lead_user_id: ada.user_id, reason: 'Louder.' });
    assert.deepEqual([body.name, body.lead_user_id], ['OPS', ada.user_id]);
    assert.equal((await patch({ name: 'OTHER' })).body.code, 'duplicate');
    assert.equal((await patch({ member_count: 3 })).body.errors[0].code, 'unknown_field');
    assert.equal((await service.get('/v1/groups?q=ops', key)).body.page.total, 1);
    const data = await service.list(`/v1/groups/${ops.id}/history`, key);
    assert.deepEqual(pluck(data, 'field', 'from', 'to', 'reason'), [
      ['created', null, 'Ops', null],
      ['name', 'Ops', 'OPS', 'Louder.'],
      ['lead_user_id', null, ada.user_id, 'Louder.'],
    ]);
  });

  test('are rejected when they create a cycle, and the error names the cycle', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    const top = await service.make('/v1/groups', key, { name: 'Top' });
    const low = await service.make('/v1/groups', key, { name: 'Low', parent_id: top.id });
    const move = (id: string, parent_id: string | null) =>
      service.patch(`/v1/groups/${id}`, key, { parent_id });
    const closed = await move(top.id, low.id);
    assert.equal(closed.body.errors[0].code, 'cycle');
    assert.ok(closed.body.detail.includes(`Top (${top.id}) → Low (${low.id}) → Top (${top.id})`));
    assert.equal((await move(top.id, top.id)).body.errors[0].code, 'cycle');
    assert.equal((await move(low.id, null)).status, 200);
    assert.equal((await move(top.id, low.id)).status, 200);
  });

  test('create no cycle and no eleventh level when they run concurrently', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    const create = (name: string, parent_id: string | null = null) =>
      service.make('/v1/groups', key, { name, parent_id });
    const move = (id: string, parent_id: string | null) =>
      service.patch(`/v1/groups/${id}`, key, { parent_id });
    const chain = async (name: string) => {
      const ids: string[] = [];
      for (let level = 1; level <= 5; level++) {
        ids.push((await create(`${name}${level}`, ids.at(-1) ?? null)).id);
      }
      return { top: ids[0] ?? '', low: ids[4] ?? '' };
    };
    const [a, b, c] = [await chain('A'), await chain('B'), await chain('C')];
    for (let round = 0; round < 10; round++) {
      const cycle = await Promise.all([move(a.top, b.low), move(b.top, a.low)]);
      assert.deepEqual(cycle.map(({ status }) => status).sort(), [200, 422]);
      assert.equal(cycle.find(({ status }) => status === 422)?.body.errors[0].code, 'cycle');
      await move(a.top, null);
      await move(b.top, null);
      const deep = await Promise.all([move(a.top, b.low), move(c.top, a.low)]);
      assert.deepEqual(deep.map(({ status }) => status).sort(), [200, 422]);
      assert.equal(deep.find(({ status }) => status === 422)?.body.errors[0].code, 'too_deep');
      await move(a.top, null);
      await move(c.top, null);
    }
  });

  test('delete a group without subgroups and owned items, and remove its members', async (t) => {
    const { service, key } = await withKey(start(t));
    const top = await service.make('/v1/groups', key, { name: 'Top' });
    const low = await service.make('/v1/groups', key, { name: 'Low', parent_id: top.id });
    const { user_id } = await service.make('/v1/personnel', key, { name: 'Ada' });
    await service.make('/v1/projects', key, { name: 'Apollo' });
    for (const kind of ['risks', 'issues']) {
      await service.make(`/v1/projects/APOLLO/${kind}`, key, { title: 'x', owner_group_id: top.id });
    }
    await service.call('PUT', `/v1/groups/${low.id}/members/${user_id}`, key);
    const rejected = await service.delete(`/v1/groups/${top.id}`, key);
    assert.deepEqual([rejected.status, rejected.body.code], [409, 'in_use']);
    assert.deepEqual(rejected.body.used_by, {
      groups: { count: 1, samples: ['Low'] },
      risks: { count: 1, samples: ['APOLLO-R1'] },
      issues: { count: 1, samples: ['APOLLO-I1'] },
    });
    assert.equal((await service.delete(`/v1/groups/${low.id}`, key)).status, 204);
    assert.equal((await service.get(`/v1/groups/${low.id}`, key)).status, 404);
    const ada = (await service.get(`/v1/personnel/${user_id}`, key)).body;
    assert.deepEqual([ada.groups, ada.version], [[], 3]);
    const data = await service.list(`/v1/personnel/${user_id}/history`, key);
    assert.deepEqual(pluck(data.slice(1), 'field', 'from', 'to'), [
      ['group', null, low.id],
      ['group', low.id, null],
    ]);
  });
});

onBothEngines('members', (start) => {
  const createPeople = async (service: TestService, key: string, count: number): Promise<string[]> => {
    await fillPeople(service.database, count);
    return pluck(await service.list('/v1/personnel', key), 'user_id');
  };

  test('are added and removed idempotently, with new versions and history of the group and the person', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    const { id } = await service.make('/v1/groups', key, { name: 'Ops' });
    const { user_id } = await service.make('/v1/personnel', key, { name: 'Ada' });
    const path = `/v1/groups/${id}/members/${user_id}`;
    const both = async () => {
      const group = (await service.get(`/v1/groups/${id}`, key)).body;
      const person = (await service.get(`/v1/personnel/${user_id}`, key)).body;
      return [group.member_count, group.version, person.groups.length, person.version];
    };
    const at = (version: number, members: number) => [members, version, members, version];
    for (let i = 0; i < 2; i++) {
      assert.equal((await service.call('PUT', path, key)).status, 204);
      assert.deepEqual(await both(), at(2, 1));
    }
    for (let i = 0; i < 2; i++) {
      assert.equal((await service.delete(path, key)).status, 204);
      assert.deepEqual(await both(), at(3, 0));
    }
    const data = await service.list(`/v1/groups/${id}/history`, key);
    assert.deepEqual(pluck(data.slice(1), 'field', 'from', 'to'), [
      ['member', null, user_id],
      ['member', user_id, null],
    ]);
    for (const unknown of [
      `/v1/groups/${id}/members/usr_${'0'.repeat(26)}`,
      `/v1/groups/grp_${'0'.repeat(26)}/members/${user_id}`,
    ]) {
      assert.equal((await service.call('PUT', unknown, key)).status, 404, unknown);
      assert.equal((await service.delete(unknown, key)).status, 404, unknown);
    }
  });

  test('are added 500 at a time, all or none, and adding them again changes nothing', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    const { id } = await service.make('/v1/groups', key, { name: 'Ops' });
    const user_ids = await createPeople(service, key, 500);
    const path = `/v1/groups/${id}/members`;
    const unknownId = `usr_${'0'.repeat(26)}`;
    const rejected = await service.post(path, key, { user_ids: [...user_ids.slice(0, 9), unknownId] });
    assert.deepEqual([rejected.status, rejected.body.errors[0].pointer], [422, '#/user_ids/9']);
    assert.equal((await service.get(path, key)).body.page.total, 0);
    assert.equal((await service.post(path, key, { user_ids: [...user_ids, unknownId] })).status, 422);
    assert.equal((await service.post(path, key, { user_ids: [] })).status, 422);

    const some = await service.post(path, key, { user_ids: user_ids.slice(0, 100) });
    assert.deepEqual(some.body, { added: 100, member_count: 100 });
    const all = await service.post(path, key, { user_ids });
    assert.deepEqual([all.status, all.body], [200, { added: 400, member_count: 500 }]);
    assert.deepEqual((await service.post(path, key, { user_ids })).body, { added: 0, member_count: 500 });
    assert.equal((await service.get(`/v1/groups/${id}`, key)).body.version, 3);
    const members = (await service.get(path, key)).body;
    assert.deepEqual(
      members.data.map((person: { user_id: string }) => person.user_id),
      user_ids,
    );
    const history = await service.get(`/v1/groups/${id}/history`, key);
    assert.equal(history.body.page.total, 501);
  });

  test('are listed in pages, in several formats, and with the members of subgroups', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    const outer = await service.make('/v1/groups', key, { name: 'Outer' });
    const inner = await service.make('/v1/groups', key, { name: 'Inner', parent_id: outer.id });
    const user_ids = await createPeople(service, key, 5);
    await service.post(`/v1/groups/${outer.id}/members`, key, { user_ids: user_ids.slice(0, 3) });
    await service.post(`/v1/groups/${inner.id}/members`, key, { user_ids: user_ids.slice(2) });
    const reader = await service.key('personnel.read');
    const path = `/v1/groups/${outer.id}/members`;
    const ids = (body: { data: { user_id: string }[] }) => body.data.map(({ user_id }) => user_id);
    assert.deepEqual(ids((await service.get(path, reader)).body), user_ids.slice(0, 3));
    assert.deepEqual(ids((await service.get(`${path}?transitive=true`, reader)).body), user_ids);
    const first = (await service.get(`${path}?transitive=true&limit=3`, reader)).body;
    const rest = await service.get(`${path}?transitive=true&cursor=${first.page.next_cursor}`, reader);
    assert.deepEqual([...ids(first), ...ids(rest.body)], user_ids);
    const csv = await service.get(path, reader, { accept: 'text/csv' });
    assert.equal(csv.text.trim().split('\r\n').length, 4);
    const lines = await service.get(path, reader, { accept: 'application/x-ndjson' });
    assert.equal(lines.text.trim().split('\n').length, 3);
    assert.equal((await service.get(`/v1/groups/grp_${'0'.repeat(26)}/members`, reader)).status, 404);
    assert.equal((await service.get(`${path}?group_id=${inner.id}`, reader)).status, 400);
  });

  test('are added to many groups concurrently without a deadlock', async (t) => {
    const { service, key } = await withKey(start(t), 'personnel.manage');
    const user_ids = await createPeople(service, key, 20);
    const groups = await Promise.all(
      ['A', 'B', 'C', 'D'].map((name) => service.make('/v1/groups', key, { name })),
    );
    const responses = await Promise.all([
      ...groups.map(({ id }) => service.post(`/v1/groups/${id}/members`, key, { user_ids })),
      ...groups.map(({ id }) =>
        service.post(`/v1/groups/${id}/members`, key, { user_ids: user_ids.toReversed() }),
      ),
      ...user_ids.map((id) => service.patch(`/v1/personnel/${id}`, key, { title: 'x' })),
      ...groups.map(({ id }) => service.patch(`/v1/groups/${id}`, key, { description: 'x' })),
    ]);
    assert.deepEqual([...new Set(responses.map(({ status }) => status))], [200]);
    const person = (await service.get(`/v1/personnel/${user_ids[0]}`, key)).body;
    assert.deepEqual([person.version, person.groups.length], [6, 4]);
    for (const { id } of groups) {
      const group = (await service.get(`/v1/groups/${id}`, key)).body;
      assert.deepEqual([group.version, group.member_count], [3, 20]);
    }
  });
});

onBothEngines('items owned by a group', (start) => {
  test('include those of its subgroups and members with transitive', async (t) => {
    const { service, key } = await withKey(start(t));
    const outer = await service.make('/v1/groups', key, { name: 'Outer' });
    const inner = await service.make('/v1/groups', key, { name: 'Inner', parent_id: outer.id });
    const other = await service.make('/v1/groups', key, { name: 'Other' });
    const member = (await service.make('/v1/personnel', key, { name: 'Member' })).user_id;
    const stranger = (await service.make('/v1/personnel', key, { name: 'Stranger' })).user_id;
    await service.make('/v1/projects', key, { name: 'Apollo' });
    for (const kind of ['risks', 'issues']) {
      for (const [title, owner] of Object.entries({
        outer: { owner_group_id: outer.id },
        inner: { owner_group_id: inner.id },
        member: { owner_user_id: member },
        stranger: { owner_user_id: stranger },
        other: { owner_group_id: other.id },
        unowned: {},
      })) {
        await service.make(`/v1/projects/APOLLO/${kind}`, key, { title, ...owner });
      }
      const titles = async (query: string) => {
        const { body } = await service.get(`/v1/${kind}?${query}`, key);
        return pluck(body.data, 'title').sort();
      };
      assert.deepEqual(await titles(`owner_group_id=${outer.id}`), ['outer']);
      assert.deepEqual(await titles(`owner_group_id=${outer.id}&transitive=true`), ['inner', 'outer']);
      await service.call('PUT', `/v1/groups/${inner.id}/members/${member}`, key);
      assert.deepEqual(await titles(`owner_group_id=${outer.id}&transitive=true`), [
        'inner',
        'member',
        'outer',
      ]);
      assert.deepEqual(await titles(`owner_group_id=${inner.id},${other.id}&transitive=true`), [
        'inner',
        'member',
        'other',
      ]);
      const summary = await service.get(
        `/v1/${kind}/summary?owner_group_id=${outer.id}&transitive=true`,
        key,
      );
      assert.equal(summary.body.data.total, 3);
      const lone = await service.get(`/v1/${kind}?transitive=true`, key);
      assert.equal(lone.body.errors[0].parameter, 'transitive');
      await service.delete(`/v1/groups/${inner.id}/members/${member}`, key);
    }
  });
});
