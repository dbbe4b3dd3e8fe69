import { setTimeout } from 'node:timers/promises';
import { type Client, createClient, expectJson, type Response } from '../client.ts';
import { timeToHeal } from '../healing.ts';
import { createLedger, verifyAll, verifyTouched } from '../ledger.ts';
import { countStalls, probeLivez } from '../livez-probe.ts';
import type { Options } from '../outcome.ts';
import { connect, expectRunning, startWithClient } from '../service.ts';
import { startWriters, type Write } from '../writers.ts';

/** The service's guarantees while its database hangs. */
const limits = { requestMs: 10_000, readyzMs: 2000, healMs: 1000 };

/** Pauses all PostgreSQL processes, which looks like a hung machine or a lost network. */
export async function freezeAndThaw(options: Options): Promise<void> {
  const { random, cleanup, tally, isQuickRun, slackMs } = options;
  const readyzMs = limits.readyzMs + slackMs;
  const server = await options.postgres();
  const url = await server.createDatabase();
  const { service, client } = await startWithClient(options, url, { connections: 60 });
  const ledger = await createLedger(client);
  const probe = probeLivez(cleanup, service);
  const otherKey = await expectJson(client, 'POST', '/v1/keys', {
    name: 'unused',
    scopes: ['personnel.read'],
  });
  cleanup.after(() => server.thaw());

  for (let round = 1; round <= options.rounds(3, 1); round++) {
    const writers = startWriters(client, ledger, tally, { random: random.fork(), hasImports: true });
    await setTimeout(500);
    await probe.take();
    await server.freeze();
    const thawAt = performance.now() + (isQuickRun ? 3500 : 15_000);
    const requests = sendWhileFrozen(client, service.origin, otherKey.secret);
    await setTimeout(200);
    await checkQuick(options, connect(options, service, { timeoutMs: readyzMs }), '/readyz', 503);
    // The key's checksum is wrong, so the service rejects it without a query.
    const stranger = connect(options, service, { key: 'mst_notakey', timeoutMs: slackMs });
    await checkQuick(options, stranger, '/v1/personnel', 401);
    await setTimeout(Math.max(0, thawAt - performance.now()));
    if (!isQuickRun) await checkRequests(requests, options);
    await countStalls(tally, probe, { isBound: true });

    await server.thaw();
    const healMs = await timeToHeal(client, [service]);
    tally.note(`healed within ${Math.round(healMs)} ms`);
    if (healMs > limits.healMs + slackMs) tally.fail(`The service needed ${Math.round(healMs)} ms to heal.`);
    await Promise.allSettled(requests.map(({ response }) => response));
    const writes = await writers.stop();
    checkWrites(writes, options);
    expectRunning(service, options);
    await verifyTouched(client, ledger, tally);
    tally.rounds++;
  }
  await verifyAll(client, ledger, tally);
}

type Sent = { what: string; response: Promise<Response> };

/** Sends one request of each kind that needs the database, with a cached key and with an unused one. */
function sendWhileFrozen(client: Client, origin: string, unusedKey: string): Sent[] {
  const stranger = createClient(origin, { key: unusedKey });
  // Only pages of the service can sign in.
  const send = (method: string, path: string, body?: unknown, by = client): Sent => ({
    what: `${method} ${path}`,
    response: by.send(method, path, body, { origin }),
  });
  const sent = [
    send('GET', '/v1/personnel?limit=7'),
    send('GET', '/v1/personnel'),
    send('GET', '/v1/risks/summary'),
    send('POST', '/v1/personnel', { name: 'frozen' }),
    send('GET', '/v1/personnel?limit=1', undefined, stranger),
    send('POST', '/v1/session', { key: unusedKey }),
  ];
  // `checkRequests` reports the failures.
  for (const { response } of sent) response.catch(() => {});
  return sent;
}

async function checkRequests(sent: Sent[], { tally, slackMs }: Options): Promise<void> {
  for (const { what, response } of sent) {
    const pending = Symbol('pending');
    const settled = await Promise.race([response.catch((error: Error) => error), setTimeout(0, pending)]);
    if (settled === pending) tally.fail(`${what} had no response when the database was thawed.`);
    else if (settled instanceof Error) tally.fail(`${what} ended without a response: ${settled.message}`);
    else if (typeof settled === 'object') {
      if (settled.status !== 503) tally.fail(`${what} returned ${settled.status}.`);
      if (settled.ms > limits.requestMs + slackMs) tally.fail(`${what} took ${Math.round(settled.ms)} ms.`);
    }
  }
}

/** Checks the status of a response that must not wait for the database. */
async function checkQuick({ tally }: Options, client: Client, path: string, expected: number): Promise<void> {
  const response = await client.send('GET', path).catch(() => undefined);
  if (response?.status === expected) return;
  tally.fail(`GET ${path} returned ${response?.status ?? 'nothing in time'}, not ${expected}.`);
}

function checkWrites(writes: Write[], { tally, slackMs }: Options) {
  const maxMs = Math.max(...writes.map(({ startedAt, endedAt }) => endedAt - startedAt));
  if (maxMs > limits.requestMs + slackMs) tally.fail(`A write took ${Math.round(maxMs)} ms.`);
  const withoutResponse = writes.filter(({ status }) => status === undefined).length;
  if (withoutResponse > 0) tally.fail(`${withoutResponse} writes ended without a response.`);
}
