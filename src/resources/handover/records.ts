import { type Kysely, sql } from 'kysely';
import { notFound } from '../../core/errors.ts';
import { parsedJson } from '../../database/sql/functions.ts';
import { rowAsJson } from '../../database/sql/rows.ts';
import { allOf, equals, isIn } from '../../lists/filters.ts';
import type { List, RowsQuery } from '../../lists/list.ts';
import type { Filters } from '../../lists/query.ts';
import type { Tables } from '../../store/tables.ts';
import { actorJson } from '../history/queries.ts';
import { HandoverItem, HandoverRecord, type handoverItemFilters } from './schema.ts';

/** The hand-overs of a person, newest first. Without `readsProjects`, items of projects are not counted. */
export const handoverList = (user_id: string, readsProjects: boolean): List => ({
  schema: HandoverRecord,
  json: recordJson(readsProjects),
  // Deleting the person deletes them.
  reads: ['handovers', 'handover_items', 'people'],
  order: { key: sql.ref('handovers.at'), tie: sql.ref('handovers.id'), descending: true },
  from: (db) => db.selectFrom('handovers').where('handovers.user_id', '=', user_id),
  id: sql.ref('handovers.id'),
  matches: sql`1 = 1`,
});

export async function getHandover(
  db: Kysely<Tables>,
  user_id: string,
  id: string,
  readsProjects: boolean,
): Promise<HandoverRecord> {
  const { json } = await db
    .selectFrom('handovers')
    .select(recordJson(readsProjects).as('json'))
    .where('handovers.id', '=', id)
    .where('handovers.user_id', '=', user_id)
    .executeTakeFirstOrThrow(() => notFound('hand-over', id));
  return JSON.parse(json);
}

/** What a hand-over moved. Without `readsProjects`, only what belongs to no project. */
export const handoverItemList = (
  handover_id: string,
  filters: Filters<typeof handoverItemFilters>,
  readsProjects: boolean,
): List => ({
  schema: HandoverItem,
  json: itemJson,
  reads: ['handovers', 'handover_items', 'people', 'groups', 'tasks', 'issues', 'risks', 'projects'],
  order: { key: sql.ref('handover_items.id') },
  from: (db) =>
    db
      .selectFrom('handover_items')
      .where('handover_items.handover_id', '=', handover_id)
      .where(isReadable(readsProjects)),
  joins: joinSubjects,
  id: sql.ref('handover_items.id'),
  matches: allOf(filters, {
    type: isIn('handover_items.type'),
    outcome: equals('handover_items.outcome'),
  }),
});

/** The first items that an undo has left. */
export async function listLeftItems(
  db: Kysely<Tables>,
  handover_id: string,
  limit: number,
): Promise<HandoverItem[]> {
  const rows = await joinSubjects(db.selectFrom('handover_items'))
    .select(itemJson.as('json'))
    .where('handover_items.handover_id', '=', handover_id)
    .where('handover_items.outcome', '=', 'left')
    .orderBy('handover_items.id')
    .limit(limit)
    .execute();
  return rows.map(({ json }) => JSON.parse(json));
}

const isReadable = (readsProjects: boolean) =>
  readsProjects ? sql<boolean>`1 = 1` : sql<boolean>`handover_items.project_id is null`;

const recordJson = (readsProjects: boolean) => {
  const countItems = (condition = sql`1 = 1`) => sql`(
    select count(*) from handover_items
    where handover_items.handover_id = handovers.id and ${isReadable(readsProjects)} and ${condition})`;
  return rowAsJson(HandoverRecord, 'handovers', {
    actor: actorJson('handovers'),
    items: countItems(),
    restored: countItems(sql`handover_items.outcome = 'restored'`),
    left: countItems(sql`handover_items.outcome = 'left'`),
  });
};

/** The tables of the subjects. Ids are unique across all of them. */
const subjectTables = {
  tasks: ['id', 'title'],
  issues: ['id', 'title'],
  risks: ['id', 'title'],
  projects: ['id', 'name'],
  groups: ['id', 'name'],
  people: ['user_id', 'name'],
} as const;

const joinSubjects = (rows: RowsQuery): RowsQuery =>
  Object.entries(subjectTables).reduce(
    (joined, [table, [id]]) => joined.leftJoin(table, `${table}.${id}`, 'handover_items.subject_id'),
    rows,
  );

const firstOf = (columns: readonly string[]) =>
  sql`coalesce(${sql.join(columns.map((column) => sql.ref(column)))})`;

const itemJson = rowAsJson(HandoverItem, 'handover_items', {
  key: firstOf(['tasks.key', 'issues.key', 'risks.key', 'projects.key']),
  title: firstOf(Object.entries(subjectTables).map(([table, [, title]]) => `${table}.${title}`)),
  changes: parsedJson(sql.ref('handover_items.changes')),
});
