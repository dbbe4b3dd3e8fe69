import type { ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { startReceiver } from '../../receiver.ts';
import { type Client, expectJson } from '../client.ts';
import { countStalls, probeLivez } from '../livez-probe.ts';
import { startLoops } from '../loops.ts';
import type { Options, Tally } from '../outcome.ts';
import { connect, type Engine, expectRunning, fastDatabase, startWithClient } from '../service.ts';

const webhookCount = 1000;
/** The limit of attempts in flight that `docs/webhooks.md` promises. */
const maxInFlight = 64;

/** Writes events while there are as many webhooks as the settings allow, and checks that clients do not notice. */
export async function writeEvents(options: Options, engine: Engine): Promise<void> {
  const { tally, cleanup, log } = options;
  const environment = { MUSTER_MAX_WEBHOOKS: String(webhookCount), MUSTER_WEBHOOK_ALLOW: '127.0.0.1' };
  const url = await fastDatabase(options, engine);
  const { service, client } = await startWithClient(options, url, { environment });
  const inFlight = countInFlight();
  const receiver = await startReceiver(cleanup, inFlight.respond);
  await createWebhooks(client, receiver.url);
  const probe = probeLivez(cleanup, service);
  await warmUp(client);
  await probe.take();

  for (let round = 1; round <= options.rounds(3, 1); round++) {
    const good = startGoodClient(connect(options, service, { connections: 1 }), tally);
    // Every webhook wants the first events, and none the others.
    const wanted = receiver.received.length + webhookCount * 2;
    for (const name of ['Ada', 'Grace']) await expectJson(client, 'POST', '/v1/personnel', { name });
    for (let i = 0; i < 40; i++) {
      await expectJson(client, 'POST', '/v1/groups', { name: `Group ${round} ${i}` });
      await setTimeout(25);
    }
    await receiver.receive(wanted);
    await good.stop();
    const stallMs = await countStalls(tally, probe, { isBound: true, during: `round ${round}` });
    log(`round ${round}: stalled for ${Math.round(stallMs)} ms`);
    tally.rounds++;
  }
  const ids = new Set(
    receiver.received.map(({ text, headers }) => `${text} ${headers['webhook-signature']}`),
  );
  if (ids.size !== receiver.received.length) tally.fail('A delivery was sent twice.');
  if (inFlight.max() > maxInFlight) tally.fail(`${inFlight.max()} attempts were in flight at once.`);
  tally.note(`${receiver.received.length} deliveries, at most ${inFlight.max()} in flight`);
  expectRunning(service, options);
}

async function createWebhooks(client: Client, url: string): Promise<void> {
  let created = 0;
  const create = async () => {
    while (created++ < webhookCount)
      await expectJson(client, 'POST', '/v1/webhooks', { url, types: ['person.created', 'risk.*'] });
  };
  await Promise.all(Array.from({ length: 8 }, create));
}

/** Loads the HTTP client of the service, once, before the measurements. */
async function warmUp(client: Client): Promise<void> {
  const { data } = await expectJson(client, 'GET', '/v1/webhooks?limit=1');
  await expectJson(client, 'POST', `/v1/webhooks/${data[0].id}/test`);
}

/** Counts the requests that a receiver is responding to. */
function countInFlight() {
  let current = 0;
  let max = 0;
  return {
    max: () => max,
    respond(response: ServerResponse): void {
      max = Math.max(max, ++current);
      void setTimeout(10).then(() => {
        current--;
        response.writeHead(204).end();
      });
    },
  };
}

/** Reads and writes as a client of the service does, and expects that every request succeeds. */
function startGoodClient(client: Client, tally: Tally) {
  return startLoops(async () => {
    for (const [method, path, body, expected] of requests) {
      const response = await client.send(method, path, body).catch(() => undefined);
      if (response?.status !== expected)
        tally.fail(`A good ${method} ${path} returned ${response?.status ?? 'nothing'}.`);
      else if (method === 'POST') tally.acknowledged++;
    }
    await setTimeout(20);
  });
}

const requests = [
  ['GET', '/v1/personnel?limit=20', undefined, 200],
  ['POST', '/v1/projects', { name: 'Good' }, 201],
  ['GET', '/v1/risks?limit=20', undefined, 200],
] as const;
