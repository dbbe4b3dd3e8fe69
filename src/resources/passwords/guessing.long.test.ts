import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addPeople, countOf, environment, password, statusOf } from '../../../test/guessing.ts';
import { onBothEngines } from '../../../test/service.ts';

onBothEngines('many who sign in at once', (start) => {
  test('behind one address, are all signed in', async (t) => {
    const service = await start(t, { environment });
    const people = await addPeople(service, 50);
    const statuses = await Promise.all(
      people.map(({ email }) => statusOf(service, '198.51.100.1', email, password)),
    );
    assert.equal(countOf(statuses, 204), 50);
  });

  test('beside twelve networks that guess, are signed in', async (t) => {
    const limited = { ...environment, MUSTER_FAILED_AUTH_LIMIT: '6' };
    const service = await start(t, { environment: limited });
    const [ada] = await addPeople(service, 1);
    const guesses = Array.from({ length: 180 }, (_, i) =>
      statusOf(service, `203.0.113.${i % 12}`, `person${i}@example.com`),
    );
    assert.equal(await statusOf(service, '198.51.100.1', ada?.email ?? '', password), 204);
    const statuses = await Promise.all(guesses);
    assert.deepEqual([...new Set(statuses)].sort(), [401, 429]);
    assert.equal(service.app.signInQueue.counts.hashes, countOf(statuses, 401) + 1);
    assert.ok(countOf(statuses, 401) <= 72);
  });
});
