import type { Kysely } from 'kysely';
import { type TProperties, type TString, Type } from 'typebox';
import type { Moment } from '../../core/clock.ts';
import { Id } from '../../core/schemas.ts';
import { capitalized, withArticle } from '../../core/text.ts';
import type { App } from '../../http/fastify.ts';
import type { Tables } from '../../store/tables.ts';
import { getIssue } from '../issues/queries.ts';
import { IssueRef } from '../issues/schema.ts';
import type { ReadItem } from '../project-items/read.ts';
import { lockProject, lockProjectFirst } from '../projects/lock.ts';
import { getProject } from '../projects/queries.ts';
import { ProjectRef } from '../projects/schema.ts';
import { resourceRoutes } from '../resource-routes.ts';
import { getRisk } from '../risks/queries.ts';
import { RiskRef } from '../risks/schema.ts';
import { getTask } from '../tasks/queries.ts';
import { TaskRef } from '../tasks/schema.ts';
import {
  type CommentedResource,
  commentList,
  createComment,
  deleteComment,
  getComment,
  updateComment,
} from './queries.ts';
import { Comment, type CommentedType, CommentInput, CommentPatch } from './schema.ts';

type Params = { project_id: string; id: string };

/** A kind of resource that can have comments. */
type Commentable = {
  type: CommentedType;
  url: string;
  params: TProperties;
  find(db: Kysely<Tables>, params: Params, moment: Moment): Promise<{ id: string; project_id?: string }>;
};

const commentableItem = (
  type: 'risk' | 'issue' | 'task',
  ref: TString,
  get: ReadItem<{ id: string; project_id: string }>,
): Commentable => ({
  type,
  url: `/v1/projects/:project_id/${type}s/:id`,
  params: { project_id: ProjectRef, id: ref },
  find: (db, { project_id, id }, moment) => get(db, project_id, id, moment),
});

const commentables: Commentable[] = [
  {
    type: 'project',
    url: '/v1/projects/:project_id',
    params: { project_id: ProjectRef },
    find: (db, { project_id }, moment) => getProject(db, project_id, moment),
  },
  commentableItem('risk', RiskRef, getRisk),
  commentableItem('issue', IssueRef, getIssue),
  commentableItem('task', TaskRef, getTask),
];

export function commentRoutes(app: App): void {
  for (const commentable of commentables) addRoutes(app, commentable);
}

function addRoutes(app: App, { type, url, params, find }: Commentable): void {
  async function findCommented(
    db: Kysely<Tables>,
    params: unknown,
    moment: Moment,
  ): Promise<CommentedResource> {
    const { id, project_id = id } = await find(db, params as Params, moment);
    return { type, id, project_id };
  }

  resourceRoutes(app, {
    noun: `${type} comment`,
    tag: 'comments',
    access: { read: 'projects.read', manage: 'projects.manage' },
    collection: `${url}/comments`,
    collectionParams: params,
    params: Type.Object({ ...params, comment_id: Id('comment') }, { additionalProperties: false }),
    resource: Comment,
    input: CommentInput,
    patch: CommentPatch,
    summaries: {
      create: `Comment on ${withArticle(type)}`,
      delete: `Delete a comment on ${withArticle(type)}`,
    },
    errors: ['project_archived'],
    listing: {
      operationId: `list${capitalized(type)}Comments`,
      summary: `List the comments on ${withArticle(type)}, oldest first`,
      filters: {},
      list: async ({ params, database, moment }) =>
        commentList(await findCommented(database.db, params, moment)),
    },
    pathOf: ({ id, project_id, subject_id }) =>
      `${url.replace(':project_id', project_id).replace(':id', subject_id)}/comments/${id}`,
    lock: (db, params) => lockProjectFirst(db, (params as unknown as Params).project_id),
    get: async (db, params, moment) =>
      getComment(db, await findCommented(db, params, moment), (params as { comment_id: string }).comment_id),
    create: async (db, params, input, change) => {
      const project = await lockProject(db, (params as unknown as Params).project_id);
      return createComment(db, project, await findCommented(db, params, change), input, change);
    },
    update: updateComment,
    delete: deleteComment,
  });
}
