import { setTimeout } from 'node:timers/promises';
import { startHaproxy } from '../../haproxy.ts';
import { startNginxExample } from '../../nginx.ts';
import { freeServerPort } from '../../ports.ts';
import { isInstalled } from '../../programs.ts';
import { type BalancedClient, createBalancedClient } from '../balanced-client.ts';
import { createClient, expectJson } from '../client.ts';
import { createLedger, type Ledger, verifyAll, verifyTouched } from '../ledger.ts';
import type { Options, Outcome, Scenario, Tally } from '../outcome.ts';
import type { Random } from '../random.ts';
import { emptyDatabase, type Service, startService } from '../service.ts';
import { startWriters } from '../writers.ts';
import { countStale, numbersIn } from './freshness.ts';

const riskCount = 4;
/** Each import adds 300 people, and the last check reads all of them. */
const importShare = 0.05;

/**
 * Instances on one PostgreSQL are killed or restarted one at a time under load. Clients may get correct responses, 503 with
 * `Retry-After` and broken connections, and nothing else.
 */
export const instances: Scenario = {
  name: 'instances',
  limitMs: 3 * 60 * 60_000,
  isInQuickRun: true,
  run: (options) => restartInTurn(options, async (origins) => origins),
};

/** The same behind a proxy with its example configuration. */
const behind = (
  program: string,
  start: (cleanup: Options['cleanup'], origins: string[]) => Promise<string>,
): Scenario => ({
  name: `instances-${program}`,
  limitMs: 3 * 60 * 60_000,
  isInQuickRun: false,
  run: async (options) =>
    isInstalled(program)
      ? restartInTurn(options, async (origins) => [await start(options.cleanup, origins)])
      : { ...options.tally, skipped: `${program} is not installed` },
});

export const instancesHaproxy = behind('haproxy', startHaproxy);
export const instancesNginx = behind('nginx', startNginxExample);

async function restartInTurn(
  options: Options,
  balance: (origins: string[]) => Promise<string[]>,
): Promise<Outcome> {
  const { tally, random, cleanup, minutes, instanceCount } = options;
  const url = await emptyDatabase(options, 'postgres');
  const ports = await Promise.all(Array.from({ length: instanceCount }, freeServerPort));
  const start = (port: number) => startService(cleanup, url, { MUSTER_PORT: String(port) });
  const services = await startAll(ports, start);
  const key = services.find(({ key }) => key !== undefined)?.key;
  const origins = services.map(({ origin }) => origin);
  const client = createBalancedClient(await balance(origins), key, tally);
  cleanup.after(() => client.close());
  const ledger = await createLedger(client);
  const risks = await createRisks(client, ledger);

  const rounds = options.rounds(60, instanceCount);
  const until = performance.now() + (minutes ?? 0) * 60_000;
  const isOver = () => (minutes === undefined ? tally.rounds >= rounds : performance.now() >= until);
  let kills = 0;
  while (!isOver()) {
    const writers = startWriters(client, ledger, tally, {
      random: random.fork(),
      count: 6,
      hasImports: random.next() < importShare,
    });
    const checks = startFreshnessChecks(client, ledger, risks, tally, random);
    await setTimeout(random.integer(100, 500));
    const index = tally.rounds % instanceCount;
    const isKill = random.next() < 0.5;
    if (isKill) kills++;
    await stop(services[index] as Service, isKill, tally);
    // The other instances serve all requests for a moment.
    await setTimeout(random.integer(0, 500));
    services[index] = await start(ports[index] as number);
    await setTimeout(random.integer(100, 500));
    await Promise.all([writers.stop(), checks.stop()]);
    await verifyTouched(client, ledger, tally);
    tally.rounds++;
    if (tally.rounds % 20 === 0) options.log(`${tally.rounds} restarts, ${tally.acknowledged} acknowledged`);
  }
  await verifyAll(client, ledger, tally);
  for (const origin of origins) await verifyRisks(origin, key, risks, tally);

  const { requests, unavailable, broken } = client.counts;
  tally.note(`${kills} of ${tally.rounds} restarts were kills; ${risks.reads} reads were compared`);
  tally.note(`${requests} requests: ${unavailable} were 503, ${broken} lost their connection`);
  await Promise.all(services.map((service) => service.kill9()));
  return tally;
}

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

type Risks = {
  /** The number in the last acknowledged title of each risk. */
  acknowledged: Record<string, number>;
  /** The number in the last title that was sent, acknowledged or not. */
  sent: Record<string, number>;
  reads: number;
};

async function createRisks(client: BalancedClient, { project }: Ledger): Promise<Risks> {
  const acknowledged: Risks['acknowledged'] = {};
  for (let i = 0; i < riskCount; i++) {
    const body = { title: 'R0', probability: 3, impact: 3 };
    acknowledged[(await expectJson(client, 'POST', `/v1/projects/${project}/risks`, body)).key] = 0;
  }
  return { acknowledged, sent: { ...acknowledged }, reads: 0 };
}

/** Changes risks, and compares every read with what was acknowledged before it began, also when it is a 304. */
function startFreshnessChecks(
  client: BalancedClient,
  { project, group }: Ledger,
  risks: Risks,
  tally: Tally,
  random: Random,
) {
  let isStopped = false;

  async function write(key: string): Promise<void> {
    while (!isStopped) {
      const number = (risks.sent[key] ?? 0) + 1;
      risks.sent[key] = number;
      const path = `/v1/projects/${project}/risks/${key}`;
      const response = await client.send('PATCH', path, { title: `R${number}` }).catch(() => undefined);
      if (response?.status === 200) {
        risks.acknowledged[key] = number;
        tally.acknowledged++;
      } else if (response && response.status !== 503) tally.fail(`PATCH returned ${response.status}.`);
      await setTimeout(random.integer(0, 30));
    }
  }

  async function read(path: string): Promise<void> {
    let cached: { etag: string; seen: Map<string, number> } | undefined;
    while (!isStopped) {
      const before = { ...risks.acknowledged };
      const headers: Record<string, string> = cached ? { 'if-none-match': cached.etag } : {};
      const response = await client.send('GET', path, undefined, headers).catch(() => undefined);
      if (response?.status === 200)
        cached = { etag: String(response.headers.etag), seen: numbersIn(response.json()) };
      if (response?.status === 200 || response?.status === 304) {
        risks.reads++;
        countStale(tally, path, response.status, before, cached?.seen);
      } else if (response && response.status !== 503) tally.fail(`GET ${path} returned ${response.status}.`);
    }
  }

  /** Reads that are compared with nothing must be complete and valid too. */
  async function readOnly(path: string): Promise<void> {
    while (!isStopped) {
      const response = await client.send('GET', path).catch(() => undefined);
      if (response?.status === 200) response.json();
      else if (response && response.status !== 503) tally.fail(`GET ${path} returned ${response.status}.`);
      await setTimeout(random.integer(0, 30));
    }
  }

  const list = `/v1/projects/${project}/risks`;
  const one = `${list}/${Object.keys(risks.acknowledged)[0]}`;
  const others = ['/v1/personnel?q=w&limit=20', '/v1/groups', '/v1/risks/summary', `/v1/groups/${group}`];
  const loops = [
    ...Object.keys(risks.acknowledged).map(write),
    ...['/v1/risks', '/v1/risks?limit=10', `${list}?limit=10`, one].map(read),
    ...others.map(readOnly),
  ];
  return {
    async stop() {
      isStopped = true;
      await Promise.all(loops);
    },
  };
}

/** Every instance must show every acknowledged title, or one that was sent later. */
async function verifyRisks(origin: string, key: string | undefined, risks: Risks, tally: Tally) {
  const client = createClient(origin, { key, tally });
  const seen = numbersIn(await expectJson(client, 'GET', '/v1/risks'));
  for (const [risk, number] of Object.entries(risks.acknowledged)) {
    if ((seen.get(risk) ?? -1) >= number) continue;
    tally.lost++;
    tally.fail(`${risk} is R${seen.get(risk)}, but R${number} was acknowledged.`);
  }
  client.close();
}
