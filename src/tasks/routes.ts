import { historyList } from '../history/queries.ts';
import { HistoryEntry } from '../history/schema.ts';
import { refuseStale } from '../http/conditions.ts';
import type { App } from '../http/fastify.ts';
import { created, writeOnce } from '../http/idempotency.ts';
import { sendResource } from '../http/resource.ts';
import { importRoute } from '../imports/answer.ts';
import { sendList } from '../lists/answer.ts';
import { ListQuery, splitQuery } from '../lists/query.ts';
import { ListOf } from '../lists/schema.ts';
import { getProject, getProjectForWriting, resolveProjects } from '../projects/queries.ts';
import { ProjectRef } from '../projects/schema.ts';
import { NoContent, Strict } from '../schemas.ts';
import { taskImport } from './import.ts';
import { createTask, deleteTask, getTask, taskList, updateTask } from './queries.ts';
import { projectTaskFilters, Task, TaskInput, TaskPatch, TaskRef, taskFilters } from './schema.ts';

export function taskRoutes(app: App): void {
  app.get(
    '/v1/tasks',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'listTasks',
        summary: 'Tasks across projects, by due day',
        description:
          'In the order of `due_on` soonest, `id`; tasks without a day come last. By default open tasks of projects ' +
          'that are not archived.',
        tags: ['tasks'],
        querystring: ListQuery(taskFilters),
        response: { 200: ListOf(Task) },
      },
    },
    async (request, reply) => {
      const { filters } = splitQuery(request.query);
      const project = filters.project && (await resolveProjects(request.database.db, filters.project));
      return sendList(request, reply, taskList({ ...filters, ...(project && { project }) }, request.moment));
    },
  );

  app.get(
    '/v1/projects/:project_id/tasks',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'listProjectTasks',
        summary: "A project's tasks in every state, by due day",
        tags: ['tasks'],
        params: Strict({ project_id: ProjectRef }),
        querystring: ListQuery(projectTaskFilters),
        response: { 200: ListOf(Task) },
      },
    },
    async (request, reply) => {
      const { filters } = splitQuery(request.query);
      const { id } = await getProject(request.database.db, request.params.project_id, request.moment);
      return sendList(request, reply, taskList({ ...filters, project: [id] }, request.moment));
    },
  );

  app.post(
    '/v1/projects/:project_id/tasks',
    {
      config: { access: 'projects.manage' },
      schema: {
        operationId: 'createTask',
        summary: 'Add a task to a project',
        tags: ['tasks'],
        params: Strict({ project_id: ProjectRef }),
        body: TaskInput,
        response: { 201: Task },
      },
    },
    async (request, reply) =>
      writeOnce(request, reply, async (db) => {
        const task = await createTask(db, request.params.project_id, request.body, request.change);
        return created(`/v1/projects/${task.project_id}/tasks/${task.id}`, task);
      }),
  );

  importRoute(app, {
    url: '/v1/projects/:project_id/tasks/import',
    access: 'projects.manage',
    operationId: 'importTasks',
    summary: 'Add or change tasks of a project from a file',
    tag: 'tasks',
    params: { project_id: ProjectRef },
    importable: async ({ params, database, moment }) => {
      const { project_id } = params as { project_id: string };
      return taskImport(await getProjectForWriting(database.db, project_id, moment), moment);
    },
  });

  app.get(
    '/v1/projects/:project_id/tasks/:id',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'getTask',
        summary: 'One task',
        tags: ['tasks'],
        params: Strict({ project_id: ProjectRef, id: TaskRef }),
        response: { 200: Task },
      },
    },
    async (request, reply) => {
      const { project_id, id } = request.params;
      return sendResource(request, reply, await getTask(request.database.db, project_id, id));
    },
  );

  app.patch(
    '/v1/projects/:project_id/tasks/:id',
    {
      config: { access: 'projects.manage' },
      schema: {
        operationId: 'updateTask',
        summary: 'Change a task',
        tags: ['tasks'],
        params: Strict({ project_id: ProjectRef, id: TaskRef }),
        body: TaskPatch,
        response: { 200: Task },
      },
    },
    async (request, reply) => {
      const { project_id, id } = request.params;
      const task = await request.database.write(async (db) => {
        const current = await getTask(db, project_id, id);
        refuseStale(request, current);
        return updateTask(db, current, request.body, request.change);
      });
      return sendResource(request, reply, task);
    },
  );

  app.delete(
    '/v1/projects/:project_id/tasks/:id',
    {
      config: { access: 'projects.manage' },
      schema: {
        operationId: 'deleteTask',
        summary: 'Delete a task',
        tags: ['tasks'],
        params: Strict({ project_id: ProjectRef, id: TaskRef }),
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      const { project_id, id } = request.params;
      await request.database.write(async (db) => {
        const current = await getTask(db, project_id, id);
        refuseStale(request, current);
        await deleteTask(db, current, request.change);
      });
      return reply.code(204).send();
    },
  );

  app.get(
    '/v1/projects/:project_id/tasks/:id/history',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'listTaskHistory',
        summary: 'What changed of a task, oldest first',
        tags: ['tasks'],
        params: Strict({ project_id: ProjectRef, id: TaskRef }),
        querystring: ListQuery({}),
        response: { 200: ListOf(HistoryEntry) },
      },
    },
    async (request, reply) => {
      const { project_id, id } = request.params;
      const task = await getTask(request.database.db, project_id, id);
      return sendList(request, reply, historyList(task.id));
    },
  );
}
