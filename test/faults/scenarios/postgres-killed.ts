import { setTimeout } from 'node:timers/promises';
import type { PostgresServer } from '../../postgres-server.ts';
import type { Client } from '../client.ts';
import { timeToHeal } from '../healing.ts';
import { createLedger, type Ledger, verifyAll, verifyTouched } from '../ledger.ts';
import { countStalls, probeLivez } from '../livez-probe.ts';
import { startLoops } from '../loops.ts';
import type { Options } from '../outcome.ts';
import { expectRunning, startWithClient } from '../service.ts';
import { startWriters } from '../writers.ts';

/** The service must be available this long after its database. */
const maxHealMs = 1000;

export const killBackends = (options: Options) =>
  breakRepeatedly(options, options.rounds(100, 3), (server, url) => server.terminateBackends(url));

export const killPostmaster = (options: Options) =>
  breakRepeatedly(options, options.rounds(50, 1), async (server) => {
    await server.kill9();
    await setTimeout(200);
    await server.restart();
  });

/** Breaks the connections or the whole database under load; resolves when the database is available again. */
type Break = (server: PostgresServer, url: string) => Promise<void>;

async function breakRepeatedly(options: Options, rounds: number, breakDatabase: Break): Promise<void> {
  const { random, cleanup, tally } = options;
  const server = await options.postgres();
  const url = await server.createDatabase();
  const { service, client } = await startWithClient(options, url, { connections: 12 });
  const probe = probeLivez(cleanup, service);
  const ledger = await createLedger(client);
  let slowestHealMs = 0;

  for (let round = 1; round <= rounds; round++) {
    const writers = startWriters(client, ledger, tally, {
      random: random.fork(),
      count: 6,
      hasImports: true,
    });
    const readers = startReaders(client, ledger);
    await setTimeout(random.integer(100, 400));
    await breakDatabase(server, url);
    const healMs = await timeToHeal(client, [service]);
    slowestHealMs = Math.max(slowestHealMs, healMs);
    await Promise.all([writers.stop(), readers.stop()]);
    tally.rounds++;
    expectRunning(service, options);
    if (healMs > maxHealMs + options.slackMs)
      tally.fail(`The service needed ${Math.round(healMs)} ms to heal.`);
    await countStalls(tally, probe, { isBound: true });
    await verifyTouched(client, ledger, tally);
  }
  await verifyAll(client, ledger, tally);
  tally.note(`healed within ${Math.round(slowestHealMs)} ms of the database's restart`);
}

/** Reads a page, a complete list and one resource. Reads must not fail with 500 either. */
function startReaders(client: Client, ledger: Ledger) {
  const paths = ['/v1/personnel?limit=20', '/v1/personnel', `/v1/groups/${ledger.group}`, '/readyz'];
  const read = (path: string) => async () => {
    await client.send('GET', path).catch(() => undefined);
    await setTimeout(5);
  };
  return startLoops(...paths.map(read));
}
