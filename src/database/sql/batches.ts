import type { DialectAdapter, Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/**
 * Marks the adapter of an engine that runs a statement once for each list of parameters. For such an engine, many runs of
 * one statement are faster than one statement with many rows.
 */
export type BatchAdapter = DialectAdapter & { readonly runsBatches: true };

export const runsBatches = (db: Kysely<Tables>): boolean =>
  (db.getExecutor().adapter as Partial<BatchAdapter>).runsBatches === true;

/** Whether the parameters are a batch: a list of parameter lists, one for each run of the statement. */
export const isBatch = (parameters: unknown): parameters is unknown[][] =>
  Array.isArray(parameters) && Array.isArray(parameters[0]);
