import { setTimeout } from 'node:timers/promises';
import { expectJson } from '../client.ts';
import { createRisks, startFreshnessChecks } from '../freshness-checks.ts';
import type { Options, Outcome, Scenario } from '../outcome.ts';
import { connect, type Engine, emptyDatabase, startService, startWithClient } from '../service.ts';

/** Two processes share a database: a read that begins after an acknowledged write must include it, also with a 304. */
const freshnessScenario = (engine: Engine): Scenario => ({
  name: `freshness-${engine}`,
  limitMs: 30 * 60_000,
  isInQuickRun: true,
  run: (options) => checkFreshness(options, engine, options.rounds(100_000, 600)),
});

export const freshnessSqlite = freshnessScenario('sqlite');
export const freshnessPostgres = freshnessScenario('postgres');

async function checkFreshness(options: Options, engine: Engine, minReads: number): Promise<Outcome> {
  const { cleanup, random, tally } = options;
  const url = await emptyDatabase(options, engine);
  const { service, client: writing } = await startWithClient(options, url);
  const { origin } = await startService(cleanup, url);
  const reading = connect(options, { origin, key: service.key }, { connections: 16 });
  await expectJson(writing, 'POST', '/v1/projects', { name: 'Apollo', key: 'APOLLO' });
  const risks = await createRisks(writing, 'APOLLO');
  const checks = startFreshnessChecks({ writing, reading, risks, tally, random, readersPerPath: 2 });
  while (risks.reads < minReads && risks.unavailable === 0) await setTimeout(20);
  await checks.stop();
  tally.rounds = risks.reads;
  tally.note(`${risks.notModified} of ${risks.reads} reads were 304`);
  if (risks.unavailable > 0) tally.fail('A request got 503 or no response.');
  if (risks.notModified === 0) tally.fail('No read returned 304, so revalidation was not checked.');
  return tally;
}
