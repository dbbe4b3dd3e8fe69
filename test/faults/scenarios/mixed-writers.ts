import { muster, temporaryFolder } from '../../process.ts';
import { createLedger, verifyTouched } from '../ledger.ts';
import { createMixedWriters, verifyMixed } from '../mixed-writers.ts';
import type { Options } from '../outcome.ts';
import { emptyDatabase, startWithClient } from '../service.ts';
import { startWriters } from '../writers.ts';

/** The limit of a write in docs/operations.md: after that the response is 503. */
const maxWriteMs = 9_000;
const mixedWriters = 24;
const ledgerWriters = 8;

/**
 * 32 clients change the same few projects, people and groups in every way at once. No transaction may wait for another in
 * a circle: PostgreSQL itself counts those. No write may take longer than documented, and none that was acknowledged may
 * be lost.
 */
export async function writeMixed(options: Options): Promise<void> {
  const { cleanup, tally, random, isQuickRun, minutes } = options;
  const server = await options.postgres();
  const url = await emptyDatabase(options, 'postgres');
  const { service, client } = await startWithClient(options, url, { connections: 40 });
  const ledger = await createLedger(client);
  const mixed = await createMixedWriters(client, tally, ledger.project);

  const start = performance.now();
  const durationMs = minutes === undefined ? (isQuickRun ? 4_000 : 60_000) : minutes * 60_000;
  const writers = startWriters(client, ledger, tally, {
    random: random.fork(),
    count: ledgerWriters,
    // The mixed writers also archive the project of the ledger.
    allowed: [409, 503],
  });
  await mixed.run(random, mixedWriters, durationMs, (text) => options.log(text));
  const ofLedger = await writers.stop();
  const seconds = (performance.now() - start) / 1000;
  await mixed.unarchive();
  await verifyTouched(client, ledger, tally);
  await verifyMixed(client, tally, mixed);

  // A connection reports its deadlocks at its end, if not before.
  await service.terminate();
  const { code, stdout } = await muster(temporaryFolder(cleanup), ['check'], { MUSTER_DATABASE_URL: url });
  if (code !== 0) tally.fail(`The data is not consistent: ${stdout.slice(0, 500)}`);
  const name = new URL(url).pathname.slice(1);
  const [row] = await server.run(`select deadlocks::int from pg_stat_database where datname = '${name}'`);
  if (row?.deadlocks !== 0) tally.fail(`PostgreSQL found ${row?.deadlocks} deadlocks.`);

  const all = [
    ...ofLedger.map(({ startedAt, endedAt, status }) => ({
      what: 'ledger',
      ms: endedAt - startedAt,
      status: status ?? 0,
    })),
    ...mixed.writes,
  ];
  const slowest = all.reduce((slowest, write) => (write.ms > slowest.ms ? write : slowest));
  if (slowest.ms > maxWriteMs + (isQuickRun ? options.slackMs : 0)) {
    tally.fail(`A write (${slowest.what}) took ${Math.round(slowest.ms)} ms.`);
  }
  const unavailable = all.filter(({ status }) => status === 503).length;
  tally.rounds = all.length;
  tally.note(
    `${all.length} writes in ${Math.round(seconds)} s: ${row?.deadlocks} deadlocks, ${unavailable} were 503, ` +
      `the longest (${slowest.what}) took ${Math.round(slowest.ms)} ms`,
  );
}
