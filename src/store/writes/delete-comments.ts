import type { Transaction } from 'kysely';
import { param, statement } from '../../database/sql/statement.ts';
import type { Tables } from '../tables.ts';

/** Deletes the comments on a resource that is being deleted. Its own event stands for theirs. */
export async function deleteCommentsOn(db: Transaction<Tables>, subject_id: string): Promise<void> {
  await deleteBySubject.send(db, { subject_id });
}

/** Deletes all comments in a project that is being deleted. */
export async function deleteCommentsIn(db: Transaction<Tables>, project_id: string): Promise<void> {
  await db.deleteFrom('comments').where('project_id', '=', project_id).execute();
}

const deleteBySubject = statement((db) =>
  db.deleteFrom('comments').where('subject_id', '=', param<string>('subject_id')),
);
