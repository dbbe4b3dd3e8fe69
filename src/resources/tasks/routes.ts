import { Strict } from '../../core/schemas.ts';
import type { App } from '../../http/fastify.ts';
import { ListQuery, SortableListQuery, splitQuery } from '../../lists/query.ts';
import { ListOf } from '../../lists/schema.ts';
import { sendList } from '../../lists/send-list.ts';
import { resolveFilters } from '../filters.ts';
import { projectItemRoutes } from '../project-items/item-routes.ts';
import { sortsOf } from '../project-items/order.ts';
import { getProject } from '../projects/queries.ts';
import { ProjectRef } from '../projects/schema.ts';
import { taskImport } from './import.ts';
import { taskList, taskOrders, taskWrites } from './queries.ts';
import { projectTaskFilters, Task, TaskInput, TaskPatch, TaskRef, taskFilters } from './schema.ts';

export function taskRoutes(app: App): void {
  app.get(
    '/v1/tasks',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'listTasks',
        summary: 'List tasks across projects, by due date',
        description:
          'By default, sorted by `due_on`, earliest first, then by `id`. Tasks without the day that `sort` names come last. ' +
          'By default, the list contains open tasks of projects that are not archived.',
        tags: ['tasks'],
        querystring: SortableListQuery(taskFilters, sortsOf(taskOrders)),
        response: { 200: ListOf(Task) },
      },
    },
    async (request, reply) => {
      const { filters, sort } = splitQuery(request.query);
      const resolved = await resolveFilters(request.database.db, filters);
      return sendList(request, reply, taskList(resolved, request.moment, sort));
    },
  );

  app.get(
    '/v1/projects/:project_id/tasks',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'listProjectTasks',
        summary: "List a project's tasks in every status, by due date",
        tags: ['tasks'],
        params: Strict({ project_id: ProjectRef }),
        querystring: ListQuery(projectTaskFilters),
        response: { 200: ListOf(Task) },
      },
    },
    async (request, reply) => {
      const { filters } = splitQuery(request.query);
      const { db } = request.database;
      const { id } = await getProject(db, request.params.project_id, request.moment);
      const resolved = await resolveFilters(db, filters);
      return sendList(request, reply, taskList({ ...resolved, project: [id] }, request.moment));
    },
  );

  projectItemRoutes(app, {
    noun: 'task',
    ref: TaskRef,
    resource: Task,
    input: TaskInput,
    patch: TaskPatch,
    summaries: { create: 'Create a task in a project', delete: 'Delete a task' },
    importable: taskImport,
    writes: taskWrites,
  });
}
