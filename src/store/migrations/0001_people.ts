import { type Kysely, type SchemaModule, sql } from 'kysely';
import { type EngineKind, index, indexWithoutNulls, resourceTable } from './0001_builders.ts';

export async function createPeople(db: Kysely<unknown>, kind: EngineKind): Promise<void> {
  const { schema } = db;
  await resourceTable(schema, 'people', 'user_id')
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('email', 'text')
    .addColumn('title', 'text')
    .addColumn('department', 'text')
    .addColumn('location', 'text')
    .addColumn('phone', 'text')
    .addColumn('time_zone', 'text')
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('accountable_user_id', 'text', (column) => column.references('people.user_id'))
    .addColumn('manager_user_id', 'text', (column) => column.references('people.user_id'))
    .addColumn('skills', 'text', (column) => column.notNull())
    .addColumn('start_on', 'text')
    .addColumn('end_on', 'text')
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('external_id', 'text', (column) => column.unique())
    .addColumn('attributes', 'text', (column) => column.notNull())
    .addColumn('name_folded', 'text', (column) => column.notNull())
    .addColumn('department_folded', 'text')
    .addColumn('skills_folded', 'text', (column) => column.notNull())
    .addColumn('search_folded', 'text', (column) => column.notNull())
    .addColumn('roster_key', 'text', (column) =>
      column.generatedAlwaysAs(sql`name_folded || '\t' || user_id`).stored(),
    )
    .execute();
  await indexWithoutNulls(schema, 'people', ['manager_user_id']);
  await indexWithoutNulls(schema, 'people', ['accountable_user_id']);
  await index(schema, 'people', ['department_folded']);
  await schema.createIndex('people_email').on('people').expression(sql`lower(email)`).unique().execute();
  // In the order of creation and of the last change. Each key is one text, unique per row.
  for (const column of ['created_at', 'updated_at']) {
    await schema
      .createIndex(`people_${column}_key`)
      .on('people')
      .expression(sql`(${sql.ref(column)} || user_id)`)
      .execute();
  }
  await indexForSearch[kind](db);
}

/** The index of the roster, and the one for the substring search of people. */
const indexForSearch = {
  /**
   * A scan of this covering index takes about ten milliseconds for 100,000 people. A trigram index would make each insert
   * six times slower.
   */
  sqlite: ({ schema }: Kysely<unknown>): Promise<void> =>
    schema
      .createIndex('people_roster_key_search')
      .on('people')
      .columns(['roster_key', 'search_folded', 'user_id'])
      .execute(),

  /**
   * PostgreSQL cannot store long texts in a B-tree index, but its extension pg_trgm adds cheap trigram indexes. If the
   * extension is not installed, or this user may not create it, a search scans the table.
   */
  async postgres(db: Kysely<unknown>): Promise<void> {
    await index(db.schema, 'people', ['roster_key']);
    await sql`
      do $$ begin
        create extension if not exists pg_trgm;
        create index people_search on people using gin (search_folded gin_trgm_ops)
          with (gin_pending_list_limit = 1024);
      exception when insufficient_privilege or undefined_file or feature_not_supported or undefined_object then
        raise notice 'People are searched without pg_trgm: %', sqlerrm;
      end $$`.execute(db);
  },
};

export async function createGroups(schema: SchemaModule): Promise<void> {
  await resourceTable(schema, 'groups')
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('description', 'text')
    .addColumn('parent_id', 'text', (column) => column.references('groups.id'))
    .addColumn('lead_user_id', 'text', (column) => column.references('people.user_id'))
    .addColumn('external_id', 'text', (column) => column.unique())
    .addColumn('name_folded', 'text', (column) => column.notNull().unique())
    .addColumn('name_key', 'text', (column) =>
      column.generatedAlwaysAs(sql`name_folded || '\t' || id`).stored(),
    )
    .execute();
  await index(schema, 'groups', ['name_key']);
  await index(schema, 'groups', ['parent_id']);
  await index(schema, 'groups', ['lead_user_id']);

  await schema
    .createTable('memberships')
    .addColumn('group_id', 'text', (column) => column.notNull().references('groups.id'))
    .addColumn('user_id', 'text', (column) => column.notNull().references('people.user_id'))
    .addColumn('added_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('memberships_pkey', ['group_id', 'user_id'])
    .execute();
  await index(schema, 'memberships', ['user_id', 'group_id']);
}
