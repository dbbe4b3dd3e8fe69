import Sqlite from 'better-sqlite3';
import {
  type Dialect,
  type FunctionNode,
  type Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
import { Problem, UsageError } from '../errors.ts';
import { type Engine, mostStreams } from './engine.ts';
import { type Spellings, spelling } from './functions.ts';
import { QuickConnection, SqliteDriver } from './sqlite-connections.ts';
import { type FileOptions, openFile } from './sqlite-file.ts';
import { connectInThread } from './sqlite-thread.ts';
import { SqliteVersions } from './sqlite-versions.ts';

/** One file, one connection that writes, some that read: in WAL mode they do not wait for each other. */
export function sqliteEngine(file: string): Engine {
  const connect = (options: FileOptions) => () => new QuickConnection(open(file, options));
  const drivers = {
    write: new SqliteDriver(connect({ readonly: false }), 1),
    quick: new SqliteDriver(connect({ readonly: true }), 4),
    bulk: new SqliteDriver(connectInThread(file, { readonly: false }), 1),
    slow: new SqliteDriver(connectInThread(file, { readonly: true }), 4),
    stream: new SqliteDriver(connectInThread(file, { readonly: true }), mostStreams),
  };
  const versions = new SqliteVersions(() => open(file, { readonly: true }));
  return {
    kind: 'sqlite',
    name: `sqlite:${file}`,
    dialects: {
      write: dialect(drivers.write),
      quick: dialect(drivers.quick),
      slow: dialect(drivers.slow),
      stream: dialect(drivers.stream),
    },
    versions: () => versions.read(),
    checkReady: async () => void versions.read(),
    pools: () => Object.fromEntries(Object.entries(drivers).map(([name, driver]) => [name, driver.use])),
    close: async () => versions.close(),
    turns: {
      bulk: dialect(drivers.bulk),
      // Starts the thread, and puts what earlier ones appended to the log into its places; else a later commit does that.
      beforeBulk: (db) => sql`pragma wal_checkpoint(passive)`.execute(db).catch(() => {}),
    },
    // So there are no races to lose.
    isRetryable: (error) => codeOf(error).startsWith('SQLITE_BUSY'),
    explain(error) {
      const code = codeOf(error);
      if (code === 'SQLITE_FULL') {
        return new Problem('storage_full', 'The disk of the service is full. Nothing was changed.', {
          cause: error,
        });
      }
      if (/^SQLITE_(BUSY|IOERR|CANTOPEN|READONLY|ABORT)/.test(code)) {
        return new Problem('unavailable', 'The database file cannot be used right now. Try again shortly.', {
          cause: error,
          headers: { 'retry-after': '5' },
        });
      }
      return undefined;
    },
    explainStart(error) {
      const code = codeOf(error);
      return /^SQLITE_(BUSY|IOERR|CANTOPEN|READONLY|NOTADB|CORRUPT|FULL)/.test(code)
        ? cannotUse(file, 'writing', error)
        : undefined;
    },
  };
}

const cannotUse = (file: string, what: string, error: unknown) =>
  new UsageError(
    `The database file ${file} cannot be opened for ${what} (${error instanceof Error ? error.message : error}). ` +
      'Point MUSTER_DATABASE_URL at a file in a folder that this user may write to.',
    { cause: error },
  );

function open(file: string, options: FileOptions): Sqlite.Database {
  try {
    return openFile(file, options);
  } catch (error) {
    throw cannotUse(file, options.readonly ? 'reading' : 'writing', error);
  }
}

const codeOf = (error: unknown) => (error instanceof Sqlite.SqliteError ? error.code : '');

const dialect = (driver: SqliteDriver): Dialect => ({
  createDriver: () => driver,
  createAdapter: () => new SqliteTransactionalAdapter(),
  createQueryCompiler: () => new MusterSqliteCompiler(),
  createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
});

/** A writing transaction is immediate here, so migrations are safe in one, also with two processes at once. */
class SqliteTransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl() {
    return true;
  }
  override get supportsMultipleConnections() {
    return true;
  }
}

const spellings: Spellings = {
  parsed_json: spelling`json(${0})`,
  json_boolean: spelling`json(case ${0} when 1 then 'true' when 0 then 'false' end)`,
  json_texts: spelling`json_each(${0})`,
  is_one_of: spelling`${0} in (select value from json_each(${1}))`,
  stored_table: spelling`main.${0}`,
  json_array_of: spelling`json_group_array(${0} order by ${1})`,
  is_among: spelling`${0} in (select value from json_each(${1}))`,
  has_part: spelling`(instr(${0}, ${1}) > 0)`,
  // Writers take turns here anyway.
  held_lock: spelling`${0}`,
  shared_row_lock: spelling`${0}`,
  row_lock: spelling`${0}`,
  days_between: spelling`cast(julianday(${1}) - julianday(${0}) as integer)`,
};

class MusterSqliteCompiler extends SqliteQueryCompiler {
  protected override visitFunction(node: FunctionNode): void {
    const spelled = spellings[node.func];
    if (!spelled) super.visitFunction(node);
    else
      for (const part of spelled(node)) typeof part === 'string' ? this.append(part) : this.visitNode(part);
  }
}
