import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import pg from 'pg';

/** Prepared statements of one connection. They take memory of the server. */
const maxPrepared = 100;

/** Has the server keep frequent statements parsed and planned: planning a page takes as long as reading it. */
export class PreparingClient extends pg.Client {
  readonly #prepared = new LRUCache<string, true>({
    max: maxPrepared,
    dispose: (_, name, reason) => {
      if (reason === 'evict') super.query(closeStatement(name));
    },
  });

  // biome-ignore lint/suspicious/noExplicitAny: one of many shapes of the same method, as the pool and Kysely call it
  override query(query: any, ...rest: any[]): any {
    const [values, ...others] = rest;
    const name = typeof query === 'string' && Array.isArray(values) ? preparedName(query) : undefined;
    if (name === undefined) return super.query(query, ...(rest as []));
    this.#prepared.set(name, true);
    return super.query({ name, text: query, values }, ...(others as []));
  }
}

/**
 * The name of each statement seen lately, empty if seen only once: a statement takes a place among the prepared ones
 * when it comes again.
 */
const names = new LRUCache<string, string>({ max: 500 });

/**
 * The name to prepare a statement under, if it is worth it. It is a hash of the text, so that no name can ever stand for
 * another statement, also where a pooler shares connections between processes.
 */
function preparedName(text: string): string | undefined {
  const known = names.get(text);
  if (known) return known;
  if (known === undefined && !isPreparable(text)) return undefined;
  const name = known === undefined ? '' : `m_${hash('sha256', text, 'hex').slice(0, 24)}`;
  names.set(text, name);
  return name || undefined;
}

/**
 * One that selects `*` would fail when the columns change, how best to search for a text depends on the text, and a plan
 * that suits an empty table is not given up while an import fills it.
 */
const isPreparable = (text: string) =>
  /^(select|with|insert|update|delete)\b/.test(text) && !/(select |\.)\*| like | = any\(/.test(text);

/**
 * Frees a prepared statement by the protocol's Close message, which, unlike DEALLOCATE, also works in a failed
 * transaction. `parsedStatements` is where the client notes what need not be parsed again.
 */
const closeStatement = (name: string): pg.Submittable & Record<string, unknown> => ({
  submit(connection: pg.Connection & { parsedStatements?: Record<string, string> }) {
    delete connection.parsedStatements?.[name];
    connection.close({ type: 'S', name }, false);
    connection.sync();
  },
  // A connection that breaks here fails the statement that follows.
  handleError() {},
  handleReadyForQuery() {},
});
