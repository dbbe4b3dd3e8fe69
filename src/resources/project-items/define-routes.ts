import type { FastifyRequest } from 'fastify';
import type { Kysely, Transaction } from 'kysely';
import type { Static, TObject, TProperties, TSchema } from 'typebox';
import type { Moment } from '../../core/clock.ts';
import type { ProblemCode } from '../../core/errors.ts';
import { NoContent, Strict } from '../../core/schemas.ts';
import type { Tables } from '../../database/tables.ts';
import type { Change } from '../../database/writes/change.ts';
import type { App } from '../../http/fastify.ts';
import { created, sendIdempotent } from '../../http/request/idempotency.ts';
import { assertIfMatch } from '../../http/response/etag.ts';
import { sendResource } from '../../http/response/resource.ts';
import { createErrors, deleteErrors, updateErrors } from '../../http/route-errors.ts';
import { ListQuery } from '../../lists/query.ts';
import { ListOf } from '../../lists/schema.ts';
import { sendList } from '../../lists/send-list.ts';
import { importRoute } from '../../transfer/import-route.ts';
import type { Importable } from '../../transfer/importable.ts';
import { historyList } from '../history/queries.ts';
import { HistoryEntry } from '../history/schema.ts';
import { getProjectForWriting } from '../projects/queries.ts';
import { ProjectRef } from '../projects/schema.ts';

type Item = { id: string; project_id: string; version: number };

/** The description of one kind of project item (risk, issue or task) for the shared routes. */
type ItemKind<Resource extends TObject, Input extends TObject, Patch extends TObject> = {
  noun: 'risk' | 'issue' | 'task';
  /** The noun with its article, for summaries. */
  nounWithArticle: string;
  ref: TSchema;
  resource: Resource;
  input: Input;
  patch: Patch;
  deleteSummary: string;
  updateErrors?: readonly ProblemCode[];
  get(db: Kysely<Tables>, project: string, ref: string, moment: Moment): Promise<Static<Resource> & Item>;
  create(
    db: Transaction<Tables>,
    project: string,
    input: Static<Input>,
    change: Change,
  ): Promise<Static<Resource> & Item>;
  update(
    db: Transaction<Tables>,
    current: Static<Resource> & Item,
    patch: Static<Patch>,
    change: Change,
  ): Promise<Static<Resource> & Item>;
  delete(db: Transaction<Tables>, current: Static<Resource> & Item, change: Change): Promise<void>;
  importable(project: { id: string; key: string }, moment: Moment): Importable;
  /** Extra query parameters of `GET …/{id}`, and the fields they add to the response. */
  single?: {
    query: TProperties;
    response: TObject;
    extend(request: FastifyRequest, item: Static<Resource> & Item): Promise<Static<Resource> & Item>;
  };
};

/** Registers the routes of a project's risks, issues or tasks, except their lists. */
export function projectItemRoutes<Resource extends TObject, Input extends TObject, Patch extends TObject>(
  app: App,
  item: ItemKind<Resource, Input, Patch>,
): void {
  const { noun, nounWithArticle, ref, single } = item;
  const plural = `${noun}s`;
  const Noun = `${noun[0]?.toUpperCase()}${noun.slice(1)}`;
  const tags = [plural];
  const collection = `/v1/projects/:project_id/${plural}`;
  const inProject = Strict({ project_id: ProjectRef });
  const oneItem = Strict({ project_id: ProjectRef, id: ref });
  // Fastify cannot infer types from generic schemas, so the handlers cast.
  const schemas: Record<'input' | 'patch' | 'resource', TSchema> = item;
  const paramsFrom = ({ params }: { params: unknown }) => params as { project_id: string; id: string };

  app.post(
    collection,
    {
      config: { access: 'projects.manage', errors: [...createErrors, 'project_archived'] },
      schema: {
        operationId: `create${Noun}`,
        summary: `Create ${nounWithArticle} in a project`,
        tags,
        params: inProject,
        body: schemas.input,
        response: { 201: schemas.resource },
      },
    },
    async (request, reply) =>
      sendIdempotent(request, reply, async (db) => {
        const input = request.body as Static<Input>;
        const newItem = await item.create(db, paramsFrom(request).project_id, input, request.change);
        return created(`/v1/projects/${newItem.project_id}/${plural}/${newItem.id}`, newItem);
      }),
  );

  importRoute(app, {
    url: `${collection}/import`,
    access: 'projects.manage',
    errors: ['project_archived'],
    operationId: `import${Noun}s`,
    summary: `Import ${plural} of a project from a file`,
    tag: plural,
    params: { project_id: ProjectRef },
    importable: async (request) => {
      const { project_id } = paramsFrom(request);
      const project = await getProjectForWriting(request.database.db, project_id, request.moment);
      return item.importable(project, request.moment);
    },
  });

  app.get(
    `${collection}/:id`,
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: `get${Noun}`,
        summary: `Get ${nounWithArticle}`,
        tags,
        params: oneItem,
        ...(single && { querystring: Strict(single.query) }),
        response: { 200: single?.response ?? schemas.resource },
      },
    },
    async (request, reply) => {
      const { project_id, id } = paramsFrom(request);
      const found = await item.get(request.database.db, project_id, id, request.moment);
      return sendResource(request, reply, single ? await single.extend(request, found) : found);
    },
  );

  app.patch(
    `${collection}/:id`,
    {
      config: {
        access: 'projects.manage',
        errors: [...updateErrors, ...(item.updateErrors ?? []), 'project_archived'],
      },
      schema: {
        operationId: `update${Noun}`,
        summary: `Update ${nounWithArticle}`,
        tags,
        params: oneItem,
        body: schemas.patch,
        response: { 200: schemas.resource },
      },
    },
    async (request, reply) => {
      const { project_id, id } = paramsFrom(request);
      const changed = await request.database.write(async (db) => {
        const current = await item.get(db, project_id, id, request.moment);
        assertIfMatch(request, current);
        return item.update(db, current, request.body as Static<Patch>, request.change);
      });
      return sendResource(request, reply, changed);
    },
  );

  app.delete(
    `${collection}/:id`,
    {
      config: { access: 'projects.manage', errors: [...deleteErrors, 'project_archived'] },
      schema: {
        operationId: `delete${Noun}`,
        summary: item.deleteSummary,
        tags,
        params: oneItem,
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      const { project_id, id } = paramsFrom(request);
      await request.database.write(async (db) => {
        const current = await item.get(db, project_id, id, request.moment);
        assertIfMatch(request, current);
        await item.delete(db, current, request.change);
      });
      return reply.code(204).send();
    },
  );

  app.get(
    `${collection}/:id/history`,
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: `list${Noun}History`,
        summary: `List the changes of ${nounWithArticle}, oldest first`,
        tags,
        params: oneItem,
        querystring: ListQuery({}),
        response: { 200: ListOf(HistoryEntry) },
      },
    },
    async (request, reply) => {
      const { project_id, id } = paramsFrom(request);
      const found = await item.get(request.database.db, project_id, id, request.moment);
      return sendList(request, reply, historyList(found.id));
    },
  );
}
