import { realpathSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import Sqlite from 'better-sqlite3';
import {
  type Dialect,
  type FunctionNode,
  Kysely,
  type OperationNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
import { Problem, UsageError, unavailable } from '../../core/errors.ts';
import type { Engine, Report } from '../engine.ts';
import type { BatchAdapter } from '../sql/batches.ts';
import {
  baseUrlFunction,
  type CompilerSettings,
  type DialectFunctions,
  dialectFunction,
} from '../sql/functions.ts';
import type { Tables } from '../tables.ts';
import { Checkpointer } from './checkpoints.ts';
import { QuickConnection, SqliteDriver } from './connections.ts';
import { createDiskCheck, freeBytes } from './files/disk.ts';
import { copyDatabase, removeOldCopies } from './files/dry-run-copy.ts';
import { assertNoLog, assertOwnFile, createFile, hasContent, openFile } from './files/file.ts';
import { FileGuard, fileLostText } from './files/file-guard.ts';
import { lockFile } from './files/lock.ts';
import {
  buildFile,
  checkIntegrity,
  describeSchema,
  describeTables,
  describeViolation,
  dropIndexes,
} from './files/restore.ts';
import { connectInThread } from './thread.ts';
import { SqliteVersions } from './versions.ts';

const eventPollMs = 50;

/** Maximum number of lists that are streamed at the same time. */
const maxStreams = 8;

/** Writes the log to the database file. Returns whether all of it was written. */
function truncateLog(connection: Sqlite.Database): boolean {
  try {
    const [result] = connection.pragma('wal_checkpoint(truncate)') as [{ busy: number }];
    return result.busy === 0;
  } catch {
    return false;
  }
}

/** Uses one connection that writes and several that read. In WAL mode, readers and the writer do not block each other. */
export function sqliteEngine(
  file: string,
  report: Report = () => {},
  settings: CompilerSettings = { baseUrl: '' },
): Engine & Required<Pick<Engine, 'singleWriter'>> {
  const dialect = (driver: SqliteDriver) => createDialect(driver, settings);
  const guard = new FileGuard(file, report);
  let writer: Sqlite.Database | undefined;
  let serviceLock: ReturnType<typeof lockFile>;
  const open = (readonly: boolean) => {
    const connection = openFile(file, { readonly, expected: guard.expected });
    guard.noteOpened();
    if (!readonly) writer = connection;
    return connection;
  };
  const checkpointer = new Checkpointer({
    walBytes: () => guard.walBytes,
    setAutocheckpoint: (isOn) => writer?.pragma(`wal_autocheckpoint = ${isOn ? 1000 : 0}`),
  });
  const inThisThread = (readonly: boolean, maxConnections: number) =>
    new SqliteDriver({
      connect: () => new QuickConnection(open(readonly)),
      maxConnections,
      check: () => (readonly ? guard.assertUsable() : guard.check()),
      canClose: () => guard.canClose(),
    });
  const inThread = (readonly: boolean, maxConnections: number, admit?: () => Promise<void> | undefined) =>
    new SqliteDriver({
      admit,
      connect: connectInThread(readonly ? 'long reads' : 'bulk writes', () => ({
        file,
        options: { readonly, expected: guard.expected },
      })),
      maxConnections,
      check: () => (readonly ? guard.assertUsable() : guard.check()),
    });
  const drivers = {
    write: inThisThread(false, 1),
    quick: inThisThread(true, 4),
    bulk: inThread(false, 1),
    slow: inThread(true, 4),
    stream: inThread(true, maxStreams, () => checkpointer.admit()),
    copy: inThread(true, 1),
  };
  const copier = new Kysely<Tables>({ dialect: dialect(drivers.copy) });
  const checkDisk = createDiskCheck(file);
  const versions = new SqliteVersions(() => open(true));
  return {
    kind: 'sqlite',
    name: `sqlite:${file}`,
    dialects: {
      write: dialect(drivers.write),
      quick: dialect(drivers.quick),
      slow: dialect(drivers.slow),
      stream: dialect(drivers.stream),
    },
    versions() {
      guard.assertUsable();
      return versions.read();
    },
    // Reading the version takes microseconds, so polling is cheap.
    watchEvents(wake) {
      const timer = setInterval(wake, eventPollMs);
      return () => clearInterval(timer);
    },
    checkReady: async () => {
      try {
        guard.check();
        versions.read();
      } catch (error) {
        throw explain(error) ?? error;
      }
    },
    checkWritable: () => checkDisk(),
    async storage() {
      const { size } = await stat(file);
      return { databaseBytes: size, walBytes: guard.walBytes, freeBytes: await freeBytes(file) };
    },
    pools: () => Object.fromEntries(Object.entries(drivers).map(([name, driver]) => [name, driver.use])),
    async close() {
      guard.stop(() => writer !== undefined && truncateLog(writer));
      checkpointer.stop();
      await copier.destroy();
      if (guard.canClose()) versions.close();
      serviceLock?.release();
    },
    bulkBatchMs: 8,
    dryRun: {
      async copy() {
        const copy = await copyDatabase(file, copier);
        const { db, close } = openAlone(copy.file, 'bulk', settings);
        return { db, close: () => close().then(copy.remove) };
      },
    },
    createIfMissing() {
      try {
        createFile(file);
        assertOwnFile(file);
      } catch (error) {
        throw error instanceof UsageError ? error : cannotUse(file, error);
      }
      removeOldCopies(file);
    },
    claim() {
      try {
        // Beside the file itself, which another service may know by a link.
        serviceLock = lockFile(`${realpathSync(file)}-lock`);
      } catch {
        // Without permission to create files beside the database, another service cannot be noticed.
        return undefined;
      }
      if (serviceLock)
        return statSync(file).nlink === 1
          ? undefined
          : `The database file ${file} has another name (a hard link). Remove that: under another name SQLite looks for ` +
              'another write-ahead log, which loses commits and may damage the file.';
      return (
        `Another service uses the database file ${file}. Each of them writes in turn and reads what the other has ` +
        'written, but several instances should use PostgreSQL.'
      );
    },
    exists: () => hasContent(file),
    describeTables,
    checkIntegrity,
    describeSchema,
    async describeNewSchema(create) {
      const connect = () => new QuickConnection(new Sqlite(':memory:'));
      const db = new Kysely<Tables>({
        dialect: dialect(new SqliteDriver({ connect, maxConnections: 1, check() {} })),
      });
      return create(db)
        .then(() => describeSchema(db))
        .finally(() => db.destroy());
    },
    dropIndexes,
    describeViolation,
    restore({ assertEmpty, load }) {
      removeOldCopies(file);
      return buildFile(
        file,
        (built) => openAlone(built, 'bulk'),
        load,
        async (existing) => {
          assertOwnFile(existing);
          if (hasContent(existing)) {
            const { db, close } = openAlone(existing, 'write');
            await assertEmpty(db).finally(close);
          }
          assertNoLog(existing);
        },
      );
    },
    singleWriter: {
      assertStored: () => guard.check(),
      afterCommit: (db, runExclusive) => checkpointer.afterCommit(db, runExclusive),
      bulk: dialect(drivers.bulk),
      // Starts the thread and checkpoints the WAL. If the checkpoint fails, a later commit does it.
      beforeBulk: (db) => sql`pragma wal_checkpoint(passive)`.execute(db).catch(() => {}),
    },
    // With one writer at a time there are no write conflicts within the process; BUSY comes from other processes.
    isRetryable: (error) => codeOf(error).startsWith('SQLITE_BUSY'),
    explain,
    explainStart: (error) =>
      error instanceof Sqlite.SqliteError &&
      /^SQLITE_(BUSY|IOERR|CANTOPEN|READONLY|NOTADB|CORRUPT|FULL)/.test(error.code)
        ? cannotUse(file, error)
        : undefined,
  };
}

/** Opens another file with a single connection that writes, in this thread or in a worker. */
function openAlone(file: string, workload: 'write' | 'bulk', settings?: CompilerSettings) {
  const { dialects, singleWriter, close } = sqliteEngine(file, undefined, settings);
  const db = new Kysely<Tables>({ dialect: workload === 'write' ? dialects.write : singleWriter.bulk });
  return {
    db,
    async close() {
      await close();
      await db.destroy();
    },
  };
}

function explain(error: unknown): Problem | undefined {
  const code = codeOf(error);
  // No `cause`: the file guard has already logged the error, and each request would log it again.
  if (code === 'SQLITE_READONLY_DBMOVED') return unavailable(`The database file ${fileLostText}`, 5);
  if (code === 'SQLITE_FULL')
    return new Problem(
      'storage_full',
      'The disk of the service is full. Nothing was changed. Free up disk space, then try again.',
      { cause: error },
    );
  if (code.startsWith('SQLITE_READONLY'))
    return unavailable('The database file is read-only. Nothing was changed.', 5, error);
  if (/^SQLITE_(BUSY|IOERR|CANTOPEN|ABORT)/.test(code))
    return unavailable('The database file is temporarily unavailable. Try again shortly.', 5, error);
  return undefined;
}

const cannotUse = (file: string, error: unknown) =>
  new UsageError(
    `The database file ${file} cannot be opened for writing (${error instanceof Error ? error.message : error}). ` +
      'Set MUSTER_DATABASE_URL to a file in a folder that this user can write to.',
    { cause: error },
  );

const codeOf = (error: unknown) => (error instanceof Sqlite.SqliteError ? error.code : '');

const createDialect = (driver: SqliteDriver, settings: CompilerSettings): Dialect => ({
  createDriver: () => driver,
  createAdapter: () => new MusterSqliteAdapter(),
  createQueryCompiler: () => new MusterSqliteCompiler(settings),
  createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
});

/**
 * Write transactions start with `begin immediate`, so migrations can run in one, even if two processes start at once.
 */
class MusterSqliteAdapter extends SqliteAdapter implements BatchAdapter {
  readonly runsBatches = true;
  readonly hasSingleWriter = true;

  override get supportsTransactionalDdl() {
    return true;
  }
  override get supportsMultipleConnections() {
    return true;
  }
}

const firstTwoLines = dialectFunction`substr(${0}, 1, instr(${0}, '\n') + instr(substr(${0} || '\n', instr(${0}, '\n') + 1), '\n') - 1)`;

const separated = (values: readonly OperationNode[]) =>
  values.flatMap((value, i) => (i === 0 ? [value] : [', ', value]));

const dialectFunctions: DialectFunctions = {
  parsed_json: dialectFunction`json(${0})`,
  json_boolean: dialectFunction`json(case ${0} when 1 then 'true' when 0 then 'false' end)`,
  json_texts: dialectFunction`json_each(${0})`,
  json_items: dialectFunction`json_each(${0})`,
  in_constant_array: dialectFunction`${0} in (select value from json_each(${1}))`,
  stored_table: dialectFunction`main.${0}`,
  not_indexed: dialectFunction`+${0}`,
  optimize_for_first_rows: dialectFunction``,
  json_array_of: dialectFunction`json_group_array(${0} order by ${1})`,
  in_json_array: dialectFunction`${0} in (select value from json_each(${1}))`,
  contains_text: dialectFunction`(instr(${0}, ${1}) > 0)`,
  contains_indexed_text: dialectFunction`(instr(${0}, ${1}) > 0)`,
  folded: dialectFunction`fold(${0})`,
  folded_values: dialectFunction`${0}`,
  indexed_start: dialectFunction`''`,
  first_two_lines: firstTwoLines,
  // From the first two lines, which the indexes of items contain.
  second_line: (call) => {
    const lines = firstTwoLines(call);
    return ['substr(', ...lines, ', instr(', ...lines, ", '\n') + 1)"];
  },
  // SQLite has one writer at a time, so these locks do nothing.
  advisory_lock: dialectFunction`${0}`,
  shared_row_lock: dialectFunction`${0}`,
  row_lock: dialectFunction`${0}`,
  wake_followers: dialectFunction`null`,
  count_unless_promoted: dialectFunction`${0}`,
  greatest: ({ arguments: values }) => ['max(', ...separated(values), ')'],
  least: ({ arguments: values }) => ['min(', ...separated(values), ')'],
  shifted_day: dialectFunction`date(${0}, ${1})`,
  next_millisecond: dialectFunction`strftime('%Y-%m-%dT%H:%M:%fZ', ${0}, '+0.001 seconds')`,
  days_between: dialectFunction`cast(julianday(${1}) - julianday(${0}) as integer)`,
};

class MusterSqliteCompiler extends SqliteQueryCompiler {
  readonly #functions: DialectFunctions;

  constructor(settings: CompilerSettings) {
    super();
    this.#functions = { ...dialectFunctions, base_url: baseUrlFunction(settings) };
  }

  protected override visitFunction(node: FunctionNode): void {
    const write = this.#functions[node.func];
    if (!write) super.visitFunction(node);
    else for (const part of write(node)) typeof part === 'string' ? this.append(part) : this.visitNode(part);
  }
}
