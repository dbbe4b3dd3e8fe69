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
  UpdateQueryNode,
  type WithNode,
} from 'kysely';
import { keyLimited } from '../core/errors.ts';
import type { Database } from './open.ts';
import { inConstantArray, jsonTexts, storedTable } from './sql/functions.ts';
import type { TableName, Tables } from './tables.ts';
import { changedTable } from './writes/table-versions.ts';

/** The database as it is seen with a key. */
export type ScopedDatabase = Pick<Database, 'db' | 'snapshot' | 'write' | 'rehearse'> & {
  /** Whether there may be rows in these tables that are kept from it. */
  isFiltered(tables: readonly TableName[]): boolean;
};

/**
 * What is seen with a key that is limited to these projects; null is no limit.
 *
 * Under a limit each statement begins by giving the names of the tables to the rows that may be seen:
 * `with risks as (select * from risks where project_id in (…)), … select …`. What it says then, in whatever words, is
 * about these rows alone.
 */
export function scopeToProjects(database: Database, project_ids: readonly string[] | null): ScopedDatabase {
  const { db: everything, snapshot, write, rehearse } = database;
  if (project_ids === null) return { db: everything, snapshot, write, rehearse, isFiltered: () => false };
  const rows = visibleRows(project_ids, false);
  const limit = limiting(rows);
  const db = everything.withPlugin(limit);
  return {
    db,
    async snapshot(workload) {
      const fitting = (await areFew(db)) ? limiting(visibleRows(project_ids, true)) : limit;
      const { db: all, end } = await snapshot(workload);
      return { db: all.withPlugin(fitting), end };
    },
    write: (work, workload) => write((db, hasWaiters) => work(db.withPlugin(limit), hasWaiters), workload),
    rehearse: (work) => rehearse((db) => work(db.withPlugin(limit))),
    isFiltered: (tables) => tables.some((table) => rows[table] !== 'all'),
  };
}

/** Rows that are sorted faster than as many others are passed over: measured with a million risks, on both engines. */
const few = 10_000;

/** Whether few things were ever made in the projects that are seen. */
async function areFew(db: Kysely<Tables>): Promise<boolean> {
  const { made } = await db
    .selectFrom('projects')
    .select((eb) => eb.fn.sum<number | null>(sql`risks_made + issues_made + tasks_made`).as('made'))
    .executeTakeFirstOrThrow();
  return (made ?? 0) <= few;
}

type VisibleRows = Record<TableName, Expression<unknown> | 'all'>;

/**
 * Which rows of each table are seen from these projects; the later ones by what is seen of those before. Lists find
 * few rows best by their projects, and put them in order; many best by following the order, and passing over the others.
 */
function visibleRows(project_ids: readonly string[], areFew: boolean): VisibleRows {
  const ids = sql`(select value from ${jsonTexts(sql`${JSON.stringify(project_ids)}`)})`;
  // No index is used for a condition inside of another.
  const isSeen = (column: string) =>
    areFew ? inConstantArray(sql.ref(column), project_ids) : sql`(${sql.ref(column)} in ${ids}) is true`;
  const isOf = (table: string) =>
    sql`exists (select 1 from ${sql.table(table)} where ${sql.ref(`${table}.id`)} = history.subject_id)`;
  return {
    people: 'all',
    groups: 'all',
    memberships: 'all',
    projects: isSeen('projects.id'),
    risks: isSeen('risks.project_id'),
    past_risks: isSeen('past_risks.project_id'),
    issues: isSeen('issues.project_id'),
    tasks: isSeen('tasks.project_id'),
    // Those that see no more than this one.
    keys: sql`(keys.project_ids is not null and not exists (
      select 1 from ${jsonTexts(sql.ref('keys.project_ids'))} where value not in ${ids}))`,
    // Of a key not which projects it saw before: they may have been others.
    history: sql`(substr(history.subject_id, 1, 4) in ('usr_', 'grp_')
      or ${isOf('projects')} or ${isOf('risks')} or ${isOf('issues')} or ${isOf('tasks')}
      or (${isOf('keys')} and history.field <> 'project_ids'))`,
  };
}

function limiting(rows: VisibleRows): KyselyPlugin {
  const names = visibleNames(rows);
  return {
    transformQuery({ node }) {
      if (RawNode.is(node)) return rawWithNames(node, names);
      const table = changedTable(node);
      if (!(SelectQueryNode.is(node) || table)) throw new Error(`No limit is known for a ${node.kind}.`);
      if (table) rejectOutOfScope(node, table);
      return ofVisible(withNames(node as QueryNode, names), rows[table as TableName] ?? 'all');
    },
    transformResult: async ({ result }) => result,
  };
}

/** `with risks as not materialized (select * from risks where …), …` */
function visibleNames(rows: VisibleRows): WithNode {
  const expressions = Object.entries(rows).flatMap(([table, visible]) => {
    if (visible === 'all') return [];
    const selected = sql`(select * from ${storedTable(table)} where ${visible})`.toOperationNode();
    const named = CommonTableExpressionNode.create(CommonTableExpressionNameNode.create(table), selected);
    // The indexes of the table lead to what is looked for, as they would without a limit.
    return [CommonTableExpressionNode.cloneWith(named, { materialized: false })];
  });
  return { kind: 'WithNode', expressions };
}

function rawWithNames(node: RawNode, names: WithNode): RawNode {
  if (/^\s*with\b/i.test(node.sqlFragments[0] ?? '')) throw ownNames();
  return RawNode.create(['', ' ', ''], [names, node]);
}

function withNames(node: QueryNode, names: WithNode): QueryNode {
  const { expressions = [], recursive } = node.with ?? {};
  if (recursive) throw ownNames();
  return { ...node, with: { ...names, expressions: [...names.expressions, ...expressions] } };
}

/** In a recursive `with` each name means itself. */
const ownNames = () => new Error('A statement cannot begin with names of its own: give them in a subquery.');

/** What a statement changes is the table itself, whatever has its name: so it is told which rows. */
function ofVisible(node: QueryNode, visible: Expression<unknown> | 'all'): QueryNode {
  return visible !== 'all' && (UpdateQueryNode.is(node) || DeleteQueryNode.is(node))
    ? QueryNode.cloneWithWhere(node, visible.toOperationNode())
    : node;
}

/** Refuses what would change things outside of the limit, or tell of them by how it fails. */
function rejectOutOfScope(node: OperationNode, table: string): void {
  if (table === 'projects' && InsertQueryNode.is(node)) {
    throw keyLimited('A new project would be outside of its limit.');
  }
  if (table === 'projects' && UpdateQueryNode.is(node) && ['key', 'external_id'].some(isSetIn(node))) {
    throw keyLimited('`key` and `external_id` are unique among all projects, also those it does not see.');
  }
  if (['people', 'groups'].includes(table) && DeleteQueryNode.is(node)) {
    throw keyLimited('People and groups belong to all projects, also those it does not see.');
  }
}

const isSetIn = (node: UpdateQueryNode) => (name: string) =>
  node.updates?.some(({ column }) => !ColumnNode.is(column) || column.column.name === name);
