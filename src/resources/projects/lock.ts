import type { Transaction } from 'kysely';
import { notFound, Problem } from '../../core/errors.ts';
import { asKey } from '../../core/ids.ts';
import { param, statement } from '../../database/sql/statement.ts';
import type { Tables } from '../../database/tables.ts';

/** Locks a project until the transaction ends: writes into it, archiving and changes of its key wait. */
export async function lockProject(db: Transaction<Tables>, ref: string) {
  const [project] = (await lock(db, { id: ref, key: asKey(ref) })).rows;
  if (!project) throw notFound('project', ref);
  return project;
}

/** An update that changes nothing takes a row lock on both engines. */
const lock = statement((db) =>
  db
    .updateTable('projects')
    .set((eb) => ({ version: eb.ref('version') }))
    .where((eb) => eb.or([eb('id', '=', param<string>('id')), eb('key', '=', param<string>('key'))]))
    .returning(['id', 'key', 'archived_at', 'version', 'risks_made', 'issues_made', 'tasks_made']),
);

export type LockedProject = Awaited<ReturnType<typeof lockProject>>;

/** Locks a project for a write into it; rejects the write if the project is archived. */
export async function assertWritable(db: Transaction<Tables>, project_id: string): Promise<void> {
  assertNotArchived(await lockProject(db, project_id));
}

export function assertNotArchived({ key, archived_at }: { key: string; archived_at: string | null }): void {
  if (archived_at === null) return;
  throw new Problem('project_archived', `The project ${key} is archived. Unarchive it to make changes.`);
}
