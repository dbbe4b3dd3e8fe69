import { Strict } from '../../core/schemas.ts';
import type { App } from '../../http/fastify.ts';
import { ListQuery, splitQuery } from '../../lists/query.ts';
import { ListOf } from '../../lists/schema.ts';
import { sendList } from '../../lists/send-list.ts';
import { projectItemRoutes } from '../project-items/routes.ts';
import { getProject, resolveProjects } from '../projects/queries.ts';
import { ProjectRef } from '../projects/schema.ts';
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

  projectItemRoutes(app, {
    noun: 'task',
    oneOf: 'a task',
    ref: TaskRef,
    resource: Task,
    input: TaskInput,
    patch: TaskPatch,
    deleteSummary: 'Delete a task',
    get: getTask,
    create: createTask,
    update: updateTask,
    delete: deleteTask,
    importable: taskImport,
  });
}
