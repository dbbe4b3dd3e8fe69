import pg from 'pg';
import { codeOf } from './errors.ts';

/** What an operator or a client reads about it. */
export const poolerAdvice =
  'The database is behind a pooler without prepared statements. Set MUSTER_DATABASE_PREPARE=off, or use pgbouncer 1.21 or newer with max_prepared_statements = 100.';

/** A statement is missing, or exists already, on the connection that the pooler chose. */
export const isPoolerError = (error: unknown): boolean => ['26000', '42P05'].includes(codeOf(error));

/**
 * Whether two connections have separate prepared statements, as connections to a server have. A pooler in transaction mode
 * that does not know them runs both on one connection of its own.
 */
export async function hasPreparedStatements(connectionString: string): Promise<boolean> {
  const name = `muster_${crypto.randomUUID()}`;
  const clients = [1, 2].map(
    () => new pg.Client({ connectionString, connectionTimeoutMillis: 2_000, query_timeout: 2_000 }),
  );
  try {
    for (const client of clients) {
      client.on('error', () => {});
      await client.connect();
    }
    // The first one again: its statement may be missing, or be that of the other one.
    for (const index of [0, 1, 0]) {
      const { rows } = (await clients[index]?.query({ name, text: `select ${index} as client` })) ?? {};
      if (rows?.[0]?.client !== index) return false;
    }
    return true;
  } catch (error) {
    if (isPoolerError(error)) return false;
    throw error;
  } finally {
    for (const client of clients) client.end().catch(() => {});
  }
}
