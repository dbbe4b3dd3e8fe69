import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { startPostgresServer } from './postgres-server.ts';

test('a test server keeps its data when it is killed, restarted, frozen and thawed', async (t) => {
  const server = await startPostgresServer();
  t.after(() => server.stop());
  const url = await server.createDatabase();
  await server.run('create table items as select 1 as one', url);

  await server.kill9();
  await assert.rejects(server.run('select 1'));
  await server.restart();
  assert.deepEqual(await server.run('select * from items', url), [{ one: 1 }]);

  await server.freeze();
  const waiting = server.run('select 2 as two', url);
  assert.equal(await Promise.race([waiting, setTimeout(200, 'frozen')]), 'frozen');
  await server.thaw();
  assert.deepEqual(await waiting, [{ two: 2 }]);
});
