import { setTimeout } from 'node:timers/promises';
import type { PostgresServer } from '../../postgres-server.ts';
import { type Client, createClient } from '../client.ts';
import { createLedger, type Ledger, verifyAll, verifyTouched } from '../ledger.ts';
import { countStalls, probeLivez } from '../livez-probe.ts';
import type { Options, Outcome, Scenario } from '../outcome.ts';
import { type Service, startService } from '../service.ts';
import { startWriters } from '../writers.ts';

/** The service must be available this long after its database. */
const maxHealMs = 1000;

/** Breaks the connections or the whole database under load; resolves when the database is available again. */
type Break = (server: PostgresServer, url: string) => Promise<void>;

const postgresScenario = (name: string, full: number, quick: number, breakDatabase: Break): Scenario => ({
  name,
  limitMs: 20 * 60_000,
  isInQuickRun: true,
  run: (options) => breakRepeatedly(options, options.rounds(full, quick), breakDatabase),
});

export const backendKill = postgresScenario('backend-kill', 100, 3, async (server, url) => {
  await server.terminateBackends(url);
});

export const postmasterKill = postgresScenario('postmaster-kill', 50, 1, async (server) => {
  await server.kill9();
  await setTimeout(200);
  await server.restart();
});

async function breakRepeatedly(options: Options, rounds: number, breakDatabase: Break): Promise<Outcome> {
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
    const healMs = await timeToHeal(client, service);
    if (service.isRunning()) slowestHealMs = Math.max(slowestHealMs, healMs);
    await Promise.all([writers.stop(), readers.stop()]);
    tally.rounds++;
    if (!service.isRunning()) {
      tally.fail(`The service died: ${service.stderr().slice(-300)}`);
      client.close();
      service = await startService(cleanup, url);
      client = connect();
      probe = probeLivez(cleanup, service);
    } else {
      if (healMs > maxHealMs + options.slackMs)
        tally.fail(`The service needed ${Math.round(healMs)} ms to heal.`);
      await countStalls(tally, probe, { isBound: true });
    }
    await verifyTouched(client, ledger, tally);
  }
  await verifyAll(client, ledger, tally);
  tally.note(`healed within ${Math.round(slowestHealMs)} ms of the database's restart`);
  client.close();
  await service.kill9();
  return tally;
}

/** Reads a page, a complete list and one resource. Reads must not fail with 500 either. */
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

/** Measures the time until a write succeeds and `/readyz` returns 200. */
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
