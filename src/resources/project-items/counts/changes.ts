import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../../store/tables.ts';
import type { Countable } from './project-counts.ts';

/** Where in the event log a snapshot is, and the versions of the tables that are counted. */
export type Position = {
  sequence: number;
  deleted: number;
  table: number;
  people: number;
  /** The latest event, if there is one. */
  event: { sequence: number; id: string } | undefined;
};

export async function readPosition(db: Kysely<Tables>, { table }: Countable): Promise<Position> {
  const rows = await db
    .selectFrom('data_versions')
    .select(['table_name', 'version'])
    .where('table_name', 'in', ['events', 'deleted_events', table, 'people'])
    .execute();
  const versions = new Map<string, number>(rows.map(({ table_name, version }) => [table_name, version]));
  const versionOf = (name: string) => versions.get(name) ?? 0;
  return {
    sequence: versionOf('events'),
    deleted: versionOf('deleted_events'),
    table: versionOf(table),
    people: versionOf('people'),
    event: await db
      .selectFrom('events')
      .select(['sequence', 'id'])
      .orderBy('sequence', 'desc')
      .limit(1)
      .executeTakeFirst(),
  };
}

export const isSamePosition = (a: Position, b: Position) =>
  a.sequence === b.sequence && a.table === b.table && a.people === b.people && a.event?.id === b.event?.id;

/** What changed between two positions; `people` is undefined if any person may have changed. */
export type Changes = { projects: string[]; people: string[] | undefined };

/** So many events are read to find what they concern. If there are more, an index tells which projects have any. */
const maxEvents = 5_000;

/**
 * Finds what changed since an earlier position, by the events after it: each change of an item, a project or a person is
 * written with its event, and sequence numbers are in commit order. Undefined if the events do not tell, for example
 * because they were deleted, or because another database took the place of this one.
 */
export async function findChanges(
  db: Kysely<Tables>,
  { kind }: Countable,
  before: Position,
  now: Position,
): Promise<Changes | undefined> {
  if (now.sequence < before.sequence || !(await hasAllEventsSince(db, before, now))) return undefined;
  const later = db
    .selectFrom('events')
    .select([
      'subject_type',
      'project_id',
      sql<string | null>`case subject_type when 'person' then subject_id end`.as('user_id'),
    ])
    .where('sequence', '>', before.sequence)
    .orderBy('sequence')
    .limit(maxEvents);
  const rows = await db
    .selectFrom(later.as('later'))
    .select(['subject_type', 'project_id', 'user_id', sql<number>`count(*)`.as('count')])
    .groupBy(['subject_type', 'project_id', 'user_id'])
    .execute();
  const read = rows.reduce((sum, { count }) => sum + count, 0);
  if (read === maxEvents)
    return { projects: await projectsWithEvents(db, before.sequence), people: undefined };
  // Rows that were changed without an event, for example by hand.
  if (now.table !== before.table && !rows.some(({ subject_type }) => subject_type === kind)) return undefined;
  const people = rows.flatMap(({ user_id }) => user_id ?? []);
  const concerned = rows.filter(({ subject_type }) => subject_type === kind || subject_type === 'project');
  return {
    projects: [...new Set(concerned.flatMap(({ project_id }) => project_id ?? []))],
    people: now.people !== before.people && people.length === 0 ? undefined : people,
  };
}

/** Events are deleted from the oldest on, so none is missing if the latest one of that time is still there. */
async function hasAllEventsSince(db: Kysely<Tables>, before: Position, now: Position): Promise<boolean> {
  if (!before.event) return now.deleted === before.deleted;
  const found = await db
    .selectFrom('events')
    .select('id')
    .where('sequence', '=', before.event.sequence)
    .executeTakeFirst();
  return found?.id === before.event.id;
}

/** The projects with an event after a sequence number: a look into an index for each project, however many events. */
async function projectsWithEvents(db: Kysely<Tables>, sequence: number): Promise<string[]> {
  const rows = await db
    .selectFrom('projects')
    .select('id')
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('events')
          .select(sql`1`.as('one'))
          .whereRef('events.project_id', '=', 'projects.id')
          .where('events.sequence', '>', sequence),
      ),
    )
    .execute();
  return rows.map(({ id }) => id);
}
