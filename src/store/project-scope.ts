import {
  ColumnNode,
  CommonTableExpressionNameNode,
  CommonTableExpressionNode,
  DeleteQueryNode,
  type Expression,
  InsertQueryNode,
  type Kysely,
  type KyselyPlugin,
  type OperationNode,
  QueryNode,
  RawNode,
  SelectQueryNode,
  sql,
  type Transaction,
  UpdateQueryNode,
  type WithNode,
} from 'kysely';
import { keyLimited } from '../core/errors.ts';
import { prefixes } from '../core/ids.ts';
import type { Database } from '../database/open.ts';
import { hasSingleWriter } from '../database/sql/batches.ts';
import { inConstantArray, jsonTexts, storedTable } from '../database/sql/functions.ts';
import type { Descriptor } from '../resources/descriptor.ts';
import { resources } from '../resources/descriptors.ts';
import { type TableName, type Tables, tableNames, tables } from './tables.ts';
import { changedTable } from './writes/tracker.ts';

/** The database as one API key may use it. */
export type ScopedDatabase = Pick<Database, 'db' | 'snapshot' | 'write' | 'dryRun'> & {
  /** Whether rows of these tables may be hidden from the key. */
  isFiltered(tables: readonly TableName[]): boolean;
};

/**
 * Throws if the actor may not write. Returns the version of the access of all actors; with that of an earlier call, only
 * what has changed since is checked. If the transaction may start again, it does so then, without a round trip.
 */
type WriteCheck = (db: Transaction<Tables>, seen?: number, mayStartAgain?: boolean) => Promise<number>;

/**
 * Limits all statements to these projects; null means no limit. For `waitedMs` see `Database.write`.
 *
 * Each statement gets common table expressions that have the names of the tables and contain only the visible rows:
 * `with risks as (select * from risks where project_id in (…)), … select …`. So the rest of the statement, however it is
 * written, cannot read other rows.
 *
 * `check` runs in each transaction that writes, which fails if it does: first, and after the work, which may have waited
 * for locks. On PostgreSQL it takes no round trip of its own, except after work that has started again or takes long.
 */
export function scopeToProjects(
  database: Database,
  project_ids: readonly string[] | null,
  waitedMs?: number,
  check: WriteCheck = async () => 0,
): ScopedDatabase {
  const { db: unscoped, snapshot, dryRun } = database;
  const write: Database['write'] = (work, workload = 'quick') => {
    let mayStartAgain = workload === 'quick';
    return database.write(
      async (db, hasWaiters) => {
        const [checked, done] = await Promise.allSettled([check(db), work(db, hasWaiters)]);
        if (checked.status === 'rejected') throw checked.reason;
        if (done.status === 'rejected') throw done.reason;
        if (!hasSingleWriter(db)) await check(db, checked.value, mayStartAgain);
        mayStartAgain = false;
        return done.value;
      },
      workload,
      waitedMs,
    );
  };
  if (project_ids === null) return { db: unscoped, snapshot, write, dryRun, isFiltered: () => false };
  const rows = visibleRows(project_ids, false);
  const filter = createFilter(rows);
  const db = unscoped.withPlugin(filter);
  return {
    db,
    async snapshot(workload) {
      const isSmall = await isSmallScope(db);
      const { db: unscoped, end } = await snapshot(workload);
      const fastest = isSmall ? createFilter(visibleRows(project_ids, true)) : filter;
      return { db: unscoped.withPlugin(fastest), end };
    },
    write: (work, workload) => write((db, hasWaiters) => work(db.withPlugin(filter), hasWaiters), workload),
    dryRun: (work) => dryRun((db) => work(db.withPlugin(filter))),
    isFiltered: (tables) => tables.some((table) => rows[table] !== 'all'),
  };
}

/** Up to this many rows, sorting them is faster than scanning the index of the whole list: measured with a million risks. */
const maxRowsToSort = 10_000;

/** Estimates the number of visible rows by the number that was ever created in the visible projects. */
async function isSmallScope(db: Kysely<Tables>): Promise<boolean> {
  const { created } = await db
    .selectFrom('projects')
    .select((eb) =>
      eb.fn.sum<number | null>(sql`risks_created + issues_created + tasks_created`).as('created'),
    )
    .executeTakeFirstOrThrow();
  return (created ?? 0) <= maxRowsToSort;
}

const ofVisibleWebhook = sql`exists (select 1 from webhooks where webhooks.id = webhook_deliveries.webhook_id)`;

/** Conditions for changes that differ from those for reads: a webhook is deleted with its hidden deliveries. */
const changeableRows: Partial<VisibleRows> = { webhook_deliveries: ofVisibleWebhook };

type VisibleRows = Record<TableName, Expression<unknown> | 'all'>;

/**
 * The condition for visible rows of each table. A condition may refer to the tables before it, which are already limited
 * to visible rows. If there are few rows, a list reads them by project and sorts them; if there are many, it scans the
 * index of the list and skips hidden rows.
 */
function visibleRows(project_ids: readonly string[], isSmall: boolean): VisibleRows {
  const ids = sql`(select value from ${jsonTexts(sql`${JSON.stringify(project_ids)}`)})`;
  // `is true` keeps the planner from using an index on the project.
  const isVisible = (column: string) =>
    isSmall ? inConstantArray(sql.ref(column), project_ids) : sql`(${sql.ref(column)} in ${ids}) is true`;
  // Only keys and webhooks that are limited to a subset of these projects.
  const isWithin = (column: string) =>
    sql`(${sql.ref(column)} is not null and not exists (
      select 1 from ${jsonTexts(sql.ref(column))} where value not in ${ids}))`;
  const belongsTo = (table: string) =>
    sql`exists (select 1 from ${sql.table(table)} where ${sql.ref(`${table}.id`)} = history.subject_id)`;
  const isInHistory = resources.flatMap(({ table, kind, visible }: Descriptor) => {
    if (visible === 'all') return [sql`substr(history.subject_id, 1, 4) = ${sql.lit(`${prefixes[kind]}_`)}`];
    if (typeof visible === 'string') return [];
    // Hides the `project_ids` a key or webhook had before: they may include hidden projects.
    return 'project' in visible
      ? [belongsTo(table)]
      : [sql`(${belongsTo(table)} and history.field <> ${sql.lit(visible.projects)})`];
  });
  const derived: Partial<VisibleRows> = {
    // Hides the events of keys and webhooks, whose former `project_ids` may include hidden projects.
    events: sql`(${isVisible('events.project_id')} or events.subject_type in (${sql.join(sharedKinds.map((kind) => sql.lit(kind)))}))`,
    history: sql`(${sql.join(isInHistory, sql` or `)})`,
    // What people and groups were handed over belongs to no project.
    handover_items: sql`(handover_items.project_id is null or ${isVisible('handover_items.project_id')})`,
    // Hides deliveries from before the webhook was limited to these projects. A test has no event.
    webhook_deliveries: sql`(${ofVisibleWebhook} and (webhook_deliveries.sequence is null
        or exists (select 1 from events where events.sequence = webhook_deliveries.sequence)))`,
  };
  const conditionOf = (table: TableName): Expression<unknown> | 'all' => {
    const { visible } = tables[table];
    if (visible === 'all') return 'all';
    if (typeof visible === 'string') return derived[table] ?? sql`1 = 0`;
    return 'project' in visible
      ? isVisible(`${table}.${visible.project}`)
      : isWithin(`${table}.${visible.projects}`);
  };
  return Object.fromEntries(tableNames.map((table) => [table, conditionOf(table)])) as VisibleRows;
}

/** All keys see the resources of these kinds, because no project owns them. */
export const sharedKinds: readonly string[] = resources
  .filter(({ visible }) => visible === 'all')
  .map(({ kind }) => kind);

function createFilter(rows: VisibleRows): KyselyPlugin {
  const expressions = commonTableExpressions(rows);
  return {
    transformQuery({ node }) {
      if (RawNode.is(node)) return filterRaw(node, expressions);
      const table = changedTable(node);
      if (!(SelectQueryNode.is(node) || table))
        throw new Error(`A ${node.kind} cannot be limited to projects.`);
      if (table) rejectOutOfScope(node, table);
      const name = table as TableName;
      const changeable = changeableRows[name] ?? rows[name] ?? 'all';
      return filterChange(addExpressions(node as QueryNode, expressions), changeable);
    },
    transformResult: async ({ result }) => result,
  };
}

/** `with risks as not materialized (select * from risks where …), …` */
function commonTableExpressions(rows: VisibleRows): WithNode {
  const expressions = Object.entries(rows).flatMap(([table, visible]) => {
    if (visible === 'all') return [];
    const selected = sql`(select * from ${storedTable(table)} where ${visible})`.toOperationNode();
    const named = CommonTableExpressionNode.create(CommonTableExpressionNameNode.create(table), selected);
    // Not materialized, so that queries still use the indexes of the table.
    return [CommonTableExpressionNode.cloneWith(named, { materialized: false })];
  });
  return { kind: 'WithNode', expressions };
}

/**
 * The common table expressions limit the rows that a raw statement reads, but not the rows that it would write: so it may
 * only select. Build other statements with Kysely.
 */
function filterRaw(node: RawNode, expressions: WithNode): RawNode {
  const start = node.sqlFragments[0] ?? '';
  if (/^\s*with\b/i.test(start)) throw ownExpressions();
  if (!/^\s*select\b/i.test(start)) {
    throw new Error('A raw statement limited to projects must start with `select`.');
  }
  return RawNode.create(['', ' ', ''], [expressions, node]);
}

function addExpressions(node: QueryNode, added: WithNode): QueryNode {
  const { expressions = [], recursive } = node.with ?? {};
  if (recursive) throw ownExpressions();
  return { ...node, with: { ...added, expressions: [...added.expressions, ...expressions] } };
}

/** In a recursive `with`, the expression `risks` would refer to itself instead of the table. */
const ownExpressions = () =>
  new Error('A statement limited to projects cannot start with its own `with`: use it in a subquery.');

/** A common table expression does not replace the table that a statement changes, so the condition is added to it. */
function filterChange(node: QueryNode, visible: Expression<unknown> | 'all'): QueryNode {
  return visible !== 'all' && (UpdateQueryNode.is(node) || DeleteQueryNode.is(node))
    ? QueryNode.cloneWithWhere(node, visible.toOperationNode())
    : node;
}

/** Rejects changes that would affect hidden projects, or reveal them by a unique constraint error. */
function rejectOutOfScope(node: OperationNode, table: string): void {
  if (table === 'projects' && InsertQueryNode.is(node)) {
    throw keyLimited('It cannot create projects, because a new project would be outside of its limit.');
  }
  if (table === 'projects' && UpdateQueryNode.is(node) && ['key', 'external_id'].some(isSetIn(node))) {
    throw keyLimited(
      'It cannot change `key` and `external_id`, because they are unique across all projects.',
    );
  }
  if (['people', 'groups'].includes(table) && DeleteQueryNode.is(node)) {
    throw keyLimited('It cannot delete people and groups, because all projects share them.');
  }
}

const isSetIn = (node: UpdateQueryNode) => (name: string) =>
  node.updates?.some(({ column }) => !ColumnNode.is(column) || column.column.name === name);
