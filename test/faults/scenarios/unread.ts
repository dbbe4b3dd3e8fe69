import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { stallEnvironment } from '../../loop-stall.ts';
import { temporaryFolder } from '../../process.ts';
import { type Client, expectJson } from '../client.ts';
import { countStalls, probeLivez } from '../livez-probe.ts';
import type { Options, Tally } from '../outcome.ts';
import { type Engine, fastDatabase, fillWidePeople, type Service, startWithClient } from '../service.ts';

/** The process stays below this, whatever clients do not read. */
const maxMemoryMb = 400;
/** A good client may be rejected for less than this. */
const maxRejectedMs = 2000;

type Attack = {
  name: string;
  connections: number;
  /** The requests that each connection sends at once. */
  requests(connection: number): string;
};

const get = (path: string, key?: string) =>
  `GET ${path} HTTP/1.1\r\nhost: x\r\n${key ? `authorization: Bearer ${key}\r\n` : ''}\r\n`;

const attacks = (keys: readonly string[]): Attack[] => {
  const keyOf = (connection: number) => keys[connection % keys.length] as string;
  return [
    {
      name: 'malformed URLs',
      connections: 40,
      requests: () =>
        [...Array(5)].map(() => get('/v1/projects/%zz') + get(`/v1/projects/${'x'.repeat(300)}`)).join(''),
    },
    { name: 'pipelined documents', connections: 20, requests: () => get('/docs').repeat(60) },
    { name: 'pipelined reference', connections: 20, requests: () => get('/v1/openapi.json').repeat(60) },
    { name: 'pages', connections: 200, requests: (n) => get('/v1/personnel?limit=50', keyOf(n)).repeat(10) },
    {
      name: 'pages of 4 MB',
      connections: 100,
      requests: (n) => get('/v1/personnel?limit=100', keyOf(n)).repeat(3),
    },
    {
      name: 'large pages',
      connections: 60,
      requests: (n) => get('/v1/personnel?limit=1000', keyOf(n)),
    },
    { name: 'whole lists', connections: 44, requests: (n) => get('/v1/personnel', keyOf(n)) },
    { name: 'event streams', connections: 400, requests: (n) => get('/v1/events/stream?after=0', keyOf(n)) },
  ];
};

/** Clients that do not read what they ask for, and URLs that cannot be routed, beside a well-behaved client. */
export async function attackInTurn(options: Options, engine: Engine): Promise<void> {
  const { tally, cleanup, isQuickRun, log } = options;
  const url = await fastDatabase(options, engine);
  await fillWidePeople(url, 1000, longText);
  // As `npm start` runs it.
  const environment = {
    NODE_OPTIONS: `${stallEnvironment.NODE_OPTIONS} --max-semi-space-size=4`,
    MALLOC_MMAP_THRESHOLD_: '1048576',
  };
  const { service, client } = await startWithClient(options, url, { environment, timeoutMs: 30_000 });
  tally.note(`${residentMb(service.pid)} MB after the start`);
  const keys = [await createKey(client), await createKey(client)];
  await recordLargeEvents(client);
  // The reference is rendered once, for the first request.
  await client.send('GET', '/docs');
  const { length } = (await expectJson(client, 'GET', '/v1/personnel?limit=1000')).data;
  if (length !== 1000) tally.fail(`A large page has ${length} rows.`);
  const probe = probeLivez(cleanup, service);
  await probe.take();
  for (const attack of attacks(keys)) {
    const { maxMb, rejectedMs } = await attackOnce(
      service,
      client,
      attack,
      isQuickRun ? maxRejectedMs + 500 : 15_000,
      tally,
    );
    const stallMs = await countStalls(tally, probe, {
      isBound: true,
      during: attack.name,
    });
    const sentence = `${attack.name}: ${maxMb} MB, a good client was rejected for ${rejectedMs} ms, stalled for ${Math.round(stallMs)} ms`;
    tally.note(sentence);
    log(sentence);
    if (maxMb > maxMemoryMb) tally.fail(`${attack.name}: the service took ${maxMb} MB.`);
    if (rejectedMs >= maxRejectedMs)
      tally.fail(`${attack.name}: a good client was rejected for ${rejectedMs} ms.`);
    tally.rounds++;
  }
}

/** Reads and writes like a well-behaved client while the sockets stay unread. */
async function attackOnce(service: Service, client: Client, attack: Attack, ms: number, tally: Tally) {
  const port = Number(new URL(service.origin).port);
  const sockets: Socket[] = [];
  const until = performance.now() + ms;
  let maxMb = 0;
  let rejectedSince: number | undefined;
  let rejectedMs = 0;
  for (let i = 0; performance.now() < until || i < 20; i++) {
    // Opened a few at a time, so that this process can send the good requests in between.
    for (let n = 0; n < 20 && sockets.length < attack.connections; n++) {
      const socket = connect(port, '127.0.0.1')
        .pause()
        .on('error', () => {});
      socket.write(attack.requests(sockets.length));
      sockets.push(socket);
    }
    const responses = [
      await client.send('POST', '/v1/groups', { name: `${attack.name} ${i}` }),
      await client.send('GET', '/v1/personnel?limit=1'),
    ];
    tally.acknowledged += responses.filter(({ status }) => status === 201).length;
    const unexpected = responses.find(({ status }) => ![200, 201, 503].includes(status));
    if (unexpected) tally.fail(`${attack.name}: a good request returned ${unexpected.status}.`);
    const now = performance.now();
    if (responses.every(({ status }) => status === 200 || status === 201)) rejectedSince = undefined;
    else rejectedSince ??= now;
    rejectedMs = Math.max(rejectedMs, Math.round(now - (rejectedSince ?? now)));
    maxMb = Math.max(maxMb, residentMb(service.pid));
    await setTimeout(20);
  }
  for (const socket of sockets) socket.destroy();
  return { maxMb, rejectedMs };
}

const residentMb = (pid: number) =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1000);

const longText = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`a${i}`, 'x'.repeat(1000)]));

async function createKey(client: Client): Promise<string> {
  const scopes = ['personnel.read', 'events.read'];
  const { secret } = await expectJson(client, 'POST', '/v1/keys', { name: 'Frozen laptop', scopes });
  return secret;
}

async function recordLargeEvents(client: Client): Promise<void> {
  for (let i = 0; i < 200; i++)
    await expectJson(client, 'POST', '/v1/personnel', { name: `Event ${i}`, attributes: longText });
}

/**
 * The same with the frames of an ordinary network: the buffers of a connection are much smaller then. Runs in a network
 * namespace of its own, whose loopback interface has this size.
 */
export async function attackWithSmallFrames({ tally, cleanup, isQuickRun }: Options): Promise<void> {
  const file = join(temporaryFolder(cleanup), 'results.json');
  const main = join(import.meta.dirname, '..', 'main.ts');
  const isolated = (command: string) => ['--net', 'sh', '-c', `ip link set lo mtu 1500 up && ${command}`];
  if (spawnSync('unshare', isolated('true')).status !== 0) {
    tally.skipped = 'needs root, unshare and ip';
    return;
  }
  const command = `"${process.execPath}" "${main}" --only unread-sqlite ${isQuickRun ? '--quick' : ''} --json "${file}"`;
  spawnSync('unshare', isolated(command), { stdio: 'ignore' });
  const { results } = JSON.parse(readFileSync(file, 'utf8')) as { results: Tally[] };
  Object.assign(tally, results[0]);
}
