/** The tables of the application, which declares them: see `store/tables.ts`. This folder knows none but `data_versions`. */
// biome-ignore lint/suspicious/noEmptyInterface: the application adds its tables to it
export interface Tables {}

/** A table as it is in the database, whose version may be older. Generated columns are left out. */
export type StoredTable = { table: string; columns: { name: string; type: string }[]; primaryKey: string[] };

/** A column as an engine describes it. `key` is its position in the primary key, if it is part of that. */
export type StoredColumn = { table: string; name: string; type: string; key: number | null };

/** The tables of these columns, which are in the order of tables and of columns in a table. */
export const storedTables = (rows: readonly StoredColumn[]): StoredTable[] =>
  [...Map.groupBy(rows, ({ table }) => table)].map(([table, columns]) => ({
    table,
    columns: columns.map(({ name, type }) => ({ name, type })),
    primaryKey: columns
      .flatMap(({ name, key }) => (key === null ? [] : [{ name, key }]))
      .sort((a, b) => a.key - b.key)
      .map(({ name }) => name),
  }));
