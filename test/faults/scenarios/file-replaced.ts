import { copyFileSync, existsSync, linkSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { temporaryFolder } from '../../process.ts';
import { createCleanup } from '../cleanup.ts';
import { type Client, createClient } from '../client.ts';
import { createLedger, verifyAll, verifyTouched } from '../ledger.ts';
import type { Options, Outcome, Scenario, Tally } from '../outcome.ts';
import { startService } from '../service.ts';
import { startWriters, type Write } from '../writers.ts';

/** Within this time the service must have noticed, and must have stopped acknowledging writes. */
const maxDetectionMs = 2000;

/** How long writes go on after that, to see that they are refused. */
const observedMs = 1000;

/** Takes the database file away under a running service; gives back how to undo it. */
type Removal = {
  name: string;
  remove(file: string, other: string): () => void;
  /** Whether a start must refuse, because a log without its database says that this is not the first start. */
  blocksStart: boolean;
};

const removals: Removal[] = [
  {
    name: 'removed',
    blocksStart: true,
    remove(file) {
      linkSync(file, `${file}.linked`);
      rmSync(file);
      return () => renameSync(`${file}.linked`, file);
    },
  },
  {
    name: 'replaced',
    blocksStart: false,
    remove(file, other) {
      renameSync(file, `${file}.old`);
      copyFileSync(other, file);
      return () => renameSync(`${file}.old`, file);
    },
  },
  {
    name: 'moved with its folder',
    blocksStart: false,
    remove(file) {
      const folder = dirname(file);
      renameSync(folder, `${folder}.old`);
      return () => {
        rmSync(folder, { recursive: true, force: true });
        renameSync(`${folder}.old`, folder);
      };
    },
  },
];

export const fileReplaced: Scenario = {
  name: 'file-replaced',
  limitMs: 15 * 60_000,
  isIndexed: true,
  run: replaceAgainAndAgain,
};

async function replaceAgainAndAgain(options: Options): Promise<Outcome> {
  const { tally } = options;
  const rounds = options.rounds(9, 1);
  const other = await otherDatabase(options);
  for (let round = 0; round < rounds; round++) {
    const removal = removals[round % removals.length];
    if (removal) await removeOnce(options, tally, removal, other);
    tally.rounds++;
  }
  return tally;
}

/** A good database that is not the service's own. */
async function otherDatabase({ cleanup }: Options): Promise<string> {
  const file = join(temporaryFolder(cleanup), 'other.db');
  const service = await startService(cleanup, `sqlite:${file}`);
  await service.terminate();
  return file;
}

async function removeOnce(options: Options, tally: Tally, removal: Removal, other: string): Promise<void> {
  const { cleanup, random } = options;
  const file = join(temporaryFolder(cleanup), 'data', 'muster.db');
  mkdirSync(dirname(file));
  const url = `sqlite:${file}`;
  const service = await startService(cleanup, url);
  const client = createClient(service.origin, { key: service.key, connections: 12, tally });
  const ledger = await createLedger(client);
  const writers = startWriters(client, ledger, tally, { random: random.fork() });
  await setTimeout(random.integer(200, 600));

  const removedAt = performance.now();
  const putBack = removal.remove(file, other);
  await setTimeout(maxDetectionMs);
  await checkNotReady(client, tally, removal);
  await checkImport(client, tally, removal);
  await setTimeout(observedMs);
  if (removal.name !== 'replaced' && existsSync(file)) {
    tally.fail(`${removal.name}: the running service created a database file.`);
  }
  checkWrites(await writers.stop(), removedAt + maxDetectionMs, tally, removal);
  client.close();
  await (random.next() < 0.5 ? service.terminate() : service.kill9());

  if (removal.blocksStart) await checkStartRefuses(url, file, tally);
  putBack();
  const again = await startService(cleanup, url);
  if (again.key !== undefined) tally.fail(`${removal.name}: the start after it printed a new key.`);
  const reader = createClient(again.origin, { key: service.key, tally });
  await verifyTouched(reader, ledger, tally);
  await verifyAll(reader, ledger, tally);
  reader.close();
  await again.kill9();
}

async function checkNotReady(client: Client, tally: Tally, { name }: Removal): Promise<void> {
  const { status } = await client.send('GET', '/readyz');
  if (status !== 503) tally.fail(`${name}: /readyz was answered with ${status}.`);
}

/** An import writes through a connection of its own, which must not create another file. */
async function checkImport(client: Client, tally: Tally, { name }: Removal): Promise<void> {
  const headers = { 'content-type': 'text/csv' };
  const { status } = await client.send('POST', '/v1/personnel/import', 'name\nAda\nBob\n', headers);
  if (status !== 503) tally.fail(`${name}: an import was answered with ${status}.`);
}

function checkWrites(writes: Write[], since: number, tally: Tally, { name }: Removal): void {
  const late = writes.filter(({ startedAt }) => startedAt > since);
  const acknowledged = late.filter(({ status }) => status !== undefined && status < 300).length;
  if (acknowledged > 0) {
    tally.fail(`${name}: writes were acknowledged later than ${maxDetectionMs} ms after it.`);
    tally.note(`${name}: ${acknowledged} writes were acknowledged after the bound`);
  }
  if (late.length === 0) tally.fail(`${name}: no write was tried after the bound.`);
}

async function checkStartRefuses(url: string, file: string, tally: Tally): Promise<void> {
  const cleanup = createCleanup();
  const started = await startService(cleanup, url).catch(() => undefined);
  if (started) {
    tally.fail(
      `A start without the database file made another one${started.key ? ' and printed a new key' : ''}.`,
    );
    await started.kill9();
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
  }
  await cleanup.run();
}
