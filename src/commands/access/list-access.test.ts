import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onSqlite } from '../../../test/service.ts';
import { systemClock } from '../../core/clock.ts';
import { presets } from '../../core/scopes.ts';
import { accessTable, listAccessCommand } from './list-access.ts';

onSqlite('muster access list', (start) => {
  test('shows who has access, how they sign in, and when they were last seen', async (t) => {
    const service = await start(t);
    assert.match(
      accessTable(await listAccessCommand(service.database), systemClock()),
      /^Nobody has access yet/,
    );
    const key = await service.key();
    await service.make('/v1/projects', key, { name: 'Apollo' });
    const ada = await service.member([...presets.administrator], null, {
      name: 'Ada',
      email: 'ada@example.com',
    });
    const bob = await service.member(['projects.read'], ['APOLLO'], {
      name: 'Bob',
      email: 'bob@example.com',
    });
    await service.post(`/v1/personnel/${bob.user_id}/invitation`, key, undefined);
    const [header, first, second] = accessTable(
      await listAccessCommand(service.database),
      systemClock(),
    ).split('\n');
    assert.match(header ?? '', /^ID +NAME +EMAIL +ACCESS +PROJECTS +SOURCE +SIGNS IN WITH +LAST SEEN$/);
    const today = systemClock().today;
    assert.match(
      first ?? '',
      new RegExp(
        `^${ada.user_id}  Ada +ada@example\\.com +administrator +all +manual +nothing yet +${today}$`,
      ),
    );
    assert.match(second ?? '', / Bob +bob@example\.com +projects\.read +prj_\w+ +manual +\(invited\) /);
  });
});
