import { NoContent, Strict } from '../../core/schemas.ts';
import type { App } from '../../http/fastify.ts';
import { created, done, sendIdempotent } from '../../http/request/idempotency.ts';
import { assertIfMatch } from '../../http/response/etag.ts';
import { sendResource } from '../../http/response/resource.ts';
import { actionErrors, createErrors, deleteErrors, updateErrors } from '../../http/route-errors.ts';
import { ListQuery, splitQuery } from '../../lists/query.ts';
import { ListOf } from '../../lists/schema.ts';
import { sendList } from '../../lists/send-list.ts';
import { importRoute } from '../../transfer/import-route.ts';
import { historyList } from '../history/queries.ts';
import { HistoryEntry } from '../history/schema.ts';
import { expireAcceptancesIn } from '../risks/queries.ts';
import { projectImport } from './import.ts';
import {
  archiveProject,
  createProject,
  deleteProject,
  getProject,
  projectList,
  updateProject,
} from './queries.ts';
import { Project, ProjectInput, ProjectPatch, ProjectRef, projectFilters } from './schema.ts';

export function projectRoutes(app: App): void {
  app.get(
    '/v1/projects',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'listProjects',
        summary: 'List projects, by name',
        tags: ['projects'],
        querystring: ListQuery(projectFilters),
        response: { 200: ListOf(Project) },
      },
    },
    (request, reply) =>
      sendList(request, reply, projectList(splitQuery(request.query).filters, request.moment)),
  );

  app.post(
    '/v1/projects',
    {
      config: { access: 'projects.manage', errors: createErrors },
      schema: {
        operationId: 'createProject',
        summary: 'Create a project',
        tags: ['projects'],
        body: ProjectInput,
        response: { 201: Project },
      },
    },
    async (request, reply) =>
      sendIdempotent(request, reply, async (db) => {
        const project = await createProject(db, request.body, request.change);
        return created(`/v1/projects/${project.id}`, project);
      }),
  );

  importRoute(app, {
    url: '/v1/projects/import',
    access: 'projects.manage',
    operationId: 'importProjects',
    summary: 'Import projects from a file',
    tag: 'projects',
    importable: ({ moment }) => projectImport(moment),
  });

  app.get(
    '/v1/projects/:project_id',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'getProject',
        summary: 'Get a project',
        tags: ['projects'],
        params: Strict({ project_id: ProjectRef }),
        response: { 200: Project },
      },
    },
    async (request, reply) =>
      sendResource(
        request,
        reply,
        await getProject(request.database.db, request.params.project_id, request.moment),
      ),
  );

  app.patch(
    '/v1/projects/:project_id',
    {
      config: { access: 'projects.manage', errors: [...updateErrors, 'project_archived'] },
      schema: {
        operationId: 'updateProject',
        summary: 'Update a project',
        tags: ['projects'],
        params: Strict({ project_id: ProjectRef }),
        body: ProjectPatch,
        response: { 200: Project },
      },
    },
    async (request, reply) => {
      const project = await request.database.write(async (db) => {
        const current = await getProject(db, request.params.project_id, request.moment);
        assertIfMatch(request, current);
        return updateProject(db, current, request.body, request.change);
      });
      return sendResource(request, reply, project);
    },
  );

  app.delete(
    '/v1/projects/:project_id',
    {
      config: { access: 'projects.manage', errors: deleteErrors },
      schema: {
        operationId: 'deleteProject',
        summary: 'Delete an empty project',
        tags: ['projects'],
        params: Strict({ project_id: ProjectRef }),
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      await request.database.write(async (db) => {
        const current = await getProject(db, request.params.project_id, request.moment);
        assertIfMatch(request, current);
        await deleteProject(db, current, request.change);
      });
      return reply.code(204).send();
    },
  );

  for (const [action, archived] of [
    ['archive', true],
    ['unarchive', false],
  ] as const) {
    app.post(
      `/v1/projects/:project_id/${action}`,
      {
        config: { access: 'projects.manage', errors: actionErrors },
        schema: {
          operationId: `${action}Project`,
          summary: archived ? 'Archive a project' : 'Unarchive a project',
          description: archived
            ? 'The project becomes read-only. Lists across projects leave it out unless `archived` includes it.'
            : 'The project becomes writable again. Risks whose acceptance expired in the meantime reopen.',
          tags: ['projects'],
          params: Strict({ project_id: ProjectRef }),
          response: { 200: Project },
        },
      },
      async (request, reply) =>
        sendIdempotent(request, reply, async (db) => {
          const current = await getProject(db, request.params.project_id, request.moment);
          assertIfMatch(request, current);
          const project = await archiveProject(db, current, archived, request.change);
          if (!archived) await expireAcceptancesIn(db, request.change, project.id);
          return done(project);
        }),
    );
  }

  app.get(
    '/v1/projects/:project_id/history',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'listProjectHistory',
        summary: 'List the changes of a project, oldest first',
        tags: ['projects'],
        params: Strict({ project_id: ProjectRef }),
        querystring: ListQuery({}),
        response: { 200: ListOf(HistoryEntry) },
      },
    },
    async (request, reply) => {
      const { id } = await getProject(request.database.db, request.params.project_id, request.moment);
      return sendList(request, reply, historyList(id));
    },
  );
}
