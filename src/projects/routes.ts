import type { App } from '../http/fastify.ts';
import { sendCreated, sendResource } from '../http/resource.ts';
import { sendList } from '../lists/answer.ts';
import { ListQuery, splitQuery } from '../lists/query.ts';
import { ListOf } from '../lists/schema.ts';
import { Strict } from '../schemas.ts';
import { createProject, getProject, projectList } from './queries.ts';
import { Project, ProjectInput, ProjectRef, projectFilters } from './schema.ts';

export function projectRoutes(app: App): void {
  app.get(
    '/v1/projects',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'listProjects',
        summary: 'Projects, by name',
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
      config: { access: 'projects.manage' },
      schema: {
        operationId: 'createProject',
        summary: 'Add a project',
        tags: ['projects'],
        body: ProjectInput,
        response: { 201: Project },
      },
    },
    async (request, reply) => {
      const project = await app.database.write((db) => createProject(db, request.body, request.moment));
      return sendCreated(reply, `/v1/projects/${project.id}`, project);
    },
  );

  app.get(
    '/v1/projects/:project_id',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'getProject',
        summary: 'One project',
        tags: ['projects'],
        params: Strict({ project_id: ProjectRef }),
        response: { 200: Project },
      },
    },
    async (request, reply) =>
      sendResource(
        request,
        reply,
        await getProject(app.database.db, request.params.project_id, request.moment),
      ),
  );
}
