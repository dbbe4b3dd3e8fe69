import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startMuster, temporaryFolder } from '../../../test/process.ts';
import { freshDatabase, onBothEngines, pluck } from '../../../test/service.ts';

onBothEngines('idempotency', (_start, engine) => {
  test('a request repeated after the service was killed takes effect once', async (t) => {
    const { url, drop } = await freshDatabase(engine);
    t.after(drop);
    const startProcess = () => startMuster(t, temporaryFolder(t), { MUSTER_DATABASE_URL: url });
    let key: string | undefined;
    for (let round = 0; round < 5; round++) {
      const service = await startProcess();
      key ??= service.key;
      const post = (name: string) =>
        fetch(`${service.origin}/v1/personnel`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${key}`,
            'content-type': 'application/json',
            'idempotency-key': name,
          },
          body: JSON.stringify({ name }),
        });
      // Repeats the requests that the previous kill interrupted, then starts more and kills the service again.
      for (let i = 0; round > 0 && i < 20; i++) assert.equal((await post(`${round - 1}-${i}`)).status, 201);
      const cutOff = Array.from({ length: 20 }, (_, i) => post(`${round}-${i}`).catch(() => undefined));
      await Promise.race(cutOff);
      service.child.kill('SIGKILL');
      await service.exit;
      await Promise.all(cutOff);
    }
    const service = await startProcess();
    const response = await fetch(`${service.origin}/v1/personnel`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const names = pluck((await response.json()).data, 'name');
    assert.equal(new Set(names).size, names.length, 'no name twice');
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < 20; i++) assert.ok(names.includes(`${round}-${i}`));
    }
  });
});
