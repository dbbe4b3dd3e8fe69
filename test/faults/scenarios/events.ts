import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { systemClock } from '../../../src/core/clock.ts';
import type { Database } from '../../../src/database/open.ts';
import { createPerson } from '../../../src/resources/personnel/queries.ts';
import { openDatabase } from '../../../src/store/open.ts';
import { bySystem } from '../../../src/store/writes/change.ts';
import { type Client, expectJson, importRows, type Response } from '../client.ts';
import type { Options, Tally } from '../outcome.ts';
import type { Random } from '../random.ts';
import { type Engine, emptyDatabase, type Service, startWithClient } from '../service.ts';

const writers = 5;
const slowWriters = 2;
const rowCount = 200;
const slowName = 'slow';

type Instance = { service: Service; client: Client };
type Seen = { sequence: number; subject: string; version: number };

/**
 * Two instances share a database and are killed while eight clients write; two of them are slow to commit, and one
 * imports. A follower must get every event once and in order, although it asks only for the events after the last one it
 * has seen.
 */
export async function followEvents(options: Options, engine: Engine): Promise<void> {
  const { cleanup, tally, random, isQuickRun } = options;
  const target = options.rounds(50_000, 800);
  const minKills = isQuickRun ? 2 : 20;
  const url = await emptyDatabase(options, engine);
  let key: string | undefined;
  const startInstance = async (): Promise<Instance> => {
    const instance = await startWithClient(options, url, { key });
    key ??= instance.service.key;
    return instance;
  };
  const instances = [await startInstance(), await startInstance()];
  if (engine === 'postgres') await delayCommits(url);
  const database = openDatabase(url);
  cleanup.after(() => database.close());

  let kills = 0;
  let isWritten = false;
  const isEnough = () => tally.acknowledged >= target && kills >= minKills;
  /** The last acknowledged version of each person. */
  const acknowledged = new Map<string, number>();

  async function killAtRandom(): Promise<void> {
    while (!isEnough()) {
      await setTimeout(random.integer(100, isQuickRun ? 500 : 3_000));
      const slot = random.integer(0, 1);
      await instances[slot]?.service.kill9();
      instances[slot] = await startInstance();
      kills++;
    }
  }

  async function follow(): Promise<Seen[]> {
    const seen: Seen[] = [];
    for (let after = 0; ; ) {
      // Read before the request, which must then return everything that was acknowledged.
      const isLast = isWritten;
      const { client } = random.pick(instances) as Instance;
      const page = await readEvents(client, tally, after, random.integer(1, 500));
      if (!page) continue;
      seen.push(...page.events);
      after = page.next_after;
      if (isLast && !page.has_more) return seen;
      if (!page.has_more) await setTimeout(5);
    }
  }

  const current = (slot: number) => () => (instances[slot % 2] as Instance).client;
  const following = follow();
  await Promise.all([
    killAtRandom(),
    ...Array.from({ length: writers }, (_, i) => write(current(i), random.fork())),
    ...Array.from({ length: slowWriters }, () => writeSlowly(database, random.fork())),
    importPeople(current(0)),
  ]);
  isWritten = true;
  const seen = await following;
  const [{ client }] = instances as [Instance];
  await verify(client, tally, seen, acknowledged);
  tally.rounds = seen.length;
  tally.note(`${seen.length} events followed over ${kills} kills`);

  async function write(client: () => Client, random: Random): Promise<void> {
    const mine: { path: string; id: string; version: number }[] = [];
    for (let i = 0; !isEnough(); i++) {
      const person = random.next() < 0.5 ? random.pick(mine) : undefined;
      const response = await attempt(() =>
        person
          ? client().send('PATCH', person.path, { title: `Title ${i}` })
          : client().send('POST', '/v1/personnel', { name: `Person ${i}` }),
      );
      if (response) {
        const { user_id: id, version } = response.json();
        acknowledged.set(id, version);
        tally.acknowledged++;
        if (person) person.version = version;
        else mine.push({ path: `/v1/personnel/${id}`, id, version });
      }
    }
  }

  async function importPeople(client: () => Client): Promise<void> {
    const rows = Array.from({ length: rowCount }, (_, i) => ({ name: `Imported ${i}` }));
    while (!isEnough()) {
      const send = () => importRows(client(), '/v1/personnel/import?atomic=true', rows);
      if (await attempt(send)) tally.acknowledged += rowCount;
      await setTimeout(100);
    }
  }

  /** Keeps its transaction open after the change and, on PostgreSQL, also while it commits. */
  async function writeSlowly({ write }: Database, random: Random): Promise<void> {
    while (!isEnough()) {
      const change = { ...bySystem(systemClock()), name: slowName };
      const written = await write(async (db) => {
        const person = await createPerson(db, { name: 'Slow' }, change);
        await setTimeout(random.integer(0, 20));
        return person;
      }).catch(() => undefined);
      if (written) {
        acknowledged.set(written.user_id, 1);
        tally.acknowledged++;
      }
      await setTimeout(random.integer(20, 200));
    }
  }

  async function attempt(send: () => Promise<Response>): Promise<Response | undefined> {
    const response = await send().catch(() => undefined);
    if (response && response.status < 300) return response;
    if (response && response.status !== 503) {
      tally.fail(`A write returned ${response.status}: ${response.text.slice(0, 200)}`);
    }
    await setTimeout(20);
    return undefined;
  }
}

/** Makes some transactions wait in their commit, after they have taken their sequence numbers. */
async function delayCommits(url: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(`
    create function wait_in_commit() returns trigger language plpgsql as
      $$ begin perform pg_sleep(random() * 0.02); return null; end $$;
    create constraint trigger wait_in_commit after insert or update on events deferrable initially deferred
      for each row when (new.key_name = '${slowName}') execute function wait_in_commit()`);
  await client.end();
}

/** Returns undefined if the instance was killed. */
async function readEvents(client: Client, tally: Tally, after: number, limit: number) {
  const response = await client
    .send('GET', `/v1/events?after=${after}&limit=${limit}`)
    .catch(() => undefined);
  if (response?.status !== 200) {
    if (response && response.status !== 503) {
      tally.fail(`GET /v1/events returned ${response.status}: ${response.text.slice(0, 200)}`);
    }
    await setTimeout(20);
    return undefined;
  }
  const { data, page, meta } = response.json();
  const events: Seen[] = data
    .filter(({ type }: { type: string }) => type.startsWith('person.'))
    .map((event: { sequence: number; subject: { id: string }; data: { version: number } }) => ({
      sequence: event.sequence,
      subject: event.subject.id,
      version: event.data.version,
    }));
  return { events, next_after: meta.next_after as number, has_more: page.has_more as boolean };
}

/**
 * Compares what the follower has seen with the roster. Each change increments the version of a person, so the events of a
 * person must have the versions from 1 to the current one, in this order.
 */
async function verify(
  client: Client,
  tally: Tally,
  seen: readonly Seen[],
  acknowledged: ReadonlyMap<string, number>,
): Promise<void> {
  for (const [i, { sequence }] of seen.entries()) {
    if (i > 0 && sequence <= (seen[i - 1]?.sequence ?? 0)) {
      tally.fail(`The follower got event ${sequence} after ${seen[i - 1]?.sequence}.`);
    }
  }
  const versions = Map.groupBy(seen, ({ subject }) => subject);
  for (const [id, version] of acknowledged) {
    const missing = version - (versions.get(id)?.length ?? 0);
    if (missing > 0) tally.lost += missing;
  }
  const { data } = await expectJson(client, 'GET', '/v1/personnel');
  for (const { user_id, version } of data as { user_id: string; version: number }[]) {
    const found = versions.get(user_id)?.map((event) => event.version) ?? [];
    const isComplete = found.length === version && found.every((number, i) => number === i + 1);
    if (!isComplete) tally.fail(`A person with version ${version} has events for the versions ${found}.`);
    versions.delete(user_id);
  }
  if (versions.size > 0) tally.fail(`${versions.size} people have events but do not exist.`);
}
