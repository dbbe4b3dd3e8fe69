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

/** What a kind of project item (risk, issue or task) says about itself for the routes that all three share. */
type ProjectItem<Resource extends TObject, Input extends TObject, Patch extends TObject> = {
  noun: 'risk' | 'issue' | 'task';
  /** With its article, for summaries. */
  oneOf: string;
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
  /** Query parameters of the route of a single item, and what they add to its response. */
  single?: {
    query: TProperties;
    response: TObject;
    extend(request: FastifyRequest, item: Static<Resource> & Item): Promise<Static<Resource> & Item>;
  };
};

/** The routes of a project's risks, issues or tasks, but for their lists. */
export function projectItemRoutes<Resource extends TObject, Input extends TObject, Patch extends TObject>(
  app: App,
  item: ProjectItem<Resource, Input, Patch>,
): void {
  const { noun, oneOf, ref, single } = item;
  const plural = `${noun}s`;
  const Noun = `${noun[0]?.toUpperCase()}${noun.slice(1)}`;
  const tags = [plural];
  const collection = `/v1/projects/:project_id/${plural}`;
  const inProject = Strict({ project_id: ProjectRef });
  const oneItem = Strict({ project_id: ProjectRef, id: ref });
  // Fastify derives no types from schemas that are generic, so handlers state them.
  const schemas: Record<'input' | 'patch' | 'resource', TSchema> = item;
  const paramsOf = ({ params }: { params: unknown }) => params as { project_id: string; id: string };

  app.post(
    collection,
    {
      config: { access: 'projects.manage', errors: [...createErrors, 'project_archived'] },
      schema: {
        operationId: `create${Noun}`,
        summary: `Add ${oneOf} to a project`,
        tags,
        params: inProject,
        body: schemas.input,
        response: { 201: schemas.resource },
      },
    },
    async (request, reply) =>
      sendIdempotent(request, reply, async (db) => {
        const input = request.body as Static<Input>;
        const made = await item.create(db, paramsOf(request).project_id, input, request.change);
        return created(`/v1/projects/${made.project_id}/${plural}/${made.id}`, made);
      }),
  );

  importRoute(app, {
    url: `${collection}/import`,
    access: 'projects.manage',
    errors: ['project_archived'],
    operationId: `import${Noun}s`,
    summary: `Add or change ${plural} of a project from a file`,
    tag: plural,
    params: { project_id: ProjectRef },
    importable: async (request) => {
      const { project_id } = paramsOf(request);
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
        summary: `One ${noun}`,
        tags,
        params: oneItem,
        ...(single && { querystring: Strict(single.query) }),
        response: { 200: single?.response ?? schemas.resource },
      },
    },
    async (request, reply) => {
      const { project_id, id } = paramsOf(request);
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
        summary: `Change ${oneOf}`,
        tags,
        params: oneItem,
        body: schemas.patch,
        response: { 200: schemas.resource },
      },
    },
    async (request, reply) => {
      const { project_id, id } = paramsOf(request);
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
      const { project_id, id } = paramsOf(request);
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
        summary: `What changed of ${oneOf}, oldest first`,
        tags,
        params: oneItem,
        querystring: ListQuery({}),
        response: { 200: ListOf(HistoryEntry) },
      },
    },
    async (request, reply) => {
      const { project_id, id } = paramsOf(request);
      const found = await item.get(request.database.db, project_id, id, request.moment);
      return sendList(request, reply, historyList(found.id));
    },
  );
}
