import { setTimeout } from 'node:timers/promises';
import { expectJson } from '../client.ts';
import { createRisks, startFreshnessChecks } from '../freshness-checks.ts';
import type { Options } from '../outcome.ts';
import { type Engine, emptyDatabase, startWithClient } from '../service.ts';

/** Two processes share a database: a read that begins after an acknowledged write must include it, also with a 304. */
export async function checkFreshness(options: Options, engine: Engine): Promise<void> {
  const { random, tally } = options;
  const minReads = options.rounds(100_000, 600);
  const url = await emptyDatabase(options, engine);
  const { service, client: writing } = await startWithClient(options, url);
  const { client: reading } = await startWithClient(options, url, { key: service.key, connections: 16 });
  await expectJson(writing, 'POST', '/v1/projects', { name: 'Apollo', key: 'APOLLO' });
  const risks = await createRisks(writing, 'APOLLO');
  const checks = startFreshnessChecks({ writing, reading, risks, tally, random, readersPerPath: 2 });
  while (risks.reads < minReads && risks.unavailable === 0) await setTimeout(20);
  await checks.stop();
  tally.rounds = risks.reads;
  tally.note(`${risks.notModified} of ${risks.reads} reads were 304`);
  if (risks.unavailable > 0) tally.fail('A request got 503 or no response.');
  if (risks.notModified === 0) tally.fail('No read returned 304, so revalidation was not checked.');
}
