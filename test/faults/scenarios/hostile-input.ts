import { setTimeout } from 'node:timers/promises';
import { type Attack, attacks } from '../attacks.ts';
import { type Client, createClient } from '../client.ts';
import { countStalls, probeLivez } from '../livez-probe.ts';
import { startLoops } from '../loops.ts';
import type { Options, Tally } from '../outcome.ts';
import { type Engine, fastDatabase, startWithClient } from '../service.ts';

/** A write of the well-behaved client may wait for other requests, but not longer than a typical client timeout. */
const maxWriteMs = 5000;

/** Sends hostile bodies, queries and files while it probes `/livez` and a well-behaved client writes. */
export async function attackRepeatedly(options: Options, engine: Engine): Promise<void> {
  const { tally, isQuickRun, log } = options;
  const url = await fastDatabase(options, engine);
  const chosen = attacks.filter((attack) => !isQuickRun || attack.isInQuickRun);
  let target = await startTarget(options, url);
  const { key } = target.service;
  for (let round = 1; round <= options.rounds(2, 1); round++) {
    for (const attack of chosen) {
      const isOver = await attackOnce(tally, target, attack, log);
      // A service that is still busy would fail the next attacks.
      if (!isOver) {
        await target.service.kill9();
        target = await startTarget(options, url, key);
      }
      tally.rounds++;
    }
  }
}

type Target = Awaited<ReturnType<typeof startTarget>>;

async function startTarget(options: Options, url: string, key?: string) {
  const timeoutMs = options.isQuickRun ? 5000 : 60_000;
  const { service, client } = await startWithClient(options, url, { key, timeoutMs });
  const probe = probeLivez(options.cleanup, service);
  await warmUp(client, probe);
  return { service, client, probe };
}

/** Returns whether the service finished handling the attack. */
async function attackOnce(
  tally: Tally,
  { service, client, probe }: Target,
  attack: Attack,
  log: (text: string) => void,
): Promise<boolean> {
  const writer = startGoodWriter(client, tally, attack.name);
  const sentAt = performance.now();
  const hasResponse = await attack.send(client).then(
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
  return hasResponse && hasStopped && service.isRunning();
}

/** Runs one-time work, such as compilation, before the measurements. */
async function warmUp(client: Client, probe: ReturnType<typeof probeLivez>): Promise<void> {
  for (let i = 0; i < 5; i++) await client.send('POST', '/v1/personnel', { name: 'x' });
  await client.send('POST', '/v1/personnel', { nothing: 'x' });
  await client.send('POST', '/v1/personnel/import?dry_run=true', 'name\nx\n', { 'content-type': 'text/csv' });
  await setTimeout(200);
  await probe.take();
}

function startGoodWriter({ origin, key }: Client, tally: Tally, attack: string) {
  // A separate client, because the attack may use all connections of its own.
  const client = createClient(origin, { key, connections: 1, timeoutMs: 120_000, tally });
  const loop = startLoops(async () => {
    const response = await client.send('POST', '/v1/personnel', { name: 'Good' }).catch(() => undefined);
    if (response?.status === 201) tally.acknowledged++;
    else tally.fail(`${attack}: a good write returned ${response?.status ?? 'nothing'}.`);
    if (response && response.ms > maxWriteMs) {
      tally.fail(`${attack}: a good write took ${Math.round(response.ms)} ms.`);
    }
    await setTimeout(20);
  });
  return {
    async stop() {
      await loop.stop();
      client.close();
    },
  };
}
