import { optional, Strict } from '../../core/schemas.ts';
import type { App } from '../../http/fastify.ts';
import { ListQuery, SortableListQuery, splitQuery } from '../../lists/query.ts';
import { ListOf, SummaryOf } from '../../lists/schema.ts';
import { sendList, sendSummary } from '../../lists/send-list.ts';
import { resolveFilters } from '../filters.ts';
import { projectItemRoutes } from '../project-items/item-routes.ts';
import { sortsOf } from '../project-items/order.ts';
import { getProject } from '../projects/queries.ts';
import { ProjectRef } from '../projects/schema.ts';
import { issueImport } from './import.ts';
import { issueList, issueOrders, issueTables, issueWrites } from './queries.ts';
import {
  allIssueFilters,
  Issue,
  IssueInput,
  IssuePatch,
  IssueRef,
  IssueSummary,
  issueFilters,
  projectIssueFilters,
} from './schema.ts';
import { summarizeIssues } from './summaries.ts';

const sorts = sortsOf(issueOrders);

export function issueRoutes(app: App): void {
  app.get(
    '/v1/issues',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'listIssues',
        summary: 'List open issues across projects',
        description:
          'Contains only open issues. By default, sorted by severity and priority, highest first, then by `due_on` and ' +
          '`raised_on`, earliest first, then by `id`. By default, the list leaves out archived projects.',
        tags: ['issues'],
        querystring: SortableListQuery(issueFilters, sorts),
        response: { 200: ListOf(Issue) },
      },
    },
    async (request, reply) => {
      const { filters, sort } = splitQuery(request.query);
      const resolved = await resolveFilters(request.database.db, filters);
      return sendList(request, reply, issueList(resolved, request.moment, sort));
    },
  );

  app.get(
    '/v1/issues/all',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'listAllIssues',
        summary: 'List issues in every status across projects',
        description:
          'Sorted like the list of open issues. By default, the list leaves out archived projects.',
        tags: ['issues'],
        querystring: SortableListQuery(allIssueFilters, sorts),
        response: { 200: ListOf(Issue) },
      },
    },
    async (request, reply) => {
      const { filters, sort } = splitQuery(request.query);
      const resolved = await resolveFilters(request.database.db, filters);
      return sendList(request, reply, issueList(resolved, request.moment, sort));
    },
  );

  app.get(
    '/v1/issues/summary',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'summarizeIssues',
        summary: 'Count open issues by severity, priority, age, project and assignee',
        tags: ['issues'],
        querystring: Strict(optional(issueFilters)),
        response: { 200: SummaryOf(IssueSummary) },
      },
    },
    async (request, reply) => {
      const filters = await resolveFilters(request.database.db, request.query);
      const tables = filters.risk_id ? [...issueTables, 'risks' as const] : issueTables;
      return sendSummary(request, reply, tables, (db) => summarizeIssues(db, filters, request.moment));
    },
  );

  app.get(
    '/v1/projects/:project_id/issues',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'listProjectIssues',
        summary: "List a project's issues in every status",
        tags: ['issues'],
        params: Strict({ project_id: ProjectRef }),
        querystring: ListQuery(projectIssueFilters),
        response: { 200: ListOf(Issue) },
      },
    },
    async (request, reply) => {
      const { filters } = splitQuery(request.query);
      const { db } = request.database;
      const { id } = await getProject(db, request.params.project_id, request.moment);
      const resolved = await resolveFilters(db, filters);
      return sendList(request, reply, issueList({ ...resolved, project: [id] }, request.moment));
    },
  );

  projectItemRoutes(app, {
    noun: 'issue',
    ref: IssueRef,
    resource: Issue,
    input: IssueInput,
    patch: IssuePatch,
    summaries: { create: 'Create an issue in a project', delete: 'Delete an issue that has no tasks' },
    updateErrors: ['invalid_transition'],
    importable: issueImport,
    writes: issueWrites,
  });
}
