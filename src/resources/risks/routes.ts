import { Type } from 'typebox';
import { daysLater, type Moment } from '../../core/clock.ts';
import { invalidParameter } from '../../core/errors.ts';
import { Day, optional, Strict } from '../../core/schemas.ts';
import type { ScopedDatabase } from '../../database/project-scope.ts';
import type { App } from '../../http/fastify.ts';
import { created, sendIdempotent } from '../../http/request/idempotency.ts';
import { assertIfMatch } from '../../http/response/etag.ts';
import { sendWithContentEtag } from '../../http/response/resource.ts';
import { actionErrors } from '../../http/route-errors.ts';
import { type Filters, SortableListQuery, splitQuery } from '../../lists/query.ts';
import { ListOf, SummaryOf } from '../../lists/schema.ts';
import { sendList, sendSummary } from '../../lists/send-list.ts';
import { Issue } from '../issues/schema.ts';
import { projectItemRoutes } from '../project-items/routes.ts';
import { getProject, resolveProjects } from '../projects/queries.ts';
import { ProjectRef } from '../projects/schema.ts';
import { riskImport } from './import.ts';
import { evaluateRisk, explainRisk, riskModel } from './model.ts';
import { createRisk, deleteRisk, getRisk, materializeRisk, updateRisk } from './queries.ts';
import { type Register, type RiskFilters, riskList, riskOrders, riskTables } from './register.ts';
import {
  EvaluateInput,
  Evaluation,
  ExplainedRisk,
  historicalFilters,
  MaterializeInput,
  projectRiskFilters,
  RankedRisk,
  Risk,
  RiskHeatmap,
  RiskInput,
  RiskModel,
  RiskPatch,
  RiskRef,
  RiskSummary,
  RiskTrend,
  riskFilters,
  trendPeriod,
} from './schema.ts';
import { getRiskHeatmap, getRiskTrend, summarizeRisks } from './summaries.ts';

const sorts = Object.keys(riskOrders);
const RiskListAnswer = ListOf(RankedRisk, {
  as_of: Type.Optional(Day({ description: 'The day looked back to, when one was asked for.' })),
  unassessed: Type.Integer({ description: 'How many rows of the whole filtered list have no score.' }),
});

export function riskRoutes(app: App): void {
  app.get(
    '/v1/risks',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'listRisks',
        summary: 'The risk register across projects, ranked by score',
        description:
          'Highest first: score, impact, probability, then `due_on` soonest, `raised_on` oldest, `id`. Risks that are ' +
          'not assessed come last and are counted in `meta.unassessed`. By default active risks of projects that are ' +
          'not archived.',
        tags: ['risks'],
        querystring: SortableListQuery({ ...riskFilters, ...historicalFilters }, sorts),
        response: { 200: RiskListAnswer },
      },
    },
    async (request, reply) => {
      const { filters, sort } = splitQuery(request.query);
      const { register, since } = await registerOf(request.database, filters, request.moment);
      return sendList(request, reply, riskList(register, sort ?? 'rank', since));
    },
  );

  app.get(
    '/v1/risks/summary',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'summarizeRisks',
        summary: 'The register counted by level, status, category, project, owner and check',
        tags: ['risks'],
        querystring: Strict(optional({ ...riskFilters, as_of: historicalFilters.as_of })),
        response: { 200: SummaryOf(RiskSummary) },
      },
    },
    async (request, reply) => {
      const { register } = await registerOf(request.database, request.query, request.moment);
      return sendSummary(request, reply, riskTables, (db) => summarizeRisks(db, register));
    },
  );

  app.get(
    '/v1/risks/heatmap',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'getRiskHeatmap',
        summary: 'The register as 25 cells of probability and impact',
        tags: ['risks'],
        querystring: Strict(optional({ ...riskFilters, as_of: historicalFilters.as_of })),
        response: { 200: SummaryOf(RiskHeatmap) },
      },
    },
    async (request, reply) => {
      const { register } = await registerOf(request.database, request.query, request.moment);
      return sendSummary(request, reply, riskTables, (db) => getRiskHeatmap(db, register));
    },
  );

  app.get(
    '/v1/risks/trend',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'getRiskTrend',
        summary: 'The exposure by day or week',
        description: 'Each point is the register as it stood at the end of that day, under the same filters.',
        tags: ['risks'],
        querystring: Strict(optional({ ...riskFilters, ...trendPeriod })),
        response: { 200: SummaryOf(RiskTrend) },
      },
    },
    async (request, reply) => {
      const { from, to = request.moment.today, interval = 'day', ...filters } = request.query;
      if (to > request.moment.today) throw invalidParameter('to', 'That day has not come yet.');
      const { register } = await registerOf(request.database, filters, request.moment);
      const period = { from: from ?? daysLater(to, -90), to, interval };
      Object.assign(request.query, period);
      return sendSummary(request, reply, riskTables, (db) => getRiskTrend(db, register, period));
    },
  );

  app.get(
    '/v1/risk-model',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'getRiskModel',
        summary: 'The scoring rules in force',
        tags: ['risks'],
        response: { 200: RiskModel },
      },
    },
    async (request, reply) => sendWithContentEtag(request, reply, riskModel),
  );

  app.post(
    '/v1/risks/evaluate',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'evaluateRisk',
        summary: 'What this would score, and where it would rank now; nothing is written',
        tags: ['risks'],
        body: EvaluateInput,
        response: { 200: Evaluation },
      },
    },
    async (request) => {
      const snapshot = await request.database.snapshot('slow');
      try {
        return await evaluateRisk(snapshot.db, request.body, request.moment);
      } finally {
        await snapshot.end();
      }
    },
  );

  app.get(
    '/v1/projects/:project_id/risks',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'listProjectRisks',
        summary: "A project's risks in every state, ranked by score",
        tags: ['risks'],
        params: Strict({ project_id: ProjectRef }),
        querystring: SortableListQuery({ ...projectRiskFilters, ...historicalFilters }, sorts),
        response: { 200: RiskListAnswer },
      },
    },
    async (request, reply) => {
      const { filters, sort } = splitQuery(request.query);
      const { id } = await getProject(request.database.db, request.params.project_id, request.moment);
      const { register, since } = await registerOf(
        request.database,
        { ...filters, project: [id] },
        request.moment,
      );
      return sendList(request, reply, riskList(register, sort ?? 'rank', since));
    },
  );

  projectItemRoutes(app, {
    noun: 'risk',
    oneOf: 'a risk',
    ref: RiskRef,
    resource: Risk,
    input: RiskInput,
    patch: RiskPatch,
    deleteSummary: 'Delete a risk to which nothing belongs',
    updateErrors: ['invalid_transition'],
    get: getRisk,
    create: createRisk,
    update: updateRisk,
    delete: deleteRisk,
    importable: riskImport,
    single: {
      query: {
        explain: Type.Optional(Type.Boolean({ description: 'Also say why it has its score and its place.' })),
      },
      response: ExplainedRisk,
      extend: async ({ query, database, moment }, risk) =>
        (query as { explain?: boolean }).explain
          ? { ...risk, explain: await explainRisk(database.db, risk, moment) }
          : risk,
    },
  });

  app.post(
    '/v1/projects/:project_id/risks/:id/materialize',
    {
      config: {
        access: 'projects.manage',
        errors: [...actionErrors, 'invalid_transition', 'project_archived'],
      },
      schema: {
        operationId: 'materializeRisk',
        summary: 'The risk has happened: make it an issue',
        description: 'Makes the issue, links the two and moves the risk to `materialized`, all or nothing.',
        tags: ['risks'],
        params: Strict({ project_id: ProjectRef, id: RiskRef }),
        body: MaterializeInput,
        response: { 201: Strict({ risk: Risk, issue: Issue }) },
      },
    },
    async (request, reply) =>
      sendIdempotent(request, reply, async (db) => {
        const { project_id, id } = request.params;
        const current = await getRisk(db, project_id, id, request.moment);
        assertIfMatch(request, current);
        const made = await materializeRisk(db, current, request.body, request.change);
        return created(`/v1/projects/${made.issue.project_id}/issues/${made.issue.id}`, made);
      }),
  );
}

type Asked = RiskFilters & Filters<typeof historicalFilters>;

/** The register a request asks for, and since when movement is wanted. */
async function registerOf(
  { db }: ScopedDatabase,
  asked: Asked,
  moment: Moment,
): Promise<{ register: Register; since?: string }> {
  const { include, since, as_of, ...filters } = asked;
  if ((include === undefined) !== (since === undefined)) {
    throw invalidParameter(
      'since',
      '`include=movement` and `since=DAY` go together: movement is since a day.',
    );
  }
  if (since !== undefined && since > (as_of ?? moment.today)) {
    throw invalidParameter('since', 'Movement is since a day before the register that is looked at.');
  }
  const project = filters.project && (await resolveProjects(db, filters.project));
  return {
    register: { filters: { ...filters, ...(project && { project }) }, moment, as_of },
    ...(since !== undefined && { since }),
  };
}
