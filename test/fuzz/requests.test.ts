import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { fuzz, type Outcome } from './run.ts';
import { startTarget, steppingClock } from './services.ts';

/** A fixed seed, so that a failure comes from a code change. `npm run fuzz` uses a random one. */
const seed = 1815;

test('generated valid and invalid requests get documented responses, equal on both engines', async (t) => {
  const outcome = await run(t, { requests: 400 });
  assert.ok(outcome.statuses.size > 50, 'every operation is requested');
  const statuses = [...outcome.statuses.values()].flatMap((counts) => [...counts.keys()]);
  for (const status of [200, 201, 204, 400, 401, 403, 404, 409, 415, 422]) {
    assert.ok(statuses.includes(status), `some responses have status ${status}`);
  }
});

test('eight concurrent generated requests get documented responses', async (t) => {
  await run(t, { requests: 160, atOnce: 8 });
});

async function run(t: TestContext, options: { requests: number; atOnce?: number }): Promise<Outcome> {
  t.diagnostic(`seed ${seed}`);
  const { clock, tick } = steppingClock();
  const targets = [await startTarget(t, 'sqlite', clock), await startTarget(t, 'postgres', clock)] as const;
  const outcome = await fuzz([...targets], { seed, tick, ...options });
  assert.deepEqual(outcome.failures, []);
  assert.ok(outcome.requests >= options.requests);
  return outcome;
}
