import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { fillPeople } from '../testing/people.ts';
import { onBothEngines } from '../testing/service.ts';

onBothEngines('readers who do not read', (start) => {
  test('keep no one else from pages, counts and single things', async (t) => {
    const service = await start(t);
    const key = await service.key();
    await fillPeople(service.database, 20_000, { phone: 'x'.repeat(200) });
    const port = Number(new URL(service.origin).port);
    const request = `GET /v1/personnel HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`;
    const sockets: Socket[] = [];
    for (let i = 0; i < 8; i++) {
      const socket = connect(port, '127.0.0.1').pause();
      socket.write(request);
      // Its list has begun when its first bytes have come.
      await new Promise((resolve) => socket.once('readable', resolve));
      sockets.push(socket);
    }
    for (const path of [
      '/v1/risks/summary',
      '/v1/personnel?limit=1&q=person',
      '/v1/risks?limit=1',
      '/v1/me',
    ]) {
      assert.equal((await service.get(path, key)).status, 200, path);
    }
    for (const socket of sockets) socket.destroy();
    assert.equal((await service.get('/v1/personnel', key)).body.page.total, 20_000);
  });
});
