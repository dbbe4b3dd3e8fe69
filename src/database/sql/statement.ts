import {
  type Compilable,
  type CompiledQuery,
  createQueryId,
  type DialectAdapter,
  DummyDriver,
  Kysely,
  type QueryResult,
  type RawBuilder,
  type RootOperationNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Tables } from '../tables.ts';
import { isBatch } from './batches.ts';

/**
 * A query whose SQL is compiled once. `values` contains the values of its params; where the engine runs batches, it may be
 * a list of such values, one for each run.
 */
export type Statement<Row> = {
  (db: Kysely<Tables>, values?: object): Promise<QueryResult<Row>>;
  /**
   * Runs a statement whose result nobody needs. Where the engine can, it does not wait for the database: the next
   * statement of the transaction waits for both and fails with the error of either.
   */
  send(db: Kysely<Tables>, values?: object): Promise<void>;
  /** Like `send`, with the rows: where the engine can, they arrive together with the result of the next statement. */
  sendAhead(db: Kysely<Tables>, values?: object): Promise<{ rows: Promise<Row[]> }>;
};

type Query<Row> = Compilable<Row> & { toOperationNode(): RootOperationNode };

/** Building and compiling a query takes longer than running it, so frequent queries are compiled once. */
export function statement<Row>(build: (db: Kysely<Tables>) => Query<Row>): Statement<Row> {
  let node: RootOperationNode | undefined;
  const compiled = new WeakMap<DialectAdapter, CompiledQuery<Row>>();

  function prepare(db: Kysely<Tables>, values: object) {
    node ??= build(queryBuilder).toOperationNode();
    const executor = db.getExecutor();
    const queryId = createQueryId();
    const transformed = executor.transformQuery(node, queryId);
    // A plugin, such as the project scope, may change the query. Only the unchanged query is cached.
    const isChanged = transformed !== node;
    const query =
      (!isChanged && compiled.get(executor.adapter)) || executor.compileQuery<Row>(transformed, queryId);
    if (!isChanged) compiled.set(executor.adapter, query);
    const parameters = isBatch(values)
      ? values.map((list) => fillParams(query, list))
      : fillParams(query, values);
    return { executor, query: { ...query, queryId }, parameters };
  }

  const run = (db: Kysely<Tables>, values = {}) => {
    const { executor, query, parameters } = prepare(db, values);
    return executor.executeQuery<Row>({ ...query, parameters });
  };
  const sendAhead = async (db: Kysely<Tables>, values = {}) => {
    const { executor, query, parameters } = prepare(db, values);
    const unawaited = UnawaitedParameters.from(parameters) as UnawaitedParameters<Row>;
    const result = await executor.executeQuery<Row>({ ...query, parameters: unawaited });
    const rows = unawaited.response?.then((response) => response.rows) ?? Promise.resolve(result.rows);
    rows.catch(() => {});
    return { rows };
  };
  const send = async (db: Kysely<Tables>, values = {}) => void (await sendAhead(db, values));
  return Object.assign(run, { send, sendAhead });
}

/** The parameters of a statement that is sent without waiting. They and the text are all that Kysely hands to a driver. */
export class UnawaitedParameters<Row = unknown> extends Array<unknown> {
  /** What the database will respond, if the driver did not wait. */
  response?: Promise<{ rows: Row[] }>;
}

/** The cached statement with this name. The name must contain everything the SQL depends on, such as the columns. */
export const namedStatement = <Row>(
  name: string,
  build: (db: Kysely<Tables>) => Query<Row>,
): Statement<Row> => cached(`statement ${name}`, () => statement(build));

/**
 * Statements and lists that depend on the shape of a request, such as the columns of a PATCH or the filters of a list.
 * Clients choose the shapes, so the cache is bounded.
 */
const cache = new LRUCache<string, object>({ max: 1000 });

/** Returns the cached value, or creates and caches it. Different kinds of values need different key prefixes. */
export function cached<Value extends object>(key: string, create: () => Value): Value {
  const existing = cache.get(key) as Value | undefined;
  if (existing) return existing;
  const value = create();
  cache.set(key, value);
  return value;
}

export const cachedCount = () => cache.size;

/** A placeholder for a value that is passed with each run, by name or, if the values are a list, by index. */
export const param = <Value>(name: string | number): RawBuilder<Value> => sql.val(new Param(name)) as never;

class Param {
  readonly name: string | number;
  constructor(name: string | number) {
    this.name = name;
  }
}

const fillParams = ({ parameters }: CompiledQuery, values: object) =>
  parameters.map((value) =>
    value instanceof Param ? (values as Record<string | number, unknown>)[value.name] : value,
  );

/** Builds query nodes without the plugins of a request or transaction, so that they can be cached. It never runs them. */
const queryBuilder = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});
