import type { FastifyRequest } from 'fastify';
import { fieldError, invalidBody, invalidParameter, Problem } from '../../core/errors.ts';
import { Id, optional, Strict } from '../../core/schemas.ts';
import type { App } from '../../http/fastify.ts';
import { SummaryOf } from '../../lists/schema.ts';
import { sendSummary } from '../../lists/send-list.ts';
import { resolveFilters } from '../filters.ts';
import { firstDayOfHistory, rejectBefore } from '../history/start.ts';
import { isArchived } from '../projects/queries.ts';
import { resourceRoutes } from '../resource-routes.ts';
import { readContent, reportTables } from './content.ts';
import {
  createReport,
  deleteReport,
  getReport,
  getReportContent,
  reportList,
  type Snapshot,
} from './queries.ts';
import type { Subject } from './rows.ts';
import {
  FullReport,
  maxReportProjects,
  previewParameters,
  Report,
  ReportContent,
  ReportInput,
} from './schema.ts';

export function reportRoutes(app: App): void {
  app.get(
    '/v1/reports/preview',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'previewReport',
        summary: 'Show what a report would contain now',
        tags: ['reports'],
        querystring: Strict({
          since: previewParameters.since,
          ...optional({ project: previewParameters.project }),
        }),
        response: { 200: SummaryOf(ReportContent) },
      },
    },
    async (request, reply) => {
      const subject = await parseSubject(request, request.query);
      const { isFiltered } = request.database;
      return sendSummary(request, reply, { reads: reportTables }, ({ db }) =>
        readContent({ db, isFiltered }, subject),
      );
    },
  );

  resourceRoutes(app, {
    noun: 'report',
    tag: 'reports',
    access: { read: 'projects.read', manage: 'projects.manage' },
    collection: '/v1/reports',
    params: Strict({ id: Id('report') }),
    resource: Report,
    single: {
      query: {},
      response: FullReport,
      extend: async ({ database: { db } }, report) => ({
        ...report,
        content: await getReportContent(db, report.id),
      }),
    },
    input: ReportInput,
    summaries: { create: 'Save a report', delete: 'Delete a report' },
    getSummary: 'Get a report with its content',
    descriptions: {
      create:
        'The service reads the content from its own data, in one snapshot. A report never changes; those who see all ' +
        'of its projects see it.',
    },
    hasUniqueFields: false,
    canBeInUse: false,
    listing: {
      summary: 'List reports, newest first',
      description:
        'Without their content. A key limited to projects sees the reports on these projects only.',
      filters: {},
      list: () => reportList(),
    },
    get: (db, { id }) => getReport(db, id),
    prepare: readSnapshot,
    create: (db, _, input, change, __, snapshot) => createReport(db, input, snapshot as Snapshot, change),
    delete: deleteReport,
  });
}

/** Checks the day and the projects of a report, and replaces keys of projects by ids. */
async function parseSubject(
  request: FastifyRequest,
  { since, project }: { since: string; project?: string[] },
): Promise<Subject> {
  const { moment } = request;
  if (since > moment.today)
    throw invalidParameter('since', '`since` is in the future. Use today or an earlier day.');
  rejectBefore(await firstDayOfHistory(request), { since });
  const filters = await resolveFilters(request, { archived: 'false' as const, ...(project && { project }) });
  return { project: filters.project, since, moment };
}

/** The parameters of a preview are members of the body of a new report. */
function asBodyError(error: unknown): never {
  const [first] = error instanceof Problem ? (error.errors ?? []) : [];
  if (first?.parameter === undefined) throw error;
  throw invalidBody([fieldError(first.parameter, first.code, first.detail)]);
}

/** Reads the content before the transaction that stores it, because other writes would wait for it. */
async function readSnapshot(request: FastifyRequest): Promise<Snapshot> {
  const subject = await parseSubject(request, request.body as ReportInput).catch(asBodyError);
  const snapshot = await request.database.snapshot('slow');
  try {
    const { db } = snapshot;
    const projects = await db
      .selectFrom('projects')
      .select('id')
      .where(isArchived('false'))
      .orderBy('id')
      .execute();
    const project_ids = projects.map(({ id }) => id).filter((id) => subject.project?.includes(id) ?? true);
    if (project_ids.length === 0 || project_ids.length > maxReportProjects) {
      const detail =
        project_ids.length === 0
          ? 'There is no project to report on.'
          : `A report has at most ${maxReportProjects} projects. Choose some of them.`;
      throw invalidBody([fieldError('project', project_ids.length === 0 ? 'minItems' : 'maxItems', detail)]);
    }
    const { isFiltered } = request.database;
    return { project_ids, content: await readContent({ db, isFiltered }, subject) };
  } finally {
    await snapshot.end();
  }
}
