import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines } from '../testing/service.ts';

onBothEngines('groups', (start) => {
  test('lists groups by name with how many members they have', async (t) => {
    const service = await start(t);
    const key = await service.key('personnel.manage');
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
    assert.deepEqual(
      body.data.map(({ name, member_count }: { name: string; member_count: number }) => [name, member_count]),
      [
        ['Ops', 1],
        ['platform', 0],
      ],
    );
    assert.deepEqual((await service.get(`/v1/groups/${platform.id}`, key)).body, platform);
    assert.deepEqual((await service.get(`/v1/groups?parent_id=${platform.id}`, key)).body.data[0].id, ops.id);
    assert.equal((await service.get('/v1/groups?q=OP', key)).body.page.total, 1);
  });

  test('refuses a second group of the same name, whatever its case', async (t) => {
    const service = await start(t);
    const key = await service.key('personnel.manage');
    const first = await service.make('/v1/groups', key, { name: 'Équipe' });
    const answer = await service.post('/v1/groups', key, { name: 'equipe' });
    assert.equal(answer.status, 409);
    assert.equal(answer.body.existing_id, first.id);
  });

  test('nests ten levels and no more', async (t) => {
    const service = await start(t);
    const key = await service.key('personnel.manage');
    let parent_id: string | null = null;
    for (let level = 1; level <= 10; level++) {
      parent_id = (await service.make('/v1/groups', key, { name: `Level ${level}`, parent_id })).id;
    }
    const answer = await service.post('/v1/groups', key, { name: 'Level 11', parent_id });
    assert.equal(answer.status, 422);
    assert.equal(answer.body.errors[0].code, 'too_deep');
  });

  test('takes only members and groups that are there', async (t) => {
    const service = await start(t);
    const key = await service.key('personnel.manage');
    const { id } = await service.make('/v1/groups', key, { name: 'Ops' });
    const { user_id } = await service.make('/v1/personnel', key, { name: 'Ada' });
    const nobody = await service.call('PUT', `/v1/groups/${id}/members/usr_00000000000000000000000000`, key);
    const nowhere = await service.call(
      'PUT',
      `/v1/groups/grp_00000000000000000000000000/members/${user_id}`,
      key,
    );
    assert.deepEqual([nobody.status, nowhere.status], [404, 404]);
  });
});
