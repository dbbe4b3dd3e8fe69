import type { App } from '../../http/fastify.ts';
import { resolveFilters } from '../filters.ts';
import { listRoute } from '../list-route.ts';
import { projectItemRoutes } from '../project-items/item-routes.ts';
import { sortsOf } from '../project-items/order.ts';
import { taskImport } from './import.ts';
import { taskList, taskOrders, taskWrites } from './queries.ts';
import { projectTaskFilters, Task, TaskInput, TaskPatch, TaskRef, taskFilters } from './schema.ts';

export function taskRoutes(app: App): void {
  listRoute(app, {
    url: '/v1/tasks',
    access: 'projects.read',
    operationId: 'listTasks',
    summary: 'List tasks across projects, by due date',
    description:
      'By default, sorted by `due_on`, earliest first, then by `id`. Tasks without the day that `sort` names come last. ' +
      'By default, the list contains open tasks of projects that are not archived.',
    tag: 'tasks',
    row: Task,
    filters: taskFilters,
    sorts: sortsOf(taskOrders),
    list: async ({ database, actor, moment }, { filters, sort }) =>
      taskList(await resolveFilters({ database, actor }, filters), moment, sort),
  });

  projectItemRoutes(app, {
    ref: TaskRef,
    resource: Task,
    input: TaskInput,
    patch: TaskPatch,
    summaries: { create: 'Create a task in a project', delete: 'Delete a task' },
    importable: async () => taskImport,
    writes: taskWrites,
    listing: {
      summary: "List a project's tasks in every status, by due date",
      filters: projectTaskFilters,
      list: async ({ database, actor, moment }, { filters }) =>
        taskList(await resolveFilters({ database, actor }, filters), moment),
    },
  });
}
