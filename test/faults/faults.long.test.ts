import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { hasPassed } from './outcome.ts';
import { createRunner } from './run.ts';
import { scenarios } from './scenarios/all.ts';

/** The quick part of `npm run test:faults`, with a fixed seed. */
const runner = createRunner({ isQuickRun: true, seed: 1 });
after(() => runner.stop());

for (const scenario of scenarios.filter(({ isInQuickRun }) => isInQuickRun)) {
  test(`survives ${scenario.name}`, async (t) => {
    const result = await runner.run(scenario);
    if (result.skipped !== undefined) return t.skip(result.skipped);
    for (const note of result.notes) t.diagnostic(note);
    const { lost, stale, responses500, failures } = result;
    assert.ok(hasPassed(result), [JSON.stringify({ lost, stale, responses500 }), ...failures].join('\n'));
  });
}
