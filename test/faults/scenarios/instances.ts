import { setTimeout } from 'node:timers/promises';
import { freeServerPort } from '../../ports.ts';
import { isInstalled } from '../../programs.ts';
import { createBalancedClient } from '../balanced-client.ts';
import type { Client } from '../client.ts';
import { createRisks, numbersIn, type Risks, startFreshnessChecks } from '../freshness-checks.ts';
import { createLedger, verifyAll, verifyTouched } from '../ledger.ts';
import type { Options, Tally } from '../outcome.ts';
import { connect, emptyDatabase, type Service, startService } from '../service.ts';
import { startWriters } from '../writers.ts';

const instanceCount = 3;
/** As in the examples in `deploy/`. */
const drainSeconds = '5';
/** Each import adds 300 people, and the last check reads all of them. */
const importShare = 0.05;

/**
 * Instances on one PostgreSQL are killed or restarted one at a time under load. Clients may get correct responses, 503 with
 * `Retry-After` and broken connections, and nothing else. `balance` returns the origins that clients use. A rolling restart
 * kills none and drains each, so that no request may fail.
 */
export async function restartInTurn(
  options: Options,
  balance = async (origins: string[]) => origins,
  isRolling = false,
): Promise<void> {
  const { tally, random, cleanup, minutes } = options;
  const url = await emptyDatabase(options, 'postgres');
  const ports = await Promise.all(Array.from({ length: instanceCount }, freeServerPort));
  const environment: Record<string, string> = isRolling ? { MUSTER_DRAIN_SECONDS: drainSeconds } : {};
  const start = (port: number) => startService(cleanup, url, { ...environment, MUSTER_PORT: String(port) });
  const services = await startAll(ports, start);
  const key = services.find(({ key }) => key !== undefined)?.key;
  const origins = services.map(({ origin }) => origin);
  const client = createBalancedClient(await balance(origins), key, tally);
  cleanup.after(() => client.close());
  const ledger = await createLedger(client);
  const risks = await createRisks(client, ledger.project);
  const others = ['/v1/personnel?q=w&limit=20', '/v1/groups', '/v1/risks/summary'];

  const rounds = options.rounds(isRolling ? 2 * instanceCount : 60, instanceCount);
  const until = performance.now() + (minutes ?? 0) * 60_000;
  const isOver = () => (minutes === undefined ? tally.rounds >= rounds : performance.now() >= until);
  let kills = 0;
  while (!isOver()) {
    const writers = startWriters(client, ledger, tally, {
      random: random.fork(),
      count: 6,
      hasImports: random.next() < importShare,
    });
    const checks = startFreshnessChecks({ writing: client, reading: client, risks, tally, random, others });
    await setTimeout(random.integer(100, 500));
    const index = tally.rounds % instanceCount;
    const isKill = !isRolling && random.next() < 0.5;
    if (isKill) kills++;
    await stop(services[index] as Service, isKill, tally);
    // The other instances serve all requests for a moment.
    await setTimeout(random.integer(0, 500));
    services[index] = await start(ports[index] as number);
    // During a rolling restart, the proxy has noticed the new instance before the next one stops.
    await setTimeout(isRolling ? 2500 : random.integer(100, 500));
    await Promise.all([writers.stop(), checks.stop()]);
    await verifyTouched(client, ledger, tally);
    tally.rounds++;
    if (tally.rounds % 20 === 0) options.log(`${tally.rounds} restarts, ${tally.acknowledged} acknowledged`);
  }
  await verifyAll(client, ledger, tally);
  for (const origin of origins) await verifyRisks(connect(options, { origin, key }), risks, tally);

  const { requests, unavailable, broken } = client.counts;
  tally.note(`${kills} of ${tally.rounds} restarts were kills; ${risks.reads} reads were compared`);
  tally.note(`${requests} requests: ${unavailable} were 503, ${broken} lost their connection`);
  if (isRolling && unavailable + broken > 0) tally.fail('Requests failed during a rolling restart.');
}

/** The same behind a proxy with its example configuration. */
export const restartBehind =
  (
    program: string,
    start: (cleanup: Options['cleanup'], origins: string[]) => Promise<string>,
    { isRolling = false } = {},
  ) =>
  async (options: Options): Promise<void> => {
    if (isInstalled(program))
      await restartInTurn(options, async (origins) => [await start(options.cleanup, origins)], isRolling);
    else options.tally.skipped = `${program} is not installed`;
  };

/** Starts all instances at once, as after a power failure. One of them creates the first key. */
async function startAll(ports: number[], start: (port: number) => Promise<Service>): Promise<Service[]> {
  const services = await Promise.all(ports.map(start));
  const keys = services.flatMap(({ key }) => key ?? []);
  if (keys.length !== 1) throw new Error(`${keys.length} instances created a first key.`);
  return services;
}

async function stop(service: Service, isKill: boolean, tally: Tally): Promise<void> {
  if (!service.isRunning()) tally.fail(`An instance died: ${service.stderr().slice(-300)}`);
  if (isKill) return service.kill9();
  const code = await service.terminate();
  if (code !== 0) tally.fail(`An instance ended with ${code} after SIGTERM: ${service.stderr().slice(-300)}`);
}

/** Every instance must show every acknowledged title, or one that was sent later. */
async function verifyRisks(client: Client, risks: Risks, tally: Tally): Promise<void> {
  const seen = numbersIn(await client.send('GET', '/v1/risks'));
  for (const [risk, number] of Object.entries(risks.acknowledged)) {
    if ((seen.get(risk) ?? -1) >= number) continue;
    tally.lost++;
    tally.fail(`${risk} is R${seen.get(risk)}, but R${number} was acknowledged.`);
  }
}
