/** The tables of the application, which declares them: see `store/tables.ts`. This folder knows none but `data_versions`. */
// biome-ignore lint/suspicious/noEmptyInterface: the application adds its tables to it
export interface Tables {}

/** A table as it is in the database, whose version may be older. Generated columns are left out. */
export type StoredTable = { table: string; columns: { name: string; type: string }[]; primaryKey: string[] };
