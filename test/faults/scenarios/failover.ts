import { setTimeout } from 'node:timers/promises';
import { startDatabaseProxy } from '../../haproxy.ts';
import { type PostgresServer, replicateSynchronously, startPostgresServer } from '../../postgres-server.ts';
import { isInstalled } from '../../programs.ts';
import { startForwarder } from '../../tcp-forwarder.ts';
import { createBalancedClient } from '../balanced-client.ts';
import type { Client } from '../client.ts';
import { timeToHeal } from '../healing.ts';
import { createLedger, verifyAll, verifyTouched } from '../ledger.ts';
import { startLoops } from '../loops.ts';
import type { Options, Tally } from '../outcome.ts';
import { durableSettings } from '../run.ts';
import { connect, expectRunning, startService } from '../service.ts';
import { startWriters, type Write, type Writers } from '../writers.ts';

/** The service must be available this long after the standby was promoted. */
const maxHealMs = 3000;

/**
 * The primary is killed under load and its synchronous standby promoted: no acknowledged write may be lost, `/readyz` is 503
 * until the promotion, and the service recovers without a restart.
 */
export async function failOverRepeatedly(options: Options): Promise<void> {
  const usesHaproxy = !options.isQuickRun && isInstalled('haproxy');
  for (let round = options.rounds(10, 1); round > 0; round--) await failOver(options, usesHaproxy);
  options.tally.note(`the proxy of the database was ${usesHaproxy ? 'HAProxy' : 'a TCP forwarder'}`);
}

async function failOver(options: Options, usesHaproxy: boolean): Promise<void> {
  const { tally, random, cleanup } = options;
  const primary = await startPostgresServer(durableSettings);
  cleanup.after(() => primary.stop());
  const database = await primary.createDatabase();
  const standby = await startPostgresServer(durableSettings, primary.url);
  cleanup.after(() => standby.stop());
  await replicateSynchronously(primary);

  const startProxy = usesHaproxy ? startDatabaseProxy : startForwarder;
  const port = await startProxy(cleanup, portOf(primary), portOf(standby));
  const url = Object.assign(new URL(database), { port: String(port) }).href;
  const first = await startService(cleanup, url);
  const services = [first, await startService(cleanup, url)];
  const probes = services.map((service) => connect(options, service));
  const client = createBalancedClient(
    services.map(({ origin }) => origin),
    first.key,
    tally,
  );
  const ledger = await createLedger(client);
  const writers = startWriters(client, ledger, tally, { random: random.fork(), count: 6, hasImports: true });
  const readers = startReaders(client, tally);
  await setTimeout(random.integer(500, 1500));
  if (!options.isQuickRun) await freezeStandby(standby, writers, tally);

  await primary.kill9();
  const killedAt = performance.now();
  await expectNotReady(probes, tally);
  await setTimeout(random.integer(0, 1000));
  await expectNotReady(probes, tally);
  // The primary may have committed a write just before it was killed, while its response was still on the way.
  const isAcknowledged = ({ startedAt, status = 0 }: Write) => startedAt > killedAt && isSuccess(status);
  if (writers.writes.some(isAcknowledged)) tally.fail('A write was acknowledged without a primary.');
  await standby.run('select pg_promote()');
  const healMs = await timeToHeal(client, services);
  if (healMs > maxHealMs + options.slackMs)
    tally.fail(`The service needed ${Math.round(healMs)} ms to heal.`);
  await setTimeout(500);
  await Promise.all([writers.stop(), readers.stop()]);
  await verifyTouched(client, ledger, tally);
  await verifyAll(client, ledger, tally);
  tally.rounds++;
  const { requests, unavailable } = client.counts;
  tally.note(
    `available ${Math.round(healMs)} ms after the promotion; ${unavailable} of ${requests} requests were 503`,
  );
  client.close();
  for (const service of services) expectRunning(service, options);
  await Promise.all(services.map((service) => service.kill9()));
  await Promise.all([primary.stop(), standby.stop()]);
}

const isSuccess = (status: number) => status >= 200 && status < 300;

const portOf = ({ url }: PostgresServer) => Number(new URL(url).port);

/** Without its standby, the primary cannot make a write safe, so that none may be acknowledged. */
async function freezeStandby(standby: PostgresServer, { writes }: Writers, tally: Tally): Promise<void> {
  await standby.freeze();
  // Commits that the standby confirmed just before.
  await setTimeout(500);
  const from = writes.length;
  await setTimeout(12_000);
  const acknowledged = writes.slice(from).filter(({ status = 0 }) => isSuccess(status));
  if (acknowledged.length > 0)
    tally.fail(`${acknowledged.length} writes were acknowledged without the standby.`);
  if (writes.length === from) tally.fail('Writes without the standby got no response within 12 s.');
  await standby.thaw();
  await setTimeout(2000);
}

async function expectNotReady(probes: Client[], tally: Tally): Promise<void> {
  for (const probe of probes) {
    const { status } = await probe.send('GET', '/readyz');
    if (status !== 503) tally.fail(`/readyz returned ${status} without a primary.`);
  }
}

function startReaders(client: Client, tally: Tally) {
  const read = (path: string) => async () => {
    const response = await client.send('GET', path).catch(() => undefined);
    if (response && ![200, 503].includes(response.status))
      tally.fail(`GET ${path} returned ${response.status}.`);
    await setTimeout(10);
  };
  return startLoops(...['/v1/personnel?limit=20', '/v1/groups', '/v1/risks/summary'].map(read));
}
