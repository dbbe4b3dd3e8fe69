import type { FastifyRequest } from 'fastify';
import { optional, Strict } from '../../core/schemas.ts';
import type { App } from '../../http/fastify.ts';
import { SummaryOf } from '../../lists/schema.ts';
import { sendSummary } from '../../lists/send-list.ts';
import { resolveFilters } from '../filters.ts';
import { listRoute, type ParsedQuery } from '../list-route.ts';
import { keepCounts } from '../project-items/counts/kept-counts.ts';
import { projectItemRoutes } from '../project-items/item-routes.ts';
import { sortsOf } from '../project-items/order.ts';
import { summaryParameters } from '../project-items/schema.ts';
import { issueImport } from './import.ts';
import { type IssueFilters, issueList, issueOrders, issueTables, issueWrites } from './queries.ts';
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
import { countableIssues, isKept, summarizeIssues } from './summaries.ts';

const sorts = sortsOf(issueOrders);

export function issueRoutes(app: App): void {
  const counts = keepCounts(countableIssues);
  const list = async (
    { database, actor, moment }: FastifyRequest,
    { filters, sort }: ParsedQuery<IssueFilters>,
  ) => issueList(await resolveFilters({ database, actor }, filters), moment, sort);

  listRoute(app, {
    url: '/v1/issues',
    access: 'projects.read',
    operationId: 'listIssues',
    summary: 'List open issues across projects',
    description:
      'Contains only open issues. By default, sorted by severity and priority, highest first, then by `due_on` and ' +
      '`raised_on`, earliest first, then by `id`. By default, the list leaves out archived projects.',
    tag: 'issues',
    row: Issue,
    filters: issueFilters,
    sorts,
    list,
  });

  listRoute(app, {
    url: '/v1/issues/all',
    access: 'projects.read',
    operationId: 'listAllIssues',
    summary: 'List issues in every status across projects',
    description: 'Sorted like the list of open issues. By default, the list leaves out archived projects.',
    tag: 'issues',
    row: Issue,
    filters: allIssueFilters,
    sorts,
    list,
  });

  app.get(
    '/v1/issues/summary',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'summarizeIssues',
        summary: 'Count open issues by severity, priority, age, project and assignee',
        tags: ['issues'],
        querystring: Strict(optional({ ...issueFilters, ...summaryParameters })),
        response: { 200: SummaryOf(IssueSummary) },
      },
    },
    async (request, reply) => {
      const { database, moment, query } = request;
      const { top = 20, ...shown } = query;
      const filters = await resolveFilters(request, shown);
      const reads = filters.risk_id ? [...issueTables, 'risks' as const] : issueTables;
      const open = isKept(filters) ? () => counts.open(database) : undefined;
      return sendSummary(request, reply, { reads, filters: shown, open }, (snapshot) =>
        summarizeIssues(snapshot, filters, moment, top, shown),
      );
    },
  );

  projectItemRoutes(app, {
    ref: IssueRef,
    resource: Issue,
    input: IssueInput,
    patch: IssuePatch,
    summaries: { create: 'Create an issue in a project', delete: 'Delete an issue that has no tasks' },
    updateErrors: ['invalid_transition'],
    importable: async () => issueImport,
    writes: issueWrites,
    listing: {
      summary: "List a project's issues in every status",
      filters: projectIssueFilters,
      list,
    },
  });
}
