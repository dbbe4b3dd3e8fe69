import type { DialectAdapter, Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/** Marks the adapter of an engine that differs from a database server in these ways. */
export type BatchAdapter = DialectAdapter & {
  /** Runs a statement once for each list of parameters, which is faster than one statement with many rows. */
  readonly runsBatches: true;
  /** Only one transaction can write at a time. */
  readonly hasSingleWriter: true;
};

export const runsBatches = (db: Kysely<Tables>): boolean => adapterOf(db).runsBatches === true;

export const hasSingleWriter = (db: Kysely<Tables>): boolean => adapterOf(db).hasSingleWriter === true;

/** Whether joining grouped rows takes less time than a subquery for each row. */
export const groupsRows = (db: Kysely<Tables>): boolean => adapterOf(db).runsBatches !== true;

const adapterOf = (db: Kysely<Tables>) => db.getExecutor().adapter as Partial<BatchAdapter>;

/** Whether the parameters are a batch: a list of parameter lists, one for each run of the statement. */
export const isBatch = (parameters: unknown): parameters is unknown[][] =>
  Array.isArray(parameters) && Array.isArray(parameters[0]);
