import { optional, Strict } from '../../core/schemas.ts';
import type { App } from '../../http/fastify.ts';
import { ListQuery, splitQuery } from '../../lists/query.ts';
import { ListOf, SummaryOf } from '../../lists/schema.ts';
import { sendList, sendSummary } from '../../lists/send-list.ts';
import { projectItemRoutes } from '../project-items/routes.ts';
import { getProject, resolveProjects } from '../projects/queries.ts';
import { ProjectRef } from '../projects/schema.ts';
import { issueImport } from './import.ts';
import { createIssue, deleteIssue, getIssue, issueList, issueTables, updateIssue } from './queries.ts';
import {
  Issue,
  IssueInput,
  IssuePatch,
  IssueRef,
  IssueSummary,
  issueFilters,
  projectIssueFilters,
} from './schema.ts';
import { summarizeIssues } from './summaries.ts';

export function issueRoutes(app: App): void {
  app.get(
    '/v1/issues',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'listIssues',
        summary: 'Open issues across projects',
        description:
          'Only open ones, always. In the order of severity, priority, `due_on` soonest, `raised_on` oldest, `id`. By ' +
          'default of projects that are not archived.',
        tags: ['issues'],
        querystring: ListQuery(issueFilters),
        response: { 200: ListOf(Issue) },
      },
    },
    async (request, reply) => {
      const { filters } = splitQuery(request.query);
      const project = filters.project && (await resolveProjects(request.database.db, filters.project));
      return sendList(request, reply, issueList({ ...filters, ...(project && { project }) }, request.moment));
    },
  );

  app.get(
    '/v1/issues/summary',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'summarizeIssues',
        summary: 'The open issues counted by severity, priority, age, project and assignee',
        tags: ['issues'],
        querystring: Strict(optional(issueFilters)),
        response: { 200: SummaryOf(IssueSummary) },
      },
    },
    async (request, reply) => {
      const filters = request.query;
      const project = filters.project && (await resolveProjects(request.database.db, filters.project));
      const asked = { ...filters, ...(project && { project }) };
      return sendSummary(request, reply, issueTables, (db) => summarizeIssues(db, asked, request.moment));
    },
  );

  app.get(
    '/v1/projects/:project_id/issues',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'listProjectIssues',
        summary: "A project's issues in every state",
        tags: ['issues'],
        params: Strict({ project_id: ProjectRef }),
        querystring: ListQuery(projectIssueFilters),
        response: { 200: ListOf(Issue) },
      },
    },
    async (request, reply) => {
      const { filters } = splitQuery(request.query);
      const { id } = await getProject(request.database.db, request.params.project_id, request.moment);
      return sendList(request, reply, issueList({ ...filters, project: [id] }, request.moment));
    },
  );

  projectItemRoutes(app, {
    noun: 'issue',
    oneOf: 'an issue',
    ref: IssueRef,
    resource: Issue,
    input: IssueInput,
    patch: IssuePatch,
    deleteSummary: 'Delete an issue to which nothing belongs',
    updateErrors: ['invalid_transition'],
    get: getIssue,
    create: createIssue,
    update: updateIssue,
    delete: deleteIssue,
    importable: issueImport,
  });
}
