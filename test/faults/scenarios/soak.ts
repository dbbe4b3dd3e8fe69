import { execFileSync } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { type Client, createClient, expectJson, importRows } from '../client.ts';
import { countStalls, probeLivez } from '../livez-probe.ts';
import type { Options, Tally } from '../outcome.ts';
import type { Random } from '../random.ts';
import { emptyDatabase, expectRunning, startWithClient } from '../service.ts';

const connections = 8;
const people = 500;
const fields = ['title', 'department', 'location', 'start_on', 'end_on', 'skills', 'attributes'];

/** Sends distinct requests for a long time: memory must stay flat after the first two minutes. */
export async function soakForMinutes(options: Options): Promise<void> {
  const { tally, random, cleanup, soakMinutes } = options;
  const url = await emptyDatabase(options, 'sqlite');
  const { service, client } = await startWithClient(options, url, { connections });
  const probe = probeLivez(cleanup, service);
  const ids = await addPeople(client);
  const until = performance.now() + soakMinutes * 60_000;
  const isOver = () => performance.now() >= until || !service.isRunning();
  const load = Array.from({ length: connections }, async () => {
    const own = random.fork();
    while (!isOver()) await sendDistinct(client, tally, own, ids);
  });
  const samples: number[] = [];
  while (!isOver()) {
    samples.push(residentMegabytes(service.pid));
    if (samples.length % 60 === 0)
      options.log(`${samples.length / 60} min, ${samples.at(-1)} MB, ${tally.rounds} requests`);
    await setTimeout(1000);
  }
  await Promise.all(load);
  expectRunning(service, options);
  await countStalls(tally, probe, { isBound: false });
  checkMemory(tally, samples);
}

/** The median of the last minute may exceed that of the third minute by at most 10% plus 10 MB. */
function checkMemory(tally: Tally, samples: number[]): void {
  const [third, last] = [median(samples.slice(120, 180)), median(samples.slice(-60))];
  tally.note(`memory: ${third} MB in the third minute, ${last} MB in the last`);
  if (samples.length < 180) tally.note('memory is checked only in a soak of at least 4 minutes');
  else if (last > third * 1.1 + 10)
    tally.fail(`Memory grew from ${third} MB in the third minute to ${last} MB.`);
}

async function addPeople(client: Client): Promise<string[]> {
  const rows = Array.from({ length: people }, (_, i) => ({ name: `Person ${i}` }));
  await importRows(client, '/v1/personnel/import', rows);
  const { data } = await expectJson(client, 'GET', '/v1/personnel');
  return data.map(({ user_id }: { user_id: string }) => user_id);
}

/** Sends a query, a change or a key that probably differs from all earlier ones. */
async function sendDistinct(client: Client, tally: Tally, random: Random, ids: string[]): Promise<void> {
  const kind = random.next();
  const id = random.pick(ids);
  const word = () => random.integer(0, 2 ** 31).toString(36);
  tally.rounds++;
  if (kind < 0.3) await client.send('GET', `/v1/personnel?limit=${random.integer(1, 1000)}&q=${word()}`);
  else if (kind < 0.4)
    await client.send(
      'GET',
      `/v1/risks?min_score=${random.integer(1, 12)}&q=${word()}&limit=${random.integer(1, 1000)}`,
    );
  else if (kind < 0.5) await client.send('GET', `/v1/personnel?${someOf(random, filters(word)).join('&')}`);
  else if (kind < 0.8) {
    const patch = Object.fromEntries(someOf(random, fields).map((field) => [field, patchValue(field, word)]));
    const { status, text } = await client.send('PATCH', `/v1/personnel/${id}`, patch);
    if (status === 200) tally.acknowledged++;
    else if (status >= 500) tally.fail(`PATCH returned ${status}: ${text.slice(0, 200)}`);
  } else if (kind < 0.9) {
    const headers = { 'idempotency-key': word(), 'x-request-id': word() };
    await client.send('POST', '/v1/personnel', { [word()]: word() }, headers);
  } else await sendWithNewKey(client, word());
}

const filters = (word: () => string) => [
  `department=${word()}`,
  `skill=${word()}`,
  `external_id=${word()}`,
  'status=active',
  'kind=human',
  'assignable=true',
  `limit=${Math.ceil(Math.random() * 1000)}`,
];

const someOf = <T>(random: Random, items: readonly T[]): T[] => {
  const some = items.filter(() => random.next() < 0.5).sort(() => random.next() - 0.5);
  return some.length > 0 ? some : items.slice(0, 1);
};

function patchValue(field: string, word: () => string): unknown {
  if (field === 'start_on') return '2026-01-01';
  if (field === 'end_on') return '2099-01-01';
  if (field === 'skills') return [word(), word()];
  if (field === 'attributes') return { [`a${Math.floor(Math.random() * 20)}`]: word() };
  return word();
}

/** Creates a key, uses it on a new connection, and revokes it. */
async function sendWithNewKey(client: Client, name: string): Promise<void> {
  const created = await client.send('POST', '/v1/keys', { name, scopes: ['personnel.read'] });
  if (created.status !== 201) return;
  const { id, secret } = created.json();
  const stranger = createClient(client.origin, { key: secret, connections: 1 });
  await stranger.send('GET', '/v1/personnel?limit=3');
  await client.send('DELETE', `/v1/keys/${id}`);
  await stranger.send('GET', '/v1/personnel?limit=3');
  stranger.close();
}

const residentMegabytes = (pid: number) =>
  Math.round(Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024);

function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}
