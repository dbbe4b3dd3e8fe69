import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onSqlite, pluck, withKey } from '../../test/service.ts';

const path = '/v1/personnel/import';

onSqlite('people who have left, in the words of other tools', (start) => {
  test('are inactive', async (t) => {
    const { service, key } = await withKey(start(t));
    const files = [
      'Name,userAccountControl\nDisabled,514\nEnabled,512\n',
      'Name,Block sign in\nBlocked,Yes\nWelcome,No\n',
      'Name,Lifecycle status\nGone,Terminated\nHere,Active\n',
      'Name,Overall Status\nFormer,No longer employed\nCurrent,Active\n',
      'Employee #,Name,Hire Date,Employment Status\n1,Dismissed,2020-01-31,Terminated\n2,Staying,2020-01-31,Part-Time\n',
      'Name,Austrittsdatum\nFrüher,31.01.2020\nBald,31.12.2199\nDa,\n',
    ];
    for (const file of files) {
      const { status, text, body } = await service.upload(path, key, file);
      assert.deepEqual([status, body.summary?.failed], [200, 0], text);
    }
    const namesOf = async (status: string) =>
      pluck(await service.list(`/v1/personnel?sort=name&status=${status}`, key), 'name').flat();
    const active = ['Bald', 'Current', 'Da', 'Enabled', 'Here', 'Staying', 'Welcome'];
    assert.deepEqual(await namesOf('active'), active);
    const inactive = ['Blocked', 'Disabled', 'Dismissed', 'Former', 'Früher', 'Gone'];
    assert.deepEqual(await namesOf('inactive'), inactive);
  });

  test('are a question if the column that may say so is unknown', async (t) => {
    const { service, key } = await withKey(start(t));
    const file = 'Name,Suspended status\nAda,Yes\nGrace,No\n';
    const { status, body } = await service.upload(path, key, file);
    assert.deepEqual(
      [status, body.errors[0].code, body.errors[0].column],
      [422, 'unclear_column', 'Suspended status'],
    );
    assert.match(body.detail, /`map=Suspended status=status`\) or leave it out \(`map=Suspended status=`\)/);
    assert.equal((await service.list('/v1/personnel', key)).length, 0);
    const answers = new URLSearchParams({
      map: 'Suspended status=status',
      map_values: 'status:Yes=inactive,status:No=active',
    });
    assert.equal((await service.upload(`${path}?${answers}`, key, file)).body.summary.created, 2);
    const [ada, grace] = await service.list('/v1/personnel?sort=name', key);
    assert.deepEqual([ada.status, grace.status], ['inactive', 'active']);
    const left = await service.upload(`${path}?map=Suspended+status=`, key, file);
    assert.equal(left.body.summary.created, 2, left.text);
    // Beside a status, such a column is no question.
    const both = await service.upload(path, key, 'Name,Status,Flight status\nHedy,inactive,late\n');
    assert.equal(both.body.summary.created, 1, both.text);
  });
});
