import {
  type ColumnDefinitionNode,
  DataTypeNode,
  type FunctionNode,
  IdentifierNode,
  Kysely,
  type OperationNode,
  PostgresDialect,
  type PostgresDialectConfig,
  PostgresQueryCompiler,
  RawNode,
  sql,
  ValueNode,
} from 'kysely';
import pg from 'pg';
import Cursor from 'pg-cursor';
import { withoutPassword, withStrictTls } from '../../config-database.ts';
import { Problem, UsageError, unavailable } from '../../core/errors.ts';
import { accents } from '../../core/text.ts';
import type { Engine, Report } from '../engine.ts';
import {
  baseUrlFunction,
  type CompilerSettings,
  type DialectFunctions,
  dialectFunction,
} from '../sql/functions.ts';
import type { Tables } from '../tables.ts';
import { coalesced, type Versions } from '../versions.ts';
import { type PostgresOptions, pool, type Server } from './connections.ts';
import { codeOf, diskFull, explainError, isAway, readOnly } from './errors.ts';
import type { IsAlive, Limits } from './limits.ts';
import { createEventWatch } from './listen.ts';
import { createPoolShrinker, poolSizes } from './pool-sizes.ts';
import { hasPreparedStatements, isPoolerError, poolerAdvice } from './pooler.ts';
import { statementName } from './prepared.ts';
import {
  describeNewSchema,
  describeSchema,
  describeTables,
  describeViolation,
  dropIndexes,
  dropTables,
  lockTables,
} from './restore.ts';
import { explainStart, isAbsent, missingTableRights, targetOf } from './start-errors.ts';

/** Uses separate pools, so that a short read never waits for a connection behind long reads. */
export function postgresEngine(
  url: string,
  { prepare = true, maxConnections = 24 }: PostgresOptions = {},
  settings: CompilerSettings = { baseUrl: '' },
  report: Report = () => {},
): Engine {
  const dialect = (config: PostgresDialectConfig) => new MusterPostgresDialect(config, settings);
  const name = withoutPassword(url);
  const target = targetOf(url, name);
  const connectionString = withStrictTls(url);
  const server: Server = { url: connectionString, prepare, rejectsSettings: false, timeline: 0 };
  const sizes = poolSizes(maxConnections);
  /** Set by a request that failed because of a pooler, until readiness finds that it works. */
  let hasPoolerErrors = false;
  /** Set by a write that failed, until a probe finds that it works: nothing else tells how full the disk of a server is. */
  let isDiskFull = false;
  const versions = pool(server, versionLimits);
  const isAlive = createAliveCheck(versions);
  const pools = {
    quick: pool(server, quickLimits, { max: sizes.quick, isAlive, pipeline: true }),
    slow: pool(server, slowLimits, { max: sizes.slow, isAlive, pipeline: true, planner: scanPlanner }),
    stream: pool(server, streamLimits, { max: sizes.stream, isAlive }),
  };
  server.onRefused = createPoolShrinker(pools, report, maxConnections);
  const probeDisk = coalesced(() => queryOnce(pools.quick, diskProbe));
  const quick = dialect({ pool: pools.quick });
  const migrationDialect = () => dialect({ pool: pool(server, migrationLimits) });
  return {
    kind: 'postgres',
    name,
    dialects: {
      write: quick,
      quick,
      slow: dialect({ pool: pools.slow }),
      stream: dialect({ pool: pools.stream, cursor: Cursor }),
    },
    migrationDialect,
    describeTables,
    checkIntegrity: async () => [],
    describeSchema,
    describeNewSchema: (create) =>
      describeNewSchema(new Kysely<Tables>({ dialect: migrationDialect() }), create),
    dropIndexes,
    describeViolation,
    async restore({ tables, assertEmpty, load }) {
      const db = new Kysely<Tables>({ dialect: migrationDialect() });
      try {
        await db.transaction().execute(async (db) => {
          await lockTables(db, tables);
          await assertEmpty(db);
          await dropTables(db, tables);
          await load(db);
        });
        await sql`analyze`.execute(db);
      } finally {
        await db.destroy();
      }
    },
    versions: coalesced(createVersionsReader(versions, server)),
    watchEvents: createEventWatch(connectionString),
    async checkReady() {
      if (!hasPoolerErrors) return;
      if (!(await hasPreparedStatements(connectionString))) throw unavailable(poolerAdvice, 5);
      hasPoolerErrors = false;
    },
    async checkWritable() {
      await rejectReadOnly(versions);
      if (!isDiskFull) return;
      await probeDisk().catch((error) => {
        // A role that may not create temporary tables learns from its next write.
        if (codeOf(error) === diskFull) throw explainError(error) ?? error;
      });
      isDiskFull = false;
    },
    async storage() {
      // Not on the connection for versions, for which every cached response would wait.
      const { rows } = await queryOnce<{ bytes: number }>(
        pools.quick,
        'select pg_database_size(current_database()) as bytes',
      );
      return { databaseBytes: rows[0]?.bytes ?? 0, walBytes: undefined, freeBytes: undefined };
    },
    pools: () => Object.fromEntries(Object.entries(pools).map(([name, pool]) => [name, useOf(pool)])),
    close: () => versions.end(),
    writeLimits: { ...writeLimits, concurrency: Math.max(1, sizes.quick - Math.ceil(sizes.quick / 5)) },
    bulkBatchMs: 40,
    dryRun: { begin: (db) => sql`set local muster.dry_run = 'on'`.execute(db) },
    isRetryable: (error) => ['40001', '40P01', '55P03', '23503', '23505'].includes(codeOf(error)),
    isConnectionLost: isAway,
    isPromoted: (error) => codeOf(error) === '22012',
    explain(error) {
      isDiskFull ||= codeOf(error) === diskFull;
      if (!isPoolerError(error)) return explainError(error);
      hasPoolerErrors = true;
      return new Problem('internal', poolerAdvice, { cause: error });
    },
    isAbsent,
    checkReachable: async () => void (await queryOnce(versions, 'select 1')),
    async checkSetup(db) {
      if (prepare && !(await hasPreparedStatements(connectionString))) throw new UsageError(poolerAdvice);
      await checkTableRights(db, target);
      await sql.raw(`select ${serverTimeline}`).execute(db);
    },
    explainStart: (error) => explainStart(error, target),
  };
}

/*
 * If the server does not respond, these limits end a request within 10 seconds. docs/operations.md documents them.
 */
const versionLimits: Limits = { connectMs: 2_000, statementMs: 2_000, responseMs: 2_000 };
const quickLimits: Limits = {
  connectMs: 5_000,
  statementMs: 8_000,
  lockMs: 5_000,
  idleInTransactionMs: 60_000,
  responseMs: 9_000,
};
/** Documented as 9 seconds, which leaves time for the response. The last attempt may wait for one lock. */
const writeLimits = { totalMs: 8_000, retryMs: 3_500 };
const slowLimits: Limits = { ...quickLimits, connectMs: 8_000, statementMs: 30_000, responseMs: 31_000 };
/**
 * Scans of lists and summaries read an index instead of the table: by default the planner takes each page of an index for
 * a seek of a disk. Parallel workers would save time, but no CPU time, which others need. With less memory (in kB), summaries
 * would sort on disk.
 */
const scanPlanner = { random_page_cost: '1.1', max_parallel_workers_per_gather: '0', work_mem: '32768' };
/** Together less than the time after which the service closes an idle connection, so that its client gets 503. */
export const streamLimits = { connectMs: 8_000, lockMs: 5_000, responseMs: 50_000 } satisfies Limits;
/** Migrating a large table takes long, and so may waiting for another instance that migrates. */
const migrationLimits: Limits = { connectMs: 10_000, responseMs: 2 ** 31 - 1 };

const useOf = ({ totalCount, idleCount, waitingCount, options }: pg.Pool) => ({
  max: options.max,
  used: totalCount - idleCount,
  idle: idleCount,
  waiting: waitingCount,
});

/** Checks whether the server responds at all. Concurrent callers share one check. */
function createAliveCheck(connections: pg.Pool): IsAlive {
  let running: Promise<boolean> | undefined;
  const check = async () => {
    try {
      await queryOnce(connections, 'select 1');
      return true;
    } catch (error) {
      // An error from the server is a response as well.
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

/** `watchedClient` watches promises only, but `pool.query` uses callbacks. */
async function queryOnce<Row>(
  connections: pg.Pool,
  query: string | pg.QueryArrayConfig,
  check?: (rows: Row[]) => void,
) {
  const client = await connections.connect();
  try {
    const result = (await client.query(query as pg.QueryArrayConfig)) as unknown as { rows: Row[] };
    check?.(result.rows);
    client.release();
    return result;
  } catch (error) {
    // The next connection may lead to another server.
    client.release(true);
    throw error;
  }
}

const serverTimeline =
  "cast(cast('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8) as bit(32)) as bigint)";

/** Compares the versions as text, so that unchanged versions are the same object. Fails on a standby: see `explainError`. */
function createVersionsReader(connections: pg.Pool, server: Server): () => Promise<Versions> {
  const text = `select json_object_agg(table_name, version)::text from (select table_name, version from data_versions
    union all select 'server_timeline', ${serverTimeline}) as versions`;
  const query = { name: statementName(text), text, rowMode: 'array' as const };
  let lastText = '';
  let versions: Versions;
  const check = ([[text] = ['']]: [string][]) => {
    if (text === lastText) return;
    const read = JSON.parse(text) as Required<Versions>;
    if (read.server_timeline < server.timeline) throw unavailable(formerPrimary, 1);
    server.timeline = read.server_timeline;
    versions = read;
    lastText = text;
  };
  return () => queryOnce(connections, query, check).then(() => versions);
}

const formerPrimary =
  'The database is a former primary, which may lack the latest changes: its timeline is older than before. Connect to ' +
  'the current primary, or restart the service if you have replaced the database.';

/** A standby or a server set to read-only serves reads but rejects every write. */
async function rejectReadOnly(connections: pg.Pool): Promise<void> {
  const { rows } = await queryOnce<{ transaction_read_only: string }>(
    connections,
    'show transaction_read_only',
  );
  if (rows[0]?.transaction_read_only === 'on') throw readOnly();
}

/** Takes some pages of the disk, and gives them back at once. */
const diskProbe =
  'create temp table muster_disk_probe on commit drop as select n, md5(n::text) from generate_series(1, 2000) as n';

/** Another user may have created the tables. */
async function checkTableRights(db: Kysely<Tables>, target: ReturnType<typeof targetOf>): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_class as c
      join pg_class as versions on versions.oid = to_regclass('data_versions')
    where c.relkind = 'r' and c.relnamespace = versions.relnamespace and c.relowner = versions.relowner
      and not (has_table_privilege(c.oid, 'select') and has_table_privilege(c.oid, 'insert')
        and has_table_privilege(c.oid, 'update') and has_table_privilege(c.oid, 'delete'))
    order by name`.execute(db);
  if (rows.length > 0)
    throw missingTableRights(
      rows.map(({ name }) => name),
      target,
    );
}

class MusterPostgresDialect extends PostgresDialect {
  readonly #settings: CompilerSettings;

  constructor(config: PostgresDialectConfig, settings: CompilerSettings) {
    super(config);
    this.#settings = settings;
  }

  override createQueryCompiler() {
    return new MusterPostgresCompiler(this.#settings);
  }
}

/** A dry run is always rolled back, so it needs no locks, and must not make other transactions wait. */
const unlessDryRun =
  (lock: DialectFunctions[string]): DialectFunctions[string] =>
  (call) => [
    "case when current_setting('muster.dry_run', true) = 'on' then null else ",
    ...lock(call),
    ' end',
  ];

/** What `fold` replaces by a space. NFKD makes a space of most other ones. */
const blanks = "'[ \t-\r\u1680\u2028\u2029\ufeff]+', ' ', 'g'";

const dialectFunctions: DialectFunctions = {
  parsed_json: dialectFunction`cast(${0} as json)`,
  json_boolean: dialectFunction`(${0})`,
  json_texts: dialectFunction`json_array_elements_text(cast(${0} as json))`,
  json_items: dialectFunction`jsonb_array_elements(cast(${0} as jsonb))`,
  // Not `json_build_array`, which puts spaces between the items.
  json_array: ({ arguments: values }) => [
    "'[' || concat_ws(','",
    ...values.flatMap((value) => [', coalesce(cast(to_json(', value, ") as text), 'null')"]),
    ") || ']'",
  ],
  // `string_to_array` of a constant is evaluated during planning, so that the planner knows the length of the array.
  in_constant_array: dialectFunction`${0} = any(string_to_array(btrim(${1}, '[]"'), '","'))`,
  stored_table: dialectFunction`${0}`,
  not_indexed: dialectFunction`${0}`,
  // A limit that is not a constant: the planner assumes a tenth of the rows. All rows are returned.
  optimize_for_first_rows: dialectFunction`limit (select 9223372036854775807)`,
  // Not `json_agg`, which puts spaces between the items: responses and their ETags are the same on every engine.
  json_array_of: dialectFunction`cast('[' || coalesce(string_agg(coalesce(cast(to_json(${0}) as text), 'null'), ',' order by ${1}), '') || ']' as json)`,
  in_json_array: dialectFunction`${0} = any(array(select json_array_elements_text(cast(${1} as json))))`,
  // Without an index, `strpos` takes about half the time of `like`, which tells the planner that few rows match.
  contains_text: (call) => {
    const [text, part] = call.arguments as [OperationNode, ValueNode];
    return ['(strpos(', text, ', ', part, ') > 0 and ', ...matchesPattern(text, part), ')'];
  },
  // The index finds patterns of three characters or more.
  contains_indexed_text: (call) => {
    const [text, part] = call.arguments as [OperationNode, ValueNode];
    if ([...String(part.value)].length < 3) return ['(strpos(', text, ', ', part, ') > 0)'];
    return matchesPattern(text, part);
  },
  folded: ({ arguments: [text = ''] }) => [
    '(coalesce(nullif(btrim(regexp_replace(replace(replace(replace(replace(translate(lower(normalize(regexp_replace(normalize(',
    ...[text, `, nfkd), '[${accents}]', '', 'g'), nfkd) collate "und-x-icu"), 'łøđıðς', 'lodidσ'), `],
    `'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'), ${blanks})), ''), btrim(regexp_replace(normalize(`,
    ...[text, `, nfkd), ${blanks}))) collate "C")`],
  ],
  folded_values: dialectFunction`lateral ${1}`,
  indexed_start: dialectFunction`substr(${0}, 1, ${1})`,
  first_two_lines: dialectFunction`(split_part(${0}, '\n', 1) || '\n' || split_part(${0}, '\n', 2))`,
  second_line: dialectFunction`split_part(${0}, '\n', 2)`,
  advisory_lock: unlessDryRun(dialectFunction`pg_advisory_xact_lock(hashtext(${0}))`),
  // A transaction may lock any number of rows, but the lock table of the server is limited: so all rows share 64 locks.
  shared_row_lock: unlessDryRun(dialectFunction`pg_advisory_xact_lock_shared(1, hashtext(${0}) & 63)`),
  row_lock: unlessDryRun(dialectFunction`pg_advisory_xact_lock(1, hashtext(${0}) & 63)`),
  wake_followers: dialectFunction`cast(pg_notify('muster_events', '') as text)`,
  // A division by zero, because SQL without functions of its own has no other way to fail. See `isPromoted`.
  count_unless_promoted: ({ arguments: [count = ''] }) => [
    ...['(', count, ' / (select case when version in (0, '],
    `${serverTimeline}) then 1 else 0 end from data_versions where table_name = 'timeline'))`,
  ],
  shifted_day: dialectFunction`to_char(cast(rtrim(${0}, 'Z') as timestamp) + cast(${1} as interval), 'YYYY-MM-DD')`,
  next_millisecond: dialectFunction`to_char(cast(rtrim(${0}, 'Z') as timestamp) + interval '1 millisecond', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  days_between: dialectFunction`(cast(${1} as date) - cast(${0} as date))`,
  // `json_build_object` is limited to 50 members, `row_to_json` is not.
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

function matchesPattern(text: OperationNode, { value }: ValueNode) {
  const pattern = `%${String(value).replace(/[%_!]/g, '!$&')}%`;
  return [text, ' like ', ValueNode.create(pattern), " escape '!'"];
}

class MusterPostgresCompiler extends PostgresQueryCompiler {
  readonly #functions: DialectFunctions;

  constructor(settings: CompilerSettings) {
    super();
    this.#functions = { ...dialectFunctions, base_url: baseUrlFunction(settings) };
  }

  /** Compares texts by their bytes, as SQLite does, instead of by the locale of the server. */
  protected override visitColumnDefinition(node: ColumnDefinitionNode): void {
    const isText = DataTypeNode.is(node.dataType) && node.dataType.dataType === 'text';
    const dataType = RawNode.createWithSql('text collate "C"');
    super.visitColumnDefinition(isText ? { ...node, dataType } : node);
  }

  protected override visitFunction(node: FunctionNode): void {
    const write = this.#functions[node.func];
    if (!write) super.visitFunction(node);
    else for (const part of write(node)) typeof part === 'string' ? this.append(part) : this.visitNode(part);
  }
}
