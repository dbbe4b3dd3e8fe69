import { setTimeout } from 'node:timers/promises';
import type { PostgresServer } from '../../postgres-server.ts';
import { type Client, createClient } from '../client.ts';
import { createLedger, type Ledger, verifyAll, verifyTouched } from '../ledger.ts';
import { countStalls, probeLivez } from '../livez-probe.ts';
import type { Options, Outcome, Scenario } from '../outcome.ts';
import { type Service, startService } from '../service.ts';
import { startWriters } from '../writers.ts';

/** The promise is one second; a busy machine gets a second more. */
const maxHealMs = 2000;

/** Breaks the database connections, or the whole database, under a busy service; resolves when it is back. */
type Break = (server: PostgresServer, url: string) => Promise<void>;

const postgresScenario = (name: string, full: number, quick: number, breakDatabase: Break): Scenario => ({
  name,
  limitMs: 20 * 60_000,
  isIndexed: true,
  run: (options) => breakAgainAndAgain(options, options.rounds(full, quick), breakDatabase),
});

export const backendKill = postgresScenario('backend-kill', 100, 3, async (server, url) => {
  await server.terminateBackends(url);
});

export const postmasterKill = postgresScenario('postmaster-kill', 50, 1, async (server) => {
  await server.kill9();
  await setTimeout(200);
  await server.restart();
});

async function breakAgainAndAgain(options: Options, rounds: number, breakDatabase: Break): Promise<Outcome> {
  const { random, cleanup } = options;
  const { tally } = options;
  const server = await options.postgres();
  const url = await server.createDatabase();
  let service = await startService(cleanup, url);
  const { key } = service;
  const connect = () => createClient(service.origin, { key, connections: 12, tally });
  let client = connect();
  let probe = probeLivez(cleanup, service);
  const ledger = await createLedger(client);
  let longestHealMs = 0;

  for (let round = 1; round <= rounds; round++) {
    const writers = startWriters(client, ledger, tally, {
      random: random.fork(),
      count: 6,
      hasImports: true,
    });
    const readers = startReaders(client, ledger);
    await setTimeout(random.integer(100, 400));
    await breakDatabase(server, url);
    const healMs = await timeToHeal(client, service);
    if (service.isRunning()) longestHealMs = Math.max(longestHealMs, healMs);
    await Promise.all([writers.stop(), readers.stop()]);
    tally.rounds++;
    if (!service.isRunning()) {
      tally.fail(`The service died: ${service.stderr().slice(-300)}`);
      client.close();
      service = await startService(cleanup, url);
      client = connect();
      probe = probeLivez(cleanup, service);
    } else {
      if (healMs > maxHealMs) tally.fail(`The service needed ${Math.round(healMs)} ms to heal.`);
      await countStalls(tally, probe, { isBound: true });
    }
    await verifyTouched(client, ledger, tally);
  }
  await verifyAll(client, ledger, tally);
  tally.note(`healed within ${Math.round(longestHealMs)} ms of the database's return`);
  client.close();
  await service.kill9();
  return tally;
}

/** Reads of a page, a whole list and one resource, which must not fail with 500 either. */
function startReaders(client: Client, ledger: Ledger) {
  let isStopped = false;
  const read = async (path: string) => {
    while (!isStopped) {
      await client.send('GET', path).catch(() => undefined);
      await setTimeout(5);
    }
  };
  const paths = ['/v1/personnel?limit=20', '/v1/personnel', `/v1/groups/${ledger.group}`, '/readyz'];
  const loops = paths.map(read);
  return {
    async stop() {
      isStopped = true;
      await Promise.all(loops);
    },
  };
}

/** Until a write succeeds and the service reports that it is ready. */
async function timeToHeal(client: Client, service: Service): Promise<number> {
  const startedAt = performance.now();
  const elapsedMs = () => performance.now() - startedAt;
  while (service.isRunning() && elapsedMs() < 30_000) {
    const name = `healed ${crypto.randomUUID()}`;
    const written = await client.send('POST', '/v1/personnel', { name }).catch(() => undefined);
    const ready = await client.send('GET', '/readyz').catch(() => undefined);
    if (written?.status === 201 && ready?.status === 200) break;
    await setTimeout(10);
  }
  return elapsedMs();
}
