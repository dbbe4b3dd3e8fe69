import { type Kysely, sql } from 'kysely';
import { type EngineKind, index } from './0001_builders.ts';

/** For each list: the columns of its default order, and those that its filters and other orders read. */
const scanned = {
  risks: {
    key: ['active', 'rank_key'],
    columns: [
      ...[
        'due_on',
        'review_on',
        'raised_on',
        'updated_at',
        'status',
        'kind',
        'category',
        'strategy',
        'level',
      ],
      ...['owner_user_id', 'owner_group_id', 'accepted_until'],
      // Numbers last, which PostgreSQL reads a twentieth faster.
      ...['score', 'residual_score', 'probability', 'impact'],
    ],
    expressions: [sql`case when response_plan is null then 1 else 0 end`],
  },
  issues: {
    key: ['open', 'rank_key'],
    columns: [
      ...['due_on', 'raised_on', 'updated_at', 'status', 'severity', 'priority'],
      ...['owner_user_id', 'owner_group_id', 'assignee_user_id'],
    ],
    expressions: [],
  },
  tasks: {
    key: ['open', 'due_key'],
    columns: ['due_on', 'start_on', 'updated_at', 'status', 'kind', 'assignee_user_id'],
    expressions: [],
  },
};

/**
 * Indexes for the lists of risks, issues and tasks in any order and with any filter. A scan reads a third of the bytes of
 * the table, and only the rows of the page from the table.
 */
export async function up(db: Kysely<unknown>, kind: EngineKind): Promise<void> {
  for (const [table, { key, columns, expressions }] of Object.entries(scanned))
    await create[kind](db, table, key, columns, expressions);
  // The tasks of a person in their order.
  await index(db.schema, 'tasks', ['assignee_user_id', 'open', 'due_key']);
  // Filters and checks for what inactive people own read them once.
  await db.schema
    .createIndex('people_inactive')
    .on('people')
    .columns(['status', 'user_id'])
    .where(sql.ref('status'), '=', sql.lit('inactive'))
    .execute();
  // At the end, because PostgreSQL lets nobody read a table from then on until the migration is complete.
  for (const name of ['tasks_assignee_user_id_status', ...replaced[kind]])
    await db.schema.dropIndex(name).execute();
}

/** The indexes in whose place the new ones are. */
const replaced: Record<EngineKind, string[]> = {
  sqlite: [
    'risks_project_id_active_rank_key',
    'issues_project_id_open_rank_key',
    'tasks_project_id_open_due_key',
  ],
  postgres: ['risks_active_rank_key_project_id', 'issues_open_rank_key', 'tasks_open_due_key'],
};

type Create = (
  db: Kysely<unknown>,
  table: string,
  key: readonly string[],
  columns: readonly string[],
  expressions: readonly ReturnType<typeof sql>[],
) => Promise<void>;

const references = (columns: readonly string[]) => columns.map((column) => sql.ref(column));

/** `search_folded` has the key, the title and the description, each on a line. */
const create: Record<EngineKind, Create> = {
  /**
   * By project: SQLite reads the projects first, and leaves a project when the rest of it cannot be on the page. Also
   * contains the key and the title, so that a search and the order by title are scans of this index.
   */
  async sqlite(db, table, key, columns, expressions) {
    const heading = sql`substr(search_folded, 1, instr(search_folded, '\n')
      + instr(substr(search_folded || '\n', instr(search_folded, '\n') + 1), '\n') - 1)`;
    const all = sql.join([...references(['project_id', ...key, ...columns]), ...expressions, heading]);
    await sql`create index ${sql.ref(`${table}_scan`)} on ${sql.table(table)} (${all})`.execute(db);
  },

  /**
   * In the default order: PostgreSQL reads it until the page is full. It reads no expressions from an index, and stores no
   * long texts in it. So titles are indexed by their first characters, and searched by trigrams: without the extension
   * pg_trgm, a search scans the table.
   */
  async postgres(db, table, key, columns) {
    const on = sql.table(table);
    await sql`create index ${sql.ref(`${table}_scan`)} on ${on} (${sql.join(references(key))})
      include (${sql.join(references(['project_id', ...columns]))})`.execute(db);
    await sql`create index ${sql.ref(`${table}_title`)} on ${on}
      (substr(split_part(search_folded, '\n', 2), 1, 40))`.execute(db);
    await sql`
      do $$ begin
        create extension if not exists pg_trgm;
        create index ${sql.ref(`${table}_search`)} on ${on}
          using gin ((split_part(search_folded, '\n', 1) || '\n' || split_part(search_folded, '\n', 2)) gin_trgm_ops)
          with (gin_pending_list_limit = 1024);
      exception when insufficient_privilege or undefined_file or feature_not_supported or undefined_object then
        raise notice 'Titles are searched without pg_trgm: %', sqlerrm;
      end $$`.execute(db);
  },
};
