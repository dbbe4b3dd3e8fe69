import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { mountExt4, mountSmallDisk } from '../../disks.ts';
import { temporaryFolder } from '../../process.ts';
import { type Client, importRows } from '../client.ts';
import { createLedger, verifyAll, verifyTouched } from '../ledger.ts';
import { countStalls, probeLivez } from '../livez-probe.ts';
import type { Options, Tally } from '../outcome.ts';
import { expectRunning, startWithClient } from '../service.ts';
import { startWriters } from '../writers.ts';

/** Fills the file system of a SQLite database. */
export async function fillAndFree(options: Options): Promise<void> {
  const { tally, random } = options;
  const folder = mountSmallDisk(skippable(options), '32m');
  if (folder === undefined) return;
  const { url, service, client, probe, ledger } = await startOn(options, folder);
  const filler = join(folder, 'filler');

  for (let round = 1; round <= options.rounds(10, 1); round++) {
    const writers = startWriters(client, ledger, tally, { random: random.fork(), allowed: [507] });
    await setTimeout(300);
    fillDisk(filler);
    // Until then, writes fit into the space that the write-ahead log already has.
    await waitForStatus(tally, 'A write on a full disk', 507, () => addPerson(client));
    await expectStatus(tally, 'An import on a full disk', 507, () => importPeople(client));
    await expectStatus(tally, 'A read on a full disk', 200, () =>
      client.send('GET', '/v1/personnel?limit=10'),
    );
    await expectStatus(tally, 'A whole list on a full disk', 200, () => client.send('GET', '/v1/personnel'));
    await expectStatus(tally, '/readyz on a full disk', 200, () => client.send('GET', '/readyz'));
    rmSync(filler);
    const freedAt = performance.now();
    await waitForStatus(tally, 'A write after space was freed', 201, () => addPerson(client));
    await waitForStatus(tally, '/readyz after space was freed', 200, () => client.send('GET', '/readyz'));
    tally.note(
      `the first write succeeded ${Math.round(performance.now() - freedAt)} ms after space was freed`,
    );
    await writers.stop();
    await verifyTouched(client, ledger, tally);
    tally.rounds++;
  }
  await checkImportThatFillsDisk(client, tally, filler);
  await verifyTouched(client, ledger, tally);
  await countStalls(tally, probe, { isBound: false });

  await service.kill9();
  const again = await startWithClient(options, url, { key: service.key });
  await verifyAll(again.client, ledger, tally);
}

/** The disk runs out of space during the import. */
async function checkImportThatFillsDisk(client: Client, tally: Tally, filler: string): Promise<void> {
  fillDisk(filler);
  truncateSync(filler, Math.max(0, statSync(filler).size - bytesToLeave));
  const response = await importPeople(client, 20_000);
  if (response.status !== 507) {
    tally.fail(`An import that fills the disk returned ${response.status}: ${response.text.slice(0, 200)}`);
  }
  rmSync(filler);
  await waitForStatus(tally, '/readyz after space was freed', 200, () => client.send('GET', '/readyz'));
}

const bytesToLeave = 2 * 1024 * 1024;

/** Turns the file system of a SQLite database read-only. It stays so until it is mounted again. */
export async function turnReadOnly(options: Options): Promise<void> {
  const { cleanup, tally, random } = options;
  const folder = mountExt4(skippable(options), join(temporaryFolder(cleanup), 'image'));
  if (folder === undefined) return;
  const { service, client, probe, ledger } = await startOn(options, folder);
  const writers = startWriters(client, ledger, tally, { random: random.fork() });
  await setTimeout(500);
  execFileSync('mount', ['-o', 'remount,abort', folder], { stdio: 'pipe' });
  await setTimeout(500);
  await expectStatus(tally, 'A write on a read-only disk', 503, () => addPerson(client));
  await expectStatus(tally, 'An import on a read-only disk', 503, () => importPeople(client));
  await expectStatus(tally, 'A read on a read-only disk', 200, () =>
    client.send('GET', '/v1/personnel?limit=10'),
  );
  await expectStatus(tally, '/readyz on a read-only disk', 200, () => client.send('GET', '/readyz'));
  await writers.stop();
  await countStalls(tally, probe, { isBound: false });
  expectRunning(service, options);
  tally.rounds = 1;
}

const skippable = ({ cleanup, tally }: Options) => ({
  after: cleanup.after,
  skip(reason?: string) {
    tally.skipped = reason;
  },
});

/** Starts the service with its database in a folder. */
async function startOn(options: Options, folder: string) {
  const url = `sqlite:${join(folder, 'muster.db')}`;
  const { service, client } = await startWithClient(options, url, { connections: 12 });
  const probe = probeLivez(options.cleanup, service);
  return { url, service, client, probe, ledger: await createLedger(client) };
}

/** Writes until the disk is completely full. */
function fillDisk(file: string): void {
  const descriptor = openSync(file, 'a');
  for (let size = 1024 * 1024; size >= 1; ) {
    try {
      writeSync(descriptor, Buffer.alloc(size));
    } catch {
      size = size === 1 ? 0 : Math.ceil(size / 8);
    }
  }
  closeSync(descriptor);
}

type Send = () => ReturnType<Client['send']>;

const addPerson = (client: Client) => client.send('POST', '/v1/personnel', { name: 'Ada' });

function importPeople(client: Client, rows = 500) {
  const people = Array.from({ length: rows }, (_, i) => ({ name: `Person ${i}`, title: 'x'.repeat(100) }));
  return importRows(client, '/v1/personnel/import', people);
}

async function expectStatus(tally: Tally, what: string, expected: number, send: Send): Promise<void> {
  const response = await send().catch((error: Error) => ({ status: error.message, text: '' }));
  if (response.status !== expected) {
    tally.fail(`${what} returned ${response.status}, not ${expected}: ${response.text.slice(0, 200)}`);
  }
}

async function waitForStatus(tally: Tally, what: string, expected: number, send: Send): Promise<void> {
  const until = performance.now() + 30_000;
  while (performance.now() < until) {
    if ((await send().catch(() => undefined))?.status === expected) return;
    await setTimeout(20);
  }
  tally.fail(`${what} did not return ${expected} within 30 s.`);
}
