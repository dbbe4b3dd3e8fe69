import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Kysely } from 'kysely';
import { systemClock } from '../core/clock.ts';
import { UsageError } from '../core/errors.ts';
import { joinWords } from '../core/text.ts';
import { version } from '../core/version.ts';
import { type Database, urlOfFile } from '../database/open.ts';
import { recomputeScores } from '../resources/risks/rules/score-columns.ts';
import { dumpDatabase } from '../store/backup/dump.ts';
import { decodeBackup, encodeBackup, type Trailer } from '../store/backup/file.ts';
import { type BackupRecord, recordBackup } from '../store/backup/record.ts';
import { type RestoreOptions, restoreDatabase } from '../store/backup/restore.ts';
import { foldAgain } from '../store/folds.ts';
import { openDatabase } from '../store/open.ts';
import type { Tables } from '../store/tables.ts';
import { restoreChecks } from './check.ts';
import { rowValidator } from './checks/row-validator.ts';
import { isStandardOutput, writeOutput } from './output.ts';

type OnProgress = (table: string, rows: number) => void;

export type BackupResult = { file: string; seconds: number; bytes: number } & Trailer;

/** Writes all tables of one snapshot to a file, or to standard output. `onNotRecorded` gets the error if only the record failed. */
export async function backupCommand(
  database: Database,
  output: string | undefined,
  onProgress: OnProgress,
  onNotRecorded: (error: unknown) => void = () => {},
  verify = false,
): Promise<BackupResult> {
  if (verify && isStandardOutput(output))
    throw new UsageError(
      '--verify reads the backup again, so it needs a file: use it with --output or --keep.',
    );
  if (isStandardOutput(output) && process.stdout.isTTY)
    throw new UsageError('A backup is not text. Write it to a file with --output, or redirect the output.');
  const record = (made: Partial<BackupRecord>) => recordBackup(database, made).catch(onNotRecorded);
  const start = performance.now();
  // A database that is missing or empty has no place for a record.
  const dump = await dumpDatabase(database, onProgress);
  try {
    const result = await writeBackup(database, dump, output, start);
    if (verify) await restoreElsewhere(result.file);
    await record({ succeeded_at: systemClock().now, bytes: result.bytes });
    return result;
  } catch (error) {
    await record({ failed_at: systemClock().now });
    throw error;
  }
}

/** Restores a backup into a temporary database. */
async function restoreElsewhere(file: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-verify-'));
  const database = openDatabase(urlOfFile(join(folder, 'muster.db')));
  try {
    await restoreCommand(database, file, { onProgress() {} });
  } finally {
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Throws if a restore would reject the rows. */
async function assertRestorable(database: Database, db: Kysely<Tables>): Promise<void> {
  const reject = (why: string, cause?: unknown) =>
    new UsageError(
      `The database ${database.name} is damaged: ${why}. No backup was written, because it could not be restored. ` +
        '`muster check` names all damages.',
      { cause },
    );
  const stored = await database.describeTables(db);
  const { pending } = await database.migrations(db);
  for (const { rule, find } of restoreChecks(database, stored, pending.length > 0)) {
    const { samples } = await find(db).catch((error) => {
      // Such as a BLOB, which no row of JSON can hold.
      throw database.explain(error) ?? reject(`it cannot be checked that ${rule} (${error.message})`, error);
    });
    if (samples.length > 0) throw reject(`it is not true that ${rule}: ${joinWords(samples)}`);
  }
}

async function writeBackup(
  database: Database,
  dump: Awaited<ReturnType<typeof dumpDatabase>>,
  output: string | undefined,
  start: number,
): Promise<BackupResult> {
  let trailer: Trailer | undefined;
  let bytes = 0;
  const count = async function* (content: AsyncIterable<Buffer>) {
    for await (const chunk of content) {
      bytes += chunk.byteLength;
      yield chunk;
    }
  };
  try {
    await assertRestorable(database, dump.db);
    const manifest = { version, created_at: systemClock().now, migrations: dump.migrations };
    const content = encodeBackup(manifest, dump.tables, (end) => {
      trailer = end;
    });
    // Only the owner may read it: it holds everything that the database holds.
    await writeOutput(Readable.from(count(content), { objectMode: false }), output, {
      mode: 0o600,
      flush: true,
    });
  } finally {
    await dump.end();
  }
  const seconds = (performance.now() - start) / 1000;
  const file = output === undefined || isStandardOutput(output) ? '-' : output;
  return { file, seconds, bytes, ...(trailer as Trailer) };
}

export type RestoreResult = {
  database: string;
  rows: Record<string, number>;
  /** Versions of risks whose scores in the backup did not follow from their ratings. */
  recomputed_risks: number;
  seconds: number;
};

/** Loads a backup into the database, which must have no rows. */
export async function restoreCommand(
  database: Database,
  path: string,
  { onProgress }: Pick<RestoreOptions, 'onProgress'>,
): Promise<RestoreResult> {
  const start = performance.now();
  const name = isStandardInput(path) ? 'from standard input' : path;
  const backup = await decodeBackup(await openInput(path), name);
  const rows: Record<string, number> = {};
  let recomputed_risks = 0;
  try {
    const options: RestoreOptions = {
      rowValidator,
      async recompute(db) {
        recomputed_risks = await recomputeScores(db);
        await foldAgain(db);
      },
      onProgress(table, count) {
        if (count > 0) rows[table] = count;
        onProgress(table, count);
      },
    };
    await database.restore((engine) => restoreDatabase(engine, backup, options));
  } finally {
    await backup.close();
  }
  const seconds = (performance.now() - start) / 1000;
  return { database: database.name, rows, recomputed_risks, seconds };
}

const isStandardInput = (path: string) => path === '-';

/** Opened before anything else happens, so that a missing file is reported as such. */
async function openInput(path: string) {
  if (isStandardInput(path)) return process.stdin;
  try {
    return createReadStream('', { fd: await open(path) });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`The file ${path} cannot be read (${why}).`, { cause: error });
  }
}

/** The report of a restore for people. */
export function* restoreReport({ database, rows, recomputed_risks, seconds }: RestoreResult) {
  yield `${database}: ${describeRows(rows, seconds)}`;
  if (recomputed_risks > 0)
    yield `The scores of ${format(recomputed_risks)} versions of risks did not follow from their ratings. They were computed again.`;
}

/** The report for people: the number of rows and what they are. */
export function describeRows(rows: Record<string, number>, seconds: number): string {
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
  const named = ['people', 'projects', 'risks', 'issues', 'tasks', 'keys']
    .filter((table) => rows[table])
    .map((table) => `${format(rows[table] ?? 0)} ${table}`);
  return `${format(total)} rows in ${seconds.toFixed(1)} s${named.length > 0 ? `: ${named.join(', ')}` : ''}.`;
}

const format = (value: number) => value.toLocaleString('en-US');
