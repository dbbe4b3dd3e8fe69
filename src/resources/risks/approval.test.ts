import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onBothEngines } from '../../../test/service.ts';

const acceptance = { status: 'accepted', acceptance_reason: 'Insured.', accepted_until: '2027-03-31' };

onBothEngines('accepting a risk', (start) => {
  test('is done in the name of the person who has signed in', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const ada = await service.member(['projects.manage']);
    const bob = await service.member(['projects.manage']);
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const path = '/v1/projects/APOLLO/risks';
    const body = { title: 'x', probability: 5, impact: 5 };
    const risk = await service.post(path, undefined, body, ada.headers);
    assert.equal(risk.body.raised_by_user_id, ada.user_id);
    const at = `${path}/${risk.body.id}`;
    const foreign = { ...acceptance, accepted_by_user_id: bob.user_id };
    const refused = await service.patch(at, undefined, foreign, ada.headers);
    assert.deepEqual([refused.status, refused.body.errors[0].code], [422, 'not_you']);
    const accepted = await service.patch(at, undefined, acceptance, ada.headers);
    assert.equal(accepted.body.accepted_by_user_id, ada.user_id);
    const history = await service.list(`${at}/history`, key);
    assert.deepEqual(history.at(-1).actor, {
      type: 'person',
      user_id: ada.user_id,
      key_id: null,
      name: 'Member',
    });
    // Extending it is a decision of its own; other changes are not.
    await service.patch(at, undefined, { title: 'y' }, bob.headers);
    assert.equal((await service.get(at, key)).body.accepted_by_user_id, ada.user_id);
    await service.patch(at, undefined, { accepted_until: '2027-04-30' }, bob.headers);
    assert.equal((await service.get(at, key)).body.accepted_by_user_id, bob.user_id);
    // A personal key acts for its person, in bulk changes too; a key of a program names who accepted.
    const personal = await service.post('/v1/me/keys', undefined, { name: 'mine' }, ada.headers);
    const other = await service.make(path, key, body);
    const items = [{ id: other.id }];
    const bulk = await service.post('/v1/bulk/risks', personal.body.secret, { items, changes: acceptance });
    assert.equal(bulk.status, 200, bulk.text);
    assert.equal((await service.get(`${path}/${other.id}`, key)).body.accepted_by_user_id, ada.user_id);
    const third = await service.make(path, key, body);
    const named = await service.patch(`${path}/${third.id}`, key, foreign);
    assert.equal(named.body.accepted_by_user_id, bob.user_id);
  });

  test('above the appetite is not for its owner, if the project says so', async (t) => {
    const service = await start(t);
    const key = await service.key();
    const ada = await service.member(['projects.manage']);
    const bob = await service.member(['projects.manage']);
    await service.make('/v1/projects', key, { name: 'Apollo', acceptance: 'not_owner', appetite: 12 });
    const path = '/v1/projects/APOLLO/risks';
    const make = async (impact: number) =>
      `${path}/${(await service.make(path, key, { title: 'x', probability: 4, impact, owner_user_id: ada.user_id })).id}`;
    const [above, within] = [await make(4), await make(3)];
    const codeOf = async (at: string, headers: Record<string, string>) =>
      (await service.patch(at, undefined, acceptance, headers)).body.errors?.[0].code;
    assert.equal(await codeOf(above, ada.headers), 'is_owner');
    const unnamed = await service.patch(above, key, acceptance);
    assert.equal(unnamed.body.errors[0].code, 'required');
    const owner = { ...acceptance, accepted_by_user_id: ada.user_id };
    assert.equal((await service.patch(above, key, owner)).body.errors[0].code, 'is_owner');
    assert.equal(await codeOf(above, bob.headers), undefined);
    assert.equal(await codeOf(within, ada.headers), undefined);
    // A file reports what was decided elsewhere.
    const file = `title,status,acceptance_reason,accepted_until,probability,impact\nz,accepted,Insured.,2027-03-31,5,5\n`;
    const imported = await service.call('POST', `${path}/import`, undefined, file, {
      ...ada.headers,
      'content-type': 'text/csv',
    });
    assert.equal(imported.body.summary?.created, 1, imported.text);
    const { data } = (await service.get(`${path}?q=z`, key)).body;
    assert.equal(data[0].accepted_by_user_id, null);
  });
});
