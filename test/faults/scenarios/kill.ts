import { setTimeout } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { createCleanup } from '../../cleanup.ts';
import { createLedger, verifyAll, verifyTouched } from '../ledger.ts';
import type { Options, Tally } from '../outcome.ts';
import { type Engine, emptyDatabase, startService, startWithClient } from '../service.ts';
import { startWriters } from '../writers.ts';

const roundsBetweenFullChecks = 50;
const roundsBetweenIntegrityChecks = 25;

/** Kills the service with SIGKILL while clients write, and checks every acknowledged write after each restart. */
export async function killRepeatedly(options: Options, engine: Engine): Promise<void> {
  const { random, log, tally } = options;
  const rounds = engine === 'sqlite' ? options.rounds(500, 3) : options.rounds(100, 2);
  const url = await emptyDatabase(options, engine);
  let { service, client } = await startWithClient(options, url, { connections: 10 });
  const { key } = service;
  const ledger = await createLedger(client);

  for (let round = 1; round <= rounds; round++) {
    const isFull = round % roundsBetweenFullChecks === 0 || round === rounds;
    const writers = startWriters(client, ledger, tally, {
      random: random.fork(),
      hasImports: random.next() < 0.3,
    });
    await setTimeout(random.integer(50, 400));
    await service.kill9();
    await writers.stop();
    if (engine === 'sqlite' && round % roundsBetweenIntegrityChecks === 0) checkIntegrity(url, tally);
    if (random.next() < 0.1) await killWhileStarting(options, url);

    ({ service, client } = await startWithClient(options, url, { key, connections: 10 }));
    if (service.key !== undefined) tally.fail('A restart printed a new key.');
    await verifyTouched(client, ledger, tally);
    if (isFull) await verifyAll(client, ledger, tally);
    tally.rounds++;
    if (round % roundsBetweenFullChecks === 0) log(`${round} kills, ${tally.acknowledged} acknowledged`);
  }
  if (engine === 'sqlite') checkIntegrity(url, tally);
  tally.note(`${ledger.entries.length} resources at the end`);
}

/** A start writes migrations and keys, so it must survive a kill, too. */
async function killWhileStarting({ random }: Options, url: string): Promise<void> {
  const cleanup = createCleanup();
  const start = startService(cleanup, url).catch(() => undefined);
  await setTimeout(random.integer(0, 400));
  await cleanup.run();
  await start;
}

function checkIntegrity(url: string, tally: Tally): void {
  const database = new Sqlite(url.slice('sqlite:'.length));
  try {
    const found = database.pragma('integrity_check', { simple: true });
    if (found !== 'ok') tally.fail(`pragma integrity_check found: ${String(found).slice(0, 200)}`);
    const broken = database.pragma('foreign_key_check') as unknown[];
    if (broken.length > 0) tally.fail(`${broken.length} rows have a broken foreign key.`);
  } finally {
    database.close();
  }
}
