import { copyFileSync, existsSync, linkSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createCleanup } from '../../cleanup.ts';
import { temporaryFolder } from '../../process.ts';
import { importRows } from '../client.ts';
import { createLedger, verifyAll, verifyTouched } from '../ledger.ts';
import type { Options, Tally } from '../outcome.ts';
import { startService, startWithClient } from '../service.ts';
import { startWriters, type Write } from '../writers.ts';

/** The service must detect the change and stop acknowledging writes within this time. */
const maxDetectionMs = 2000;

/** Writes continue for this long afterwards, to check that the service rejects them. */
const observedMs = 1000;

/** Removes or replaces the database file of a running service; `remove` returns a function that restores it. */
type Removal = {
  name: string;
  remove(file: string, other: string): () => void;
  /** Whether the next start must fail: a WAL without its database shows that this is not the first start. */
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

export async function replaceRepeatedly(options: Options): Promise<void> {
  const { tally } = options;
  const rounds = options.rounds(9, 1);
  const other = await otherDatabase(options);
  for (let round = 0; round < rounds; round++) {
    const removal = removals[round % removals.length];
    if (removal) await removeOnce(options, tally, removal, other);
    tally.rounds++;
  }
}

/** A valid database of another service. */
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
  const { service, client } = await startWithClient(options, url, { connections: 12 });
  const ledger = await createLedger(client);
  const writers = startWriters(client, ledger, tally, { random: random.fork() });
  await setTimeout(random.integer(200, 600));

  const removedAt = performance.now();
  const restore = removal.remove(file, other);
  await setTimeout(maxDetectionMs);
  const { status } = await client.send('GET', '/readyz');
  if (status !== 503) tally.fail(`${removal.name}: /readyz returned ${status}.`);
  // An import opens its own connection, which must not create a new file.
  const imported = await importRows(client, '/v1/personnel/import', [{ name: 'Ada' }, { name: 'Bob' }]);
  if (imported.status !== 503) tally.fail(`${removal.name}: an import returned ${imported.status}.`);
  await setTimeout(observedMs);
  if (removal.name !== 'replaced' && existsSync(file)) {
    tally.fail(`${removal.name}: the running service created a database file.`);
  }
  checkWrites(await writers.stop(), removedAt + maxDetectionMs, tally, removal);
  await (random.next() < 0.5 ? service.terminate() : service.kill9());

  if (removal.blocksStart) await checkStartFails(url, file, tally);
  restore();
  const again = await startWithClient(options, url, { key: service.key });
  if (again.service.key !== undefined) tally.fail(`${removal.name}: the next start printed a new key.`);
  await verifyTouched(again.client, ledger, tally);
  await verifyAll(again.client, ledger, tally);
  await again.service.kill9();
}

function checkWrites(writes: Write[], since: number, tally: Tally, { name }: Removal): void {
  const late = writes.filter(({ startedAt }) => startedAt > since);
  const acknowledged = late.filter(({ status }) => status !== undefined && status < 300).length;
  if (acknowledged > 0) {
    tally.fail(`${name}: writes were acknowledged more than ${maxDetectionMs} ms later.`);
    tally.note(`${name}: ${acknowledged} writes were acknowledged after the limit`);
  }
  if (late.length === 0) tally.fail(`${name}: no write was sent after the limit.`);
}

async function checkStartFails(url: string, file: string, tally: Tally): Promise<void> {
  const cleanup = createCleanup();
  const started = await startService(cleanup, url).catch(() => undefined);
  if (started) {
    tally.fail(
      `A start without the database file created a new one${started.key ? ' and printed a new key' : ''}.`,
    );
    await started.kill9();
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
  }
  await cleanup.run();
}
