import { type Kysely, sql, type Transaction } from 'kysely';
import { fieldError, invalidBody, notFound } from '../../core/errors.ts';
import { idPattern, newId } from '../../core/ids.ts';
import { jsonArrayOf, jsonObject, jsonTexts } from '../../database/sql/functions.ts';
import { newStamps, rowAsJson } from '../../database/sql/rows.ts';
import type { List, RowsQuery } from '../../lists/list.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change } from '../../store/writes/change.ts';
import { subjectOf } from '../../store/writes/events.ts';
import { recordChanges, recordCreated, recordDeleted } from '../../store/writes/history.ts';
import { deleteRow, insertRows, laterThan, updateRow } from '../../store/writes/rows.ts';
import { actorJson } from '../history/queries.ts';
import { assertNotArchived, assertWritable, type LockedProject } from '../projects/lock.ts';
import {
  Comment,
  type CommentedType,
  type CommentInput,
  type CommentPatch,
  commentResource,
} from './schema.ts';

/** The project, risk, issue or task that a comment is about. */
export type CommentedResource = { type: CommentedType; id: string; project_id: string };

/** The comments on one resource, oldest first. */
export const commentList = ({ id }: CommentedResource): List => ({
  schema: Comment,
  json: commentJson,
  // The URL can contain the key of the project, which can change.
  reads: ['comments', 'people', 'projects'],
  order: { key: sql.ref('comments.id') },
  from: commentRows,
  id: sql.ref('comments.id'),
  matches: sql`comments.subject_id = ${id}`,
});

export const commentRows = (db: Kysely<Tables>): RowsQuery => db.selectFrom('comments');

export async function getComment(
  db: Kysely<Tables>,
  commented: CommentedResource,
  id: string,
): Promise<Comment> {
  const { json } = await db
    .selectFrom('comments')
    .select(commentJson.as('json'))
    .where('id', '=', id)
    .where('subject_id', '=', commented.id)
    .executeTakeFirstOrThrow(() => notFound('comment', `${id} on this ${commented.type}`));
  return JSON.parse(json);
}

/** Read the resource after its project is locked: it may be deleted until then. */
export async function createComment(
  db: Transaction<Tables>,
  project: LockedProject,
  commented: CommentedResource,
  { body }: CommentInput,
  change: Change,
): Promise<Comment> {
  assertNotArchived(project);
  const { type, id: subject_id, project_id } = commented;
  const id = newId('comment');
  const row = {
    id,
    project_id,
    subject_type: type,
    subject_id,
    body,
    mentions: JSON.stringify(await mentionsIn(db, body)),
    author_user_id: change.user_id,
    author_key_id: change.key_id,
    author_name: change.name,
    edited_at: null,
    ...newStamps(change.now),
  };
  await insertRows(db, 'comments', [row]);
  await recordCreated(db, commentSubject, [{ id, label: body }], change);
  return getComment(db, commented, id);
}

export async function updateComment(
  db: Transaction<Tables>,
  current: Comment,
  { body = current.body, reason }: CommentPatch,
  requested: Change,
): Promise<Comment> {
  const { id, project_id, subject_type, subject_id } = current;
  await assertWritable(db, project_id);
  if (body === current.body) return current;
  const change = { ...laterThan(requested, current), reason };
  const mentions = JSON.stringify(await mentionsIn(db, body));
  await updateRow(db, 'comments', current, { body, mentions, edited_at: change.now }, change.now);
  await recordChanges(db, commentSubject, id, { body: { from: current.body, to: body } }, change);
  return getComment(db, { type: subject_type, id: subject_id, project_id }, id);
}

export async function deleteComment(
  db: Transaction<Tables>,
  current: Comment,
  change: Change,
): Promise<void> {
  await assertWritable(db, current.project_id);
  await deleteRow(db, 'comments', current);
  await recordDeleted(db, commentSubject, current.id, current, change);
}

/** The fields of a comment that are not simply a column. */
export const commentJsonFields = {
  author: actorJson('comments', {
    user_id: 'author_user_id',
    key_id: 'author_key_id',
    name: 'author_name',
  }),
  mentions: sql`(
    select ${jsonArrayOf(jsonObject({ user_id: sql.ref('people.user_id'), name: sql.ref('people.name') }), sql.ref('people.roster_key'))}
    from people where people.user_id in (select value from ${jsonTexts(sql.ref('comments.mentions'))}))`,
};

const commentJson = rowAsJson(Comment, 'comments', commentJsonFields);

const commentSubject = subjectOf(commentResource, () => commentJson);

const mention = new RegExp(`@(${idPattern('person').slice(1, -1)})\\b`, 'g');

/** The ids of the people whom a text mentions; rejects ids that are not on the roster. */
async function mentionsIn(db: Kysely<Tables>, body: string): Promise<string[]> {
  const ids = [...new Set([...body.matchAll(mention)].map(([, id = '']) => id))];
  if (ids.length === 0) return [];
  const found = await db.selectFrom('people').select('user_id').where('user_id', 'in', ids).execute();
  const known = new Set(found.map(({ user_id }) => user_id));
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length === 0) return ids;
  throw invalidBody(
    unknown.map((id) => fieldError('body', 'unknown_reference', `No person has the user id ${id}.`)),
  );
}
