import { type RawBuilder, sql, type Transaction } from 'kysely';
import { notFound, Problem } from '../../core/errors.ts';
import { normalizeKey } from '../../core/ids.ts';
import { hasSingleWriter } from '../../database/sql/batches.ts';
import { inJsonArray } from '../../database/sql/functions.ts';
import { namedStatement, param, statement } from '../../database/sql/statement.ts';
import type { Tables } from '../../store/tables.ts';
import { lockProjectRows, withoutScope } from '../../store/writes/locks.ts';

/** Locks a project until the transaction ends: writes into it, archiving and changes of its key wait. */
export async function lockProject(db: Transaction<Tables>, ref: string) {
  const [project] = (await lock(db, { id: ref, key: normalizeKey(ref) })).rows;
  if (!project) throw notFound('project', ref);
  return project;
}

/** An update that changes nothing takes a row lock on both engines. */
const lockWhere = (isLocked: RawBuilder<boolean>) =>
  statement((db) =>
    db
      .updateTable('projects')
      .set((eb) => ({ version: eb.ref('version') }))
      .where(isLocked)
      .returning([
        'id',
        'key',
        'archived_at',
        'appetite',
        'acceptance',
        'version',
        'risks_created',
        'issues_created',
        'tasks_created',
      ]),
  );

const isReferred = sql<boolean>`(id = ${param('id')} or key = ${param('key')})`;

const lock = lockWhere(isReferred);

export type LockedProject = Awaited<ReturnType<typeof lockProject>>;

/** Locks projects until the transaction ends, in the order of their ids. Returns those that exist, by id. */
export async function lockProjects(
  db: Transaction<Tables>,
  ids: readonly string[],
): Promise<Map<string, LockedProject>> {
  const [first] = ids;
  if (first === undefined) return new Map();
  if (ids.length > 1) await lockProjectRows(db, ids);
  const { rows } =
    ids.length > 1
      ? await lockMany(db, { ids: JSON.stringify(ids) })
      : await lock(db, { id: first, key: normalizeKey(first) });
  return new Map(rows.map((project) => [project.id, project]));
}

const lockMany = lockWhere(sql`${inJsonArray(sql.ref('id'), param<string>('ids'))}`);

/**
 * Locks the project, if there is one, before something in it is read in order to be changed. Without it, a change that
 * waits for the lock afterwards finds that others have changed what it has read, and has to start again.
 */
export async function lockProjectFirst(db: Transaction<Tables>, ref: string): Promise<void> {
  if (!hasSingleWriter(db)) await lockFirst.send(withoutScope(db), { id: ref, key: normalizeKey(ref) });
}

const lockFirst = statement((db) =>
  db.selectFrom('projects').select('id').where(isReferred).forNoKeyUpdate(),
);

/** Like `lockProjectFirst`, for the projects of items that are given by id or key. */
export async function lockProjectsOfItemsFirst(
  db: Transaction<Tables>,
  table: 'risks' | 'issues' | 'tasks',
  refs: readonly string[],
): Promise<void> {
  if (hasSingleWriter(db)) return;
  const ofItems = namedStatement(`lock projects of ${table}`, (db) =>
    db
      .selectFrom('projects')
      .select('id')
      .where(({ eb, selectFrom }) =>
        eb(
          'id',
          'in',
          selectFrom(table)
            .select('project_id')
            .where(inJsonArray(sql.ref(`${table}.id`), param<string>('ids')))
            .union(
              selectFrom(table)
                .select('project_id')
                .where(inJsonArray(sql.ref(`${table}.key`), param<string>('keys'))),
            ),
        ),
      )
      .orderBy('id')
      .forNoKeyUpdate(),
  );
  await ofItems.send(withoutScope(db), {
    ids: JSON.stringify(refs),
    keys: JSON.stringify(refs.map(normalizeKey)),
  });
}

/** Locks a project for a write into it; rejects the write if the project is archived. */
export async function assertWritable(db: Transaction<Tables>, project_id: string): Promise<void> {
  assertNotArchived(await lockProject(db, project_id));
}

export function assertNotArchived(project: Pick<LockedProject, 'key' | 'archived_at'>): void {
  const problem = archivedProblem(project);
  if (problem) throw problem;
}

export const archivedProblem = ({ key, archived_at }: Pick<LockedProject, 'key' | 'archived_at'>) =>
  archived_at === null
    ? undefined
    : new Problem('project_archived', `The project ${key} is archived. Unarchive it to make changes.`);
