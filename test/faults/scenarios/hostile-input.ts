import { setTimeout } from 'node:timers/promises';
import { type Attack, attacks } from '../attacks.ts';
import { type Client, createClient } from '../client.ts';
import { countStalls, probeLivez } from '../livez-probe.ts';
import type { Options, Outcome, Scenario, Tally } from '../outcome.ts';
import { databaseInMemory, type Engine, emptyDatabase, startService } from '../service.ts';

/** Sends the worst bodies, queries and files, while `/livez` is probed and a good client writes. */
const hostileScenario = (engine: Engine, isIndexed: boolean): Scenario => ({
  name: `hostile-input-${engine}`,
  limitMs: 30 * 60_000,
  isIndexed,
  run: (options) => attackAgainAndAgain(options, engine),
});

export const hostileInputSqlite = hostileScenario('sqlite', true);
export const hostileInputPostgres = hostileScenario('postgres', false);

/** A good write may wait for others, but not longer than a client would. */
const maxWriteMs = 5000;

async function attackAgainAndAgain(options: Options, engine: Engine): Promise<Outcome> {
  const { tally, isIndexed, log } = options;
  const url = engine === 'sqlite' ? databaseInMemory(options) : await emptyDatabase(options, engine);
  const chosen = attacks.filter((attack) => !isIndexed || attack.isIndexed);
  let target = await startTarget(options, url);
  const { key } = target.service;
  for (let round = 1; round <= options.rounds(2, 1); round++) {
    for (const attack of chosen) {
      const isOver = await attackOnce(tally, target, attack, log);
      // A service that is still held would fail the attacks that follow.
      if (!isOver) {
        await target.stop();
        target = await startTarget(options, url, key);
      }
      tally.rounds++;
    }
  }
  await target.stop();
  return tally;
}

type Target = Awaited<ReturnType<typeof startTarget>>;

async function startTarget({ cleanup, tally, isIndexed }: Options, url: string, key?: string) {
  const service = await startService(cleanup, url);
  const timeoutMs = isIndexed ? 5000 : 60_000;
  const client = createClient(service.origin, { key: key ?? service.key, timeoutMs, tally });
  const probe = probeLivez(cleanup, service);
  await warmUp(createClient(service.origin, { key: client.key, tally }), probe);
  return {
    service,
    client,
    probe,
    async stop() {
      client.close();
      await service.kill9();
    },
  };
}

/** Whether the service has done with it. */
async function attackOnce(
  tally: Tally,
  { service, client, probe }: Target,
  attack: Attack,
  log: (text: string) => void,
): Promise<boolean> {
  const writer = startGoodWriter(client, tally, attack.name);
  const sentAt = performance.now();
  const isAnswered = await attack.send(client).then(
    () => true,
    () => false,
  );
  const seconds = ((performance.now() - sentAt) / 1000).toFixed(1);
  const hasStopped = await Promise.race([writer.stop().then(() => true), setTimeout(maxWriteMs, false)]);
  const stallMs = await countStalls(tally, probe, { isBound: true, during: attack.name });
  const sentence = `${attack.name}: stalled for ${Math.round(stallMs)} ms, ended after ${seconds} s`;
  tally.note(sentence);
  log(sentence);
  if (!service.isRunning()) tally.fail(`${attack.name}: the service died: ${service.stderr().slice(-300)}`);
  return isAnswered && hasStopped && service.isRunning();
}

/** What a process does once, such as compiling, is over before it is measured. */
async function warmUp(client: Client, probe: ReturnType<typeof probeLivez>): Promise<void> {
  for (let i = 0; i < 5; i++) await client.send('POST', '/v1/personnel', { name: 'x' });
  await client.send('POST', '/v1/personnel', { nothing: 'x' });
  await client.send('POST', '/v1/personnel/import?dry_run=true', 'name\nx\n', { 'content-type': 'text/csv' });
  client.close();
  await setTimeout(200);
  await probe.take();
}

function startGoodWriter({ origin, key }: Client, tally: Tally, attack: string) {
  // Connections of its own, which the attack does not use up.
  const client = createClient(origin, { key, connections: 1, timeoutMs: 120_000, tally });
  let isStopped = false;
  const write = async () => {
    while (!isStopped) {
      const response = await client.send('POST', '/v1/personnel', { name: 'Good' }).catch(() => undefined);
      if (isStopped) break;
      if (response?.status === 201) tally.acknowledged++;
      else tally.fail(`${attack}: a good write was answered with ${response?.status ?? 'nothing'}.`);
      if (response && response.ms > maxWriteMs) {
        tally.fail(`${attack}: a good write took ${Math.round(response.ms)} ms.`);
      }
      await setTimeout(20);
    }
  };
  const loop = write();
  return {
    async stop() {
      isStopped = true;
      await loop;
      client.close();
    },
  };
}
