import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import pg from 'pg';

/** Maximum number of prepared statements per connection. They use memory of the server. */
const maxPrepared = 100;

/** Prepares frequent statements, because planning a page takes as long as reading it. */
export class PreparingClient extends pg.Client {
  readonly #prepared = new LRUCache<string, true>({
    max: maxPrepared,
    dispose: (_, name, reason) => {
      if (reason === 'evict') super.query(new CloseStatement(name));
    },
  });

  // biome-ignore lint/suspicious/noExplicitAny: the method has many overloads, and the pool and Kysely use several
  override query(query: any, ...rest: any[]): any {
    const [values, ...callback] = rest;
    const name = typeof query === 'string' && Array.isArray(values) ? preparedName(query) : undefined;
    if (name === undefined) return super.query(query, ...(rest as []));
    this.#prepared.set(name, true);
    return super.query({ name, text: query, values }, ...(callback as []));
  }
}

/** A name that only this text has, also among other processes that share connections through a pooler. */
export const statementName = (text: string) => `m_${hash('sha256', text, 'hex').slice(0, 32)}`;

/** The names of recent statements, empty for a statement that ran only once: it is prepared when it runs again. */
const names = new LRUCache<string, string>({ max: 500 });

/** Returns the name under which to prepare a statement, or undefined if it should not be prepared. */
function preparedName(text: string): string | undefined {
  const recent = names.get(text);
  if (recent) return recent;
  if (recent === undefined && !isPreparable(text)) return undefined;
  const name = recent === undefined ? '' : statementName(text);
  names.set(text, name);
  return name || undefined;
}

/**
 * Does not prepare `select *`, which fails when the columns change; `like`, whose best plan depends on the pattern; and
 * `= any(…)`, for which a plan made for an empty table would stay in use while an import fills the table.
 */
const isPreparable = (text: string) =>
  /^(select|with|insert|update|delete)\b/.test(text) && !/(select |\.)\*| like | = any\(/.test(text);

/**
 * Frees a prepared statement with the Close message of the protocol, which, unlike DEALLOCATE, also works in a failed
 * transaction. `parsedStatements` is the client's own list of prepared statements.
 */
class CloseStatement extends pg.Query {
  readonly #name: string;

  constructor(name: string) {
    super('');
    this.#name = name;
  }

  override submit = (connection: pg.Connection & { parsedStatements?: Record<string, string> }) => {
    delete connection.parsedStatements?.[this.#name];
    connection.close({ type: 'S', name: this.#name }, false);
    connection.sync();
  };

  // If the connection breaks here, the next statement fails.
  handleError() {}
}
