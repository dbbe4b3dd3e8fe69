import { type Kysely, sql, type Transaction } from 'kysely';
import { DEFAULT_MIGRATION_LOCK_TABLE, DEFAULT_MIGRATION_TABLE } from 'kysely/migration';
import pg from 'pg';
import { type StoredColumn, type StoredTable, storedTables, type Tables } from '../tables.ts';

export async function describeTables(db: Kysely<Tables>): Promise<StoredTable[]> {
  const { rows } = await sql<StoredColumn>`
    select c.relname as "table", a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
      array_position(i.indkey::int2[], a.attnum) as "key"
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    left join pg_index i on i.indrelid = c.oid and i.indisprimary
    where c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace
    order by c.relname, a.attnum`.execute(db);
  return storedTables(rows);
}

/** Without the indexes of trigrams, which need an extension that may have come or gone. */
export async function describeSchema(db: Kysely<Tables>): Promise<Set<string>> {
  const { rows } = await sql<{ definition: string }>`
    select replace(replace(definition, quote_ident(current_schema()) || '.', ''), 'pg_temp.', '') as definition from (
      select 'index ' || i.relname || ': ' || case when indisvalid then pg_get_indexdef(i.oid) end as definition
      from pg_index join pg_class i on i.oid = indexrelid join pg_am on pg_am.oid = i.relam
      where amname <> 'gin' and i.relnamespace = current_schema()::regnamespace
      union all select 'constraint ' || conname || ': ' || pg_get_constraintdef(oid) from pg_constraint
      where contype <> 'n' and connamespace = current_schema()::regnamespace) as found
    where definition is not null`.execute(db);
  return new Set(rows.map(({ definition }) => definition));
}

/** In temporary tables, which a standby does not have. Closes the connections. */
export async function describeNewSchema(
  db: Kysely<Tables>,
  create: (db: Kysely<Tables>) => Promise<void>,
): Promise<Set<string>> {
  const path = sql`'pg_temp, ' || current_setting('search_path')`;
  let described = new Set<string>();
  const describeAndRollBack = async (db: Kysely<Tables>) => {
    await sql`select set_config('search_path', ${path}, true)`.execute(db);
    await create(db);
    described = await describeSchema(db);
    throw new Error('It is rolled back.');
  };
  await db
    .transaction()
    .execute(describeAndRollBack)
    .catch(() => db.destroy());
  return described;
}

/**
 * Building an index from all rows is faster than adding each row to it, and rows can be loaded in any order without foreign
 * keys. Returns a function that creates them again, which checks all references.
 */
export async function dropIndexes(db: Transaction<Tables>): Promise<() => Promise<void>> {
  const { rows: keys } = await sql<{ table: string; name: string; definition: string }>`
    select c.relname as "table", k.conname as name, pg_get_constraintdef(k.oid) as definition
    from pg_constraint k join pg_class c on c.oid = k.conrelid
    where k.contype = 'f' and c.relnamespace = current_schema()::regnamespace order by k.oid`.execute(db);
  const { rows: indexes } = await sql<{ name: string; definition: string }>`
    select c.relname as name, pg_get_indexdef(i.indexrelid) as definition
    from pg_index i join pg_class c on c.oid = i.indexrelid
    where c.relnamespace = current_schema()::regnamespace
      and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype <> 'f')
    order by c.oid`.execute(db);
  for (const { table, name } of keys) await db.schema.alterTable(table).dropConstraint(name).execute();
  for (const { name } of indexes) await db.schema.dropIndex(name).execute();
  return async () => {
    for (const { definition } of indexes) await sql.raw(definition).execute(db);
    for (const { table, name, definition } of keys)
      await sql`alter table ${sql.table(table)} add constraint ${sql.ref(name)} ${sql.raw(definition)}`.execute(
        db,
      );
  };
}

/** Removes tables without rows, which may be those of another version. */
export async function dropTables(db: Transaction<Tables>, tables: readonly string[]): Promise<void> {
  const known = [...tables, DEFAULT_MIGRATION_TABLE, DEFAULT_MIGRATION_LOCK_TABLE];
  const existing = await existingOf(db, known);
  if (existing.length > 0) await sql`drop table ${sql.join(existing)}`.execute(db);
}

/** Keeps other processes from writing to the tables while it is checked that they have no rows. */
export async function lockTables(db: Transaction<Tables>, tables: readonly string[]): Promise<void> {
  const existing = await existingOf(db, tables);
  if (existing.length > 0) await sql`lock table ${sql.join(existing)}`.execute(db);
}

async function existingOf(db: Kysely<Tables>, tables: readonly string[]) {
  const stored = await describeTables(db);
  return stored.filter(({ table }) => tables.includes(table)).map(({ table }) => sql.table(table));
}

export function describeViolation(error: unknown): string | undefined {
  const { code, table, detail, message } = error as Partial<pg.DatabaseError>;
  // Classes of SQLSTATE: invalid data, and constraints.
  if (!(error instanceof pg.DatabaseError) || !/^2[23]/.test(code ?? '')) return undefined;
  const [, columns, value, parent] =
    /^Key \((.+)\)=\((.*)\) (?:.* in table "(\w+)")?/.exec(detail ?? '') ?? [];
  if (code === '23503' && parent) return `${table}.${columns} is ${value}, which is not in ${parent}`;
  if (code === '23505' && columns) return `two rows of ${table} have the same ${columns}`;
  return message;
}
