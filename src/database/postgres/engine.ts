import {
  type ColumnDefinitionNode,
  DataTypeNode,
  type FunctionNode,
  IdentifierNode,
  type OperationNode,
  PostgresDialect,
  PostgresQueryCompiler,
  RawNode,
  sql,
  ValueNode,
} from 'kysely';
import pg from 'pg';
import Cursor from 'pg-cursor';
import { UsageError } from '../../core/errors.ts';
import { type Engine, maxStreams } from '../engine.ts';
import { type Spellings, spelling } from '../sql/functions.ts';
import { coalesced, type Versions } from '../versions.ts';
import { codeOf, explainError, isAway, readOnly } from './errors.ts';
import { closeCursor, type IsAlive, type Limits, watchResponse } from './limits.ts';
import { PreparingClient } from './prepared.ts';

/** Pools apart, so that long reads never keep a short one from its connection. */
export function postgresEngine(url: string): Engine {
  const versions = pool(url, 1, versionLimits);
  const isAlive = aliveCheck(versions);
  const pools = {
    quick: pool(url, 10, quickLimits, isAlive),
    slow: pool(url, 4, slowLimits, isAlive),
    stream: pool(url, maxStreams, streamLimits, isAlive),
  };
  const quick = new MusterPostgresDialect({ pool: pools.quick });
  return {
    kind: 'postgres',
    name: withoutPassword(url),
    dialects: {
      write: quick,
      quick,
      slow: new MusterPostgresDialect({ pool: pools.slow }),
      stream: new MusterPostgresDialect({ pool: pools.stream, cursor: Cursor }),
    },
    migrationDialect: () => new MusterPostgresDialect({ pool: pool(url, 1, migrationLimits) }),
    versions: coalesced(versionsReader(versions)),
    checkReady: () => rejectReadOnly(versions),
    pools: () => Object.fromEntries(Object.entries(pools).map(([name, pool]) => [name, useOf(pool)])),
    close: () => versions.end(),
    rehearsal: { begin: (db) => sql`set local muster.rehearsal = 'on'`.execute(db) },
    isRetryable: (error) => ['40001', '40P01', '55P03', '23503', '23505'].includes(codeOf(error)),
    isConnectionLost: isAway,
    explain: explainError,
    explainStart: (error) =>
      isAway(error)
        ? new UsageError(
            `The database ${withoutPassword(url)} cannot be reached (${(error instanceof Error && error.message) || codeOf(error)}). ` +
              'Check MUSTER_DATABASE_URL, and that the server runs and lets this user in.',
            { cause: error },
          )
        : undefined,
  };
}

/*
 * A request waits for a connection, then for its statements, and is answered within 10 seconds when the server responds
 * to nothing. docs/operations.md states these limits.
 */
const versionLimits: Limits = { connectMs: 2_000, statementMs: 2_000, responseMs: 2_000 };
const quickLimits: Limits = {
  connectMs: 5_000,
  statementMs: 8_000,
  lockMs: 5_000,
  idleInTransactionMs: 60_000,
  responseMs: 9_000,
};
const slowLimits: Limits = { ...quickLimits, connectMs: 8_000, statementMs: 30_000, responseMs: 31_000 };
const streamLimits: Limits = { connectMs: 8_000, lockMs: 5_000, responseMs: 60_000 };
/** A migration takes as long as its tables are large, and waits while another instance migrates. */
const migrationLimits: Limits = { connectMs: 10_000, responseMs: 2 ** 31 - 1 };

function pool(connectionString: string, max: number, limits: Limits, isAlive?: IsAlive): pg.Pool {
  const connections = new pg.Pool({
    connectionString,
    max,
    connectionTimeoutMillis: limits.connectMs,
    statement_timeout: limits.statementMs,
    lock_timeout: limits.lockMs,
    idle_in_transaction_session_timeout: limits.idleInTransactionMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'muster',
    // An acknowledged write is on disk, whatever the server's own default is.
    options: '-c synchronous_commit=on',
    types: { getTypeParser },
    Client: watchedClient(limits, isAlive),
  });
  // An idle connection may break at any time; the next query opens another.
  connections.on('error', () => {});
  return connections;
}

/** A client that a lost connection, or one that has become silent, does no harm to: see `watchResponse`. */
const watchedClient = (limits: Limits, isAlive: IsAlive | undefined) =>
  class extends PreparingClient {
    hasEnded = false;

    constructor(config?: pg.ClientConfig) {
      super(config);
      // The pool listens only while a client is idle. A client in use fails its queries by itself, but an error that
      // nothing listens to ends the process.
      this.on('error', () => {});
      this.once('end', () => {
        this.hasEnded = true;
      });
    }

    // biome-ignore lint/suspicious/noExplicitAny: one of many shapes of the same method, as the pool and Kysely call it
    override query(query: any, ...rest: any[]): any {
      const watch = <T>(response: Promise<T>) => watchResponse(this, response, limits, isAlive);
      const result = super.query(query, ...rest);
      if (!(result instanceof Cursor)) return watch(result);
      return {
        read: (rows: number) => watch(result.read(rows)),
        close: () => watch(closeCursor(this, result)),
      };
    }
  };

const useOf = ({ totalCount, idleCount, waitingCount }: pg.Pool) => ({
  used: totalCount - idleCount,
  idle: idleCount,
  waiting: waitingCount,
});

/** Whether the server responds to anything. Callers share one check: a frozen server is asked once, not by all who wait. */
function aliveCheck(connections: pg.Pool): IsAlive {
  let running: Promise<boolean> | undefined;
  const check = async () => {
    try {
      await queryOnce(connections, 'select 1');
      return true;
    } catch (error) {
      // An error that the server sent is a response, too.
      return error instanceof pg.DatabaseError;
    } finally {
      running = undefined;
    }
  };
  return () => {
    running ??= check();
    return running;
  };
}

/** `query` of the pool uses callbacks, which are not watched. */
async function queryOnce<Row>(connections: pg.Pool, query: string | pg.QueryArrayConfig) {
  const client = await connections.connect();
  try {
    return (await client.query(query as pg.QueryArrayConfig)) as unknown as { rows: Row[] };
  } finally {
    client.release();
  }
}

/** Compared as text, so that what has not changed stays the same object. */
function versionsReader(connection: pg.Pool): () => Promise<Versions> {
  const query = {
    name: 'versions',
    text: 'select json_object_agg(table_name, version)::text from data_versions',
    rowMode: 'array' as const,
  };
  let seen = '';
  let versions: Versions;
  return async () => {
    const { rows } = await queryOnce<[string]>(connection, query);
    const [[text] = ['']] = rows;
    if (text !== seen) versions = JSON.parse(text);
    seen = text;
    return versions;
  };
}

/** A standby, or a server set to read-only, responds to reads but rejects every write. */
async function rejectReadOnly(connections: pg.Pool): Promise<void> {
  const { rows } = await queryOnce<{ transaction_read_only: string }>(
    connections,
    'show transaction_read_only',
  );
  if (rows[0]?.transaction_read_only === 'on') throw readOnly();
}

/** `count(*)` and its like are bigint, which the driver would otherwise give as text. */
const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: unknown) =>
  oid === pg.types.builtins.INT8 || oid === pg.types.builtins.NUMERIC
    ? Number
    : pg.types.getTypeParser(oid, format as 'text');

function withoutPassword(url: string): string {
  const shown = new URL(url);
  if (shown.password) shown.password = '***';
  return shown.href;
}

class MusterPostgresDialect extends PostgresDialect {
  override createQueryCompiler() {
    return new MusterPostgresCompiler();
  }
}

/** A transaction that is always rolled back breaks no rule together with others, and must not make them wait. */
const unlessRehearsal =
  (lock: Spellings[string]): Spellings[string] =>
  (call) => [
    "case when current_setting('muster.rehearsal', true) = 'on' then null else ",
    ...lock(call),
    ' end',
  ];

const spellings: Spellings = {
  parsed_json: spelling`cast(${0} as json)`,
  json_boolean: spelling`(${0})`,
  json_texts: spelling`json_array_elements_text(cast(${0} as json))`,
  // Taken apart by nothing but constants, so that the planner knows how many there are.
  is_one_of: spelling`${0} = any(string_to_array(btrim(${1}, '[]"'), '","'))`,
  stored_table: spelling`${0}`,
  json_array_of: spelling`coalesce(json_agg(${0} order by ${1}), '[]')`,
  is_among: spelling`${0} = any(array(select json_array_elements_text(cast(${1} as json))))`,
  // A pattern can be found by its grams, of three characters each; a shorter text is looked for sooner as it is.
  has_part: (call) => {
    const [text, part] = call.arguments as [OperationNode, ValueNode];
    if ([...String(part.value)].length < 3) return ['(strpos(', text, ', ', part, ') > 0)'];
    const pattern = `%${String(part.value).replace(/[%_!]/g, '!$&')}%`;
    return [text, ' like ', ValueNode.create(pattern), " escape '!'"];
  },
  held_lock: unlessRehearsal(spelling`pg_advisory_xact_lock(hashtext(${0}))`),
  // A transaction may lock any number of rows, the server's table of locks has some thousand places: so rows share 64.
  shared_row_lock: unlessRehearsal(spelling`pg_advisory_xact_lock_shared(1, hashtext(${0}) & 63)`),
  row_lock: unlessRehearsal(spelling`pg_advisory_xact_lock(1, hashtext(${0}) & 63)`),
  days_between: spelling`(cast(${1} as date) - cast(${0} as date))`,
  // row_to_json takes any number of members; json_build_object takes fifty.
  json_object: ({ arguments: pairs }) => {
    const members = pairs.flatMap((value, i) => {
      const name = pairs[i - 1] as ValueNode;
      return i % 2 === 1
        ? [i === 1 ? '' : ', ', value, ' as ', IdentifierNode.create(String(name.value))]
        : [];
    });
    return ['(select row_to_json(o) from (select ', ...members, ') as o)'];
  },
};

class MusterPostgresCompiler extends PostgresQueryCompiler {
  /** Texts compare by their bytes, as in SQLite; a server's locale would order them otherwise. */
  protected override visitColumnDefinition(node: ColumnDefinitionNode): void {
    const isText = DataTypeNode.is(node.dataType) && node.dataType.dataType === 'text';
    const dataType = RawNode.createWithSql('text collate "C"');
    super.visitColumnDefinition(isText ? { ...node, dataType } : node);
  }

  protected override visitFunction(node: FunctionNode): void {
    const spelled = spellings[node.func];
    if (!spelled) super.visitFunction(node);
    else
      for (const part of spelled(node)) typeof part === 'string' ? this.append(part) : this.visitNode(part);
  }
}
