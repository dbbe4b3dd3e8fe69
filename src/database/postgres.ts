import {
  type ColumnDefinitionNode,
  DataTypeNode,
  type FunctionNode,
  IdentifierNode,
  type OperationNode,
  PostgresDialect,
  PostgresQueryCompiler,
  RawNode,
  ValueNode,
} from 'kysely';
import pg from 'pg';
import Cursor from 'pg-cursor';
import { Problem, UsageError } from '../errors.ts';
import { type Engine, mostStreams } from './engine.ts';
import { type Spellings, spelling } from './functions.ts';
import { coalesced, type Versions } from './versions.ts';

/** Pools apart, so that long reads never keep a short one from its connection. */
export function postgresEngine(url: string): Engine {
  const pools = { quick: pool(url, 10), slow: pool(url, 4), stream: pool(url, mostStreams) };
  const quick = new MusterPostgresDialect({ pool: pools.quick });
  const versions = pool(url, 1);
  return {
    kind: 'postgres',
    name: withoutPassword(url),
    dialects: {
      write: quick,
      quick,
      slow: new MusterPostgresDialect({ pool: pools.slow }),
      stream: new MusterPostgresDialect({ pool: pools.stream, cursor: Cursor }),
    },
    versions: coalesced(versionsReader(versions)),
    checkReady: () => rejectReadOnly(versions),
    pools: () => Object.fromEntries(Object.entries(pools).map(([name, pool]) => [name, useOf(pool)])),
    close: () => versions.end(),
    isRetryable: (error) => ['40001', '40P01', '23503', '23505'].includes(codeOf(error)),
    explain(error) {
      if (codeOf(error) === '53100') {
        return new Problem('storage_full', 'The disk of the database is full. Nothing was changed.', {
          cause: error,
        });
      }
      if (isAway(error)) {
        return new Problem('unavailable', 'The database is away. Try again shortly.', {
          cause: error,
          headers: { 'retry-after': '5' },
        });
      }
      return undefined;
    },
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

function pool(connectionString: string, max: number): pg.Pool {
  const connections = new pg.Pool({
    connectionString,
    max,
    connectionTimeoutMillis: 10_000,
    application_name: 'muster',
    // An acknowledged write is on disk, whatever the server's own default is.
    options: '-c synchronous_commit=on',
    types: { getTypeParser },
    Client: PreparingClient,
  });
  // An idle connection may break at any time; the next query opens another.
  connections.on('error', () => {});
  return connections;
}

/** Has the server keep what comes again and again, parsed and planned: for a page that takes as long as to read it. */
class PreparingClient extends pg.Client {
  // biome-ignore lint/suspicious/noExplicitAny: one of many shapes of the same method, as the pool and Kysely call it
  override query(query: any, ...rest: any[]): any {
    const [values, ...others] = rest;
    const name = typeof query === 'string' && Array.isArray(values) ? preparedName(query) : undefined;
    return name === undefined
      ? super.query(query, ...(rest as []))
      : super.query({ name, text: query, values }, ...(others as []));
  }
}

/** Each connection keeps at most so many, in the memory of the server. */
const mostPrepared = 200;
const prepared = new Map<string, string>();
const seenOnce = new Set<string>();

/**
 * The name of a statement that has come before. One with all columns of a table could not stay when they change, how a
 * text is best searched for depends on the text, and a way to find many that suits an empty table is not given up while
 * an import fills it.
 */
function preparedName(text: string): string | undefined {
  const known = prepared.get(text);
  if (known !== undefined) return known;
  const mayBeKept =
    /^(select|with|insert|update|delete)\b/.test(text) && !/(select |\.)\*| like | = any\(/.test(text);
  if (!mayBeKept || prepared.size === mostPrepared) return undefined;
  if (!seenOnce.delete(text)) {
    if (seenOnce.size === mostPrepared) seenOnce.clear();
    seenOnce.add(text);
    return undefined;
  }
  const name = `muster_${prepared.size}`;
  prepared.set(text, name);
  return name;
}

const useOf = ({ totalCount, idleCount, waitingCount }: pg.Pool) => ({
  used: totalCount - idleCount,
  idle: idleCount,
  waiting: waitingCount,
});

/** Compared as text, so that what has not changed stays the same object. */
function versionsReader(connection: pg.Pool): () => Promise<Versions> {
  const query = {
    name: 'versions',
    text: 'select json_object_agg(table_name, version)::text from data_versions',
    rowMode: 'array',
  };
  let seen = '';
  let versions: Versions;
  return async () => {
    const { rows } = await connection.query<[string]>(query);
    const [[text] = ['']] = rows;
    if (text !== seen) versions = JSON.parse(text);
    seen = text;
    return versions;
  };
}

/** A standby, or a server set to read-only, answers reads but rejects every write. */
async function rejectReadOnly(connection: pg.Pool): Promise<void> {
  const { rows } = await connection.query<[string]>({ text: 'show transaction_read_only', rowMode: 'array' });
  if (rows[0]?.[0] === 'on') throw isReadOnly();
}

const isReadOnly = (cause?: unknown) =>
  new Problem('unavailable', 'The database takes no writes: it is a standby or set to read-only.', {
    cause,
    headers: { 'retry-after': '5' },
  });

/** `count(*)` and its like are bigint, which the driver would otherwise give as text. */
const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: unknown) =>
  oid === pg.types.builtins.INT8 || oid === pg.types.builtins.NUMERIC
    ? Number
    : pg.types.getTypeParser(oid, format as 'text');

const codeOf = (error: unknown) =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** No connection, none left, shutting down, not let in, or no such database. */
const isAway = (error: unknown) =>
  /^(08|53|57P|28|3D|ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|EPIPE)/.test(codeOf(error)) ||
  (error instanceof Error &&
    /Connection terminated|timeout exceeded when trying to connect/.test(error.message));

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
  held_lock: spelling`pg_advisory_xact_lock(hashtext(${0}))`,
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
