import { historyList } from '../history/queries.ts';
import { HistoryEntry } from '../history/schema.ts';
import { refuseStale } from '../http/conditions.ts';
import type { App } from '../http/fastify.ts';
import { created, writeOnce } from '../http/idempotency.ts';
import { sendResource } from '../http/resource.ts';
import { importRoute } from '../imports/answer.ts';
import { sendList, sendSummary } from '../lists/answer.ts';
import { ListQuery, splitQuery } from '../lists/query.ts';
import { ListOf, SummaryOf } from '../lists/schema.ts';
import { getProject, getProjectForWriting, resolveProjects } from '../projects/queries.ts';
import { ProjectRef } from '../projects/schema.ts';
import { NoContent, optional, Strict } from '../schemas.ts';
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

  app.post(
    '/v1/projects/:project_id/issues',
    {
      config: { access: 'projects.manage' },
      schema: {
        operationId: 'createIssue',
        summary: 'Add an issue to a project',
        tags: ['issues'],
        params: Strict({ project_id: ProjectRef }),
        body: IssueInput,
        response: { 201: Issue },
      },
    },
    async (request, reply) =>
      writeOnce(request, reply, async (db) => {
        const issue = await createIssue(db, request.params.project_id, request.body, request.change);
        return created(`/v1/projects/${issue.project_id}/issues/${issue.id}`, issue);
      }),
  );

  importRoute(app, {
    url: '/v1/projects/:project_id/issues/import',
    access: 'projects.manage',
    operationId: 'importIssues',
    summary: 'Add or change issues of a project from a file',
    tag: 'issues',
    params: { project_id: ProjectRef },
    importable: async ({ params, database, moment }) => {
      const { project_id } = params as { project_id: string };
      return issueImport(await getProjectForWriting(database.db, project_id, moment), moment);
    },
  });

  app.get(
    '/v1/projects/:project_id/issues/:id',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'getIssue',
        summary: 'One issue',
        tags: ['issues'],
        params: Strict({ project_id: ProjectRef, id: IssueRef }),
        response: { 200: Issue },
      },
    },
    async (request, reply) => {
      const { project_id, id } = request.params;
      return sendResource(
        request,
        reply,
        await getIssue(request.database.db, project_id, id, request.moment),
      );
    },
  );

  app.patch(
    '/v1/projects/:project_id/issues/:id',
    {
      config: { access: 'projects.manage' },
      schema: {
        operationId: 'updateIssue',
        summary: 'Change an issue',
        tags: ['issues'],
        params: Strict({ project_id: ProjectRef, id: IssueRef }),
        body: IssuePatch,
        response: { 200: Issue },
      },
    },
    async (request, reply) => {
      const { project_id, id } = request.params;
      const issue = await request.database.write(async (db) => {
        const current = await getIssue(db, project_id, id, request.moment);
        refuseStale(request, current);
        return updateIssue(db, current, request.body, request.change);
      });
      return sendResource(request, reply, issue);
    },
  );

  app.delete(
    '/v1/projects/:project_id/issues/:id',
    {
      config: { access: 'projects.manage' },
      schema: {
        operationId: 'deleteIssue',
        summary: 'Delete an issue to which nothing belongs',
        tags: ['issues'],
        params: Strict({ project_id: ProjectRef, id: IssueRef }),
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      const { project_id, id } = request.params;
      await request.database.write(async (db) => {
        const current = await getIssue(db, project_id, id, request.moment);
        refuseStale(request, current);
        await deleteIssue(db, current, request.change);
      });
      return reply.code(204).send();
    },
  );

  app.get(
    '/v1/projects/:project_id/issues/:id/history',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'listIssueHistory',
        summary: 'What changed of an issue, oldest first',
        tags: ['issues'],
        params: Strict({ project_id: ProjectRef, id: IssueRef }),
        querystring: ListQuery({}),
        response: { 200: ListOf(HistoryEntry) },
      },
    },
    async (request, reply) => {
      const { project_id, id } = request.params;
      const issue = await getIssue(request.database.db, project_id, id, request.moment);
      return sendList(request, reply, historyList(issue.id));
    },
  );
}
