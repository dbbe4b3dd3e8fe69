import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { temporaryFolder } from '../../process.ts';
import type { Client } from '../client.ts';
import { createLedger, verifyAll, verifyTouched } from '../ledger.ts';
import { countStalls, probeLivez } from '../livez-probe.ts';
import type { Options, Outcome, Scenario, Tally } from '../outcome.ts';
import { connect, expectRunning, startService, startWithClient } from '../service.ts';
import { startWriters } from '../writers.ts';

/** Fills the file system of a SQLite database. */
export const diskFull: Scenario = {
  name: 'disk-full',
  limitMs: 10 * 60_000,
  isInQuickRun: true,
  run: (options) => runOnFileSystem(options, mountMemory, fillAndFree),
};

/** Turns the file system of a SQLite database read-only. */
export const diskReadOnly: Scenario = {
  name: 'disk-read-only',
  limitMs: 10 * 60_000,
  isInQuickRun: true,
  run: (options) => runOnFileSystem(options, mountExt4, turnReadOnly),
};

type Work = (options: Options, tally: Tally, folder: string) => Promise<void>;

async function runOnFileSystem(
  options: Options,
  mount: (options: Options) => string,
  work: Work,
): Promise<Outcome> {
  const { tally } = options;
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    return { ...tally, skipped: 'Needs root on Linux to mount a small file system.' };
  }
  let folder: string;
  try {
    folder = mount(options);
  } catch (error) {
    return { ...tally, skipped: `A small file system could not be mounted: ${(error as Error).message}` };
  }
  await work(options, tally, folder);
  return tally;
}

function mountMemory({ cleanup }: Options): string {
  const folder = temporaryFolder(cleanup);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=32m', 'tmpfs', folder], { stdio: 'pipe' });
  cleanup.after(() => execFileSync('umount', ['--lazy', folder]));
  return folder;
}

/** Linux remounts a file system read-only while files are open for writing only after a file system error. */
function mountExt4({ cleanup }: Options): string {
  const parent = temporaryFolder(cleanup);
  const [image, folder] = [join(parent, 'image'), join(parent, 'mounted')];
  closeSync(openSync(image, 'w'));
  truncateSync(image, 32 * 1024 * 1024);
  mkdirSync(folder);
  execFileSync('mkfs.ext4', ['-q', image], { stdio: 'pipe' });
  execFileSync('mount', ['-o', 'loop,errors=remount-ro', image, folder], { stdio: 'pipe' });
  cleanup.after(() => execFileSync('umount', ['--lazy', folder]));
  return folder;
}

async function fillAndFree(options: Options, tally: Tally, folder: string): Promise<void> {
  const { cleanup, random } = options;
  const url = `sqlite:${join(folder, 'muster.db')}`;
  const { service, client } = await startWithClient(options, url, { connections: 12 });
  const probe = probeLivez(cleanup, service);
  const ledger = await createLedger(client);
  const filler = join(folder, 'filler');
  const write = (allowed: number[]) =>
    startWriters(client, ledger, tally, { random: random.fork(), allowed });

  for (let round = 1; round <= options.rounds(10, 1); round++) {
    const writers = write([507]);
    await setTimeout(300);
    fillDisk(filler);
    // Until then, writes fit into the space that the write-ahead log already has.
    await waitForStatus(tally, 'A write on a full disk', 507, () => addPerson(client));
    await expectStatus(tally, 'An import on a full disk', 507, () => importPeople(client));
    await expectStatus(tally, 'A read on a full disk', 200, () =>
      client.send('GET', '/v1/personnel?limit=10'),
    );
    await expectStatus(tally, 'A whole list on a full disk', 200, () => client.send('GET', '/v1/personnel'));
    await expectStatus(tally, '/readyz on a full disk', 503, () => client.send('GET', '/readyz'));
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
  const { origin } = await startService(cleanup, url);
  await verifyAll(connect(options, { origin, key: service.key }), ledger, tally);
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

/** A file system that the kernel turned read-only stays so until it is mounted again. */
async function turnReadOnly(options: Options, tally: Tally, folder: string): Promise<void> {
  const { cleanup, random } = options;
  const url = `sqlite:${join(folder, 'muster.db')}`;
  const { service, client } = await startWithClient(options, url, { connections: 12 });
  const probe = probeLivez(cleanup, service);
  const ledger = await createLedger(client);
  const writers = startWriters(client, ledger, tally, { random: random.fork() });
  await setTimeout(500);
  execFileSync('mount', ['-o', 'remount,abort', folder], { stdio: 'pipe' });
  await setTimeout(500);
  await expectStatus(tally, 'A write on a read-only disk', 503, () => addPerson(client));
  await expectStatus(tally, 'An import on a read-only disk', 503, () => importPeople(client));
  await expectStatus(tally, 'A read on a read-only disk', 200, () =>
    client.send('GET', '/v1/personnel?limit=10'),
  );
  await expectStatus(tally, '/readyz on a read-only disk', 503, () => client.send('GET', '/readyz'));
  await writers.stop();
  await countStalls(tally, probe, { isBound: false });
  expectRunning(service, options);
  tally.rounds = 1;
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

const addPerson = (client: Client) => client.send('POST', '/v1/personnel', { name: 'Ada' });

function importPeople(client: Client, rows = 500) {
  const lines = Array.from({ length: rows }, (_, i) => `Person ${i},${'x'.repeat(100)}`);
  const headers = { 'content-type': 'text/csv' };
  return client.send('POST', '/v1/personnel/import', `name,title\n${lines.join('\n')}\n`, headers);
}

async function expectStatus(
  tally: Tally,
  what: string,
  expected: number,
  send: () => ReturnType<Client['send']>,
) {
  const response = await send().catch((error: Error) => ({ status: error.message, text: '' }));
  if (response.status !== expected) {
    tally.fail(`${what} returned ${response.status}, not ${expected}: ${response.text.slice(0, 200)}`);
  }
}

async function waitForStatus(
  tally: Tally,
  what: string,
  expected: number,
  send: () => ReturnType<Client['send']>,
): Promise<void> {
  const until = performance.now() + 30_000;
  while (performance.now() < until) {
    if ((await send().catch(() => undefined))?.status === expected) return;
    await setTimeout(20);
  }
  tally.fail(`${what} did not return ${expected} within 30 s.`);
}
