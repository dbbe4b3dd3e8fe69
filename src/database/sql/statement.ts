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
import { isBatch } from './parameters.ts';

/** A query whose SQL is made only once. Values for its holes come with each use; on SQLite also lists of them, for many runs. */
export type Statement<Row> = (db: Kysely<Tables>, values?: object) => Promise<QueryResult<Row>>;

type Query<Row> = Compilable<Row> & { toOperationNode(): RootOperationNode };

/** Building and compiling a query takes longer than running it; what runs with every request does it once. */
export function statement<Row>(build: (db: Kysely<Tables>) => Query<Row>): Statement<Row> {
  let node: RootOperationNode | undefined;
  const compiled = new WeakMap<DialectAdapter, CompiledQuery<Row>>();

  return (db, values = {}) => {
    node ??= build(anyDatabase).toOperationNode();
    const executor = db.getExecutor();
    const queryId = createQueryId();
    const asked = executor.transformQuery(node, queryId);
    // A plugin that changes queries, such as one that hides rows, changes this one, too.
    const isOwn = asked !== node;
    const query = (!isOwn && compiled.get(executor.adapter)) || executor.compileQuery<Row>(asked, queryId);
    if (!isOwn) compiled.set(executor.adapter, query);
    return executor.executeQuery<Row>({
      ...query,
      queryId,
      parameters: isBatch(values) ? values.map((list) => filled(query, list)) : filled(query, values),
    });
  };
}

/** The statement with this name, which must contain everything its SQL depends on, such as the columns. */
export const namedStatement = <Row>(
  name: string,
  build: (db: Kysely<Tables>) => Query<Row>,
): Statement<Row> => cached(`statement ${name}`, () => statement(build));

/**
 * Statements and lists that depend on the shape of a request: the columns of a PATCH, the filters of a list. Clients
 * choose the shapes, so the cache is bounded.
 */
const cache = new LRUCache<string, object>({ max: 1000 });

/** The cached value with this key, created if there is none. Keys of different kinds of values must differ. */
export function cached<Value extends object>(key: string, create: () => Value): Value {
  const known = cache.get(key) as Value | undefined;
  if (known) return known;
  const value = create();
  cache.set(key, value);
  return value;
}

/** How many entries the cache holds. */
export const cachedCount = () => cache.size;

/** Stands in a statement for a value that is given with each use, by name or, in a list, by number. */
export const param = <Value>(name: string | number): RawBuilder<Value> => sql.val(new Param(name)) as never;

class Param {
  readonly name: string | number;
  constructor(name: string | number) {
    this.name = name;
  }
}

const filled = ({ parameters }: CompiledQuery, values: object) =>
  parameters.map((value) =>
    value instanceof Param ? (values as Record<string | number, unknown>)[value.name] : value,
  );

/** To build with: no plugin of a transaction or a request gets into what is kept. */
const anyDatabase = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});
