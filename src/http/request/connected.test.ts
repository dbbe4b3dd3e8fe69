import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { onBothEngines } from '../../../test/service.ts';
import { whileConnected } from './connected.ts';

onBothEngines('a read in a snapshot', (start) => {
  test('ends with the next statement after its client has disconnected', async (t) => {
    const { database } = await start(t);
    const socket = { destroyed: false };
    const snapshot = whileConnected({ raw: { socket } }, await database.snapshot('slow'));
    try {
      const readOne = () => sql<{ one: number }>`select 1 as one`.execute(snapshot.db);
      assert.equal((await readOne()).rows[0]?.one, 1);
      socket.destroyed = true;
      await assert.rejects(readOne, /The client has disconnected/);
    } finally {
      await snapshot.end();
    }
  });
});
