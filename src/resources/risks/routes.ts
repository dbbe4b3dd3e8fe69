import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { daysLater, endOf } from '../../core/clock.ts';
import { invalidParameter } from '../../core/errors.ts';
import { Day, optional, Strict } from '../../core/schemas.ts';
import { inSnapshot } from '../../database/open.ts';
import type { App } from '../../http/fastify.ts';
import { created, sendIdempotent } from '../../http/request/idempotency.ts';
import { assertIfMatch } from '../../http/response/etag.ts';
import { actionErrors } from '../../http/route-errors.ts';
import type { Filters } from '../../lists/query.ts';
import { SummaryOf } from '../../lists/schema.ts';
import { sendSummary } from '../../lists/send-list.ts';
import { readRiskModel, readRiskModels } from '../../store/risk-model.ts';
import { resolveFilters } from '../filters.ts';
import { firstDayOfHistory, rejectBefore } from '../history/start.ts';
import { Issue } from '../issues/schema.ts';
import { listRoute, type ParsedQuery } from '../list-route.ts';
import { keepCounts } from '../project-items/counts/kept-counts.ts';
import { projectItemRoutes } from '../project-items/item-routes.ts';
import { sortsOf } from '../project-items/order.ts';
import { summaryParameters } from '../project-items/schema.ts';
import { lockProjectFirst } from '../projects/lock.ts';
import { ProjectRef } from '../projects/schema.ts';
import { riskImport } from './import.ts';
import { materializeRisk } from './materialize.ts';
import { movementSince } from './past/movement.ts';
import { getRiskTrend, RiskTrend, trendPeriod } from './past/trend.ts';
import { includedSince } from './past/versions.ts';
import { getRisk, riskWrites } from './queries.ts';
import {
  endOfRegister,
  includesProject,
  laterRisks,
  type Register,
  type RiskFilters,
  riskList,
  riskOrders,
  riskTables,
} from './register.ts';
import { type ChangeFilter, isRareChange } from './rules/changes.ts';
import { EvaluateInput, Evaluation, ExplainedRisk, evaluateRisk, explainRisk } from './rules/model.ts';
import { hasScoreFilters, rejectImpossibleScores } from './rules/scoring.ts';
import {
  comparisonFilters,
  historicalFilters,
  MaterializeInput,
  projectRiskFilters,
  RankedRisk,
  Risk,
  RiskInput,
  RiskPatch,
  RiskRef,
  riskFilters,
} from './schema.ts';
import {
  canSubtract,
  countableRisks,
  getRiskHeatmap,
  isKept,
  RiskHeatmap,
  RiskSummary,
  summarizeRisks,
} from './summaries.ts';

/** What the lists of all risks and of a project's risks have in common. */
const ranked = {
  row: RankedRisk,
  meta: {
    as_of: Type.Optional(Day({ description: 'The day of the register, if the request has `as_of`.' })),
    unassessed: Type.Integer({
      description: 'The number of risks without a score in the whole filtered list.',
    }),
  },
  sorts: sortsOf(riskOrders),
};

export function riskRoutes(app: App): void {
  const counts = keepCounts(countableRisks);
  listRoute(app, {
    url: '/v1/risks',
    access: 'projects.read',
    operationId: 'listRisks',
    summary: 'List the risk register across projects, ranked by score',
    description:
      'Sorted by score, impact and probability, highest first, then by `due_on` and `raised_on`, earliest first, ' +
      'then by `id`. Unassessed risks come last; `meta.unassessed` counts them. By default, the list contains ' +
      'active risks of projects that are not archived.',
    tag: 'risks',
    ...ranked,
    filters: { ...riskFilters, ...historicalFilters },
    list: listRegister,
  });

  app.get(
    '/v1/risks/summary',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'summarizeRisks',
        summary: 'Count risks by level, status, category, project, owner and check',
        tags: ['risks'],
        querystring: Strict(optional({ ...riskFilters, ...comparisonFilters, ...summaryParameters })),
        response: { 200: SummaryOf(RiskSummary) },
      },
    },
    async (request, reply) => {
      const { top = 20, ...shown } = request.query;
      const register = await parseRegister(request, shown);
      const usesCounts = isKept(register) || (canSubtract(register) && counts.has(request.moment));
      const open = usesCounts ? () => counts.open(request.database) : undefined;
      return sendSummary(request, reply, { reads: riskTables, filters: shown, open }, (snapshot) =>
        summarizeRisks(snapshot, register, top, shown),
      );
    },
  );

  app.get(
    '/v1/risks/heatmap',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'getRiskHeatmap',
        summary: 'Count risks in each cell of probability and impact',
        tags: ['risks'],
        querystring: Strict(optional({ ...riskFilters, ...comparisonFilters })),
        response: { 200: SummaryOf(RiskHeatmap) },
      },
    },
    async (request, reply) => {
      const register = await parseRegister(request, request.query);
      return sendSummary(request, reply, { reads: riskTables }, ({ db }) => getRiskHeatmap(db, register));
    },
  );

  app.get(
    '/v1/risks/trend',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'getRiskTrend',
        summary: 'Show the risk exposure by day or week',
        description: 'Each point summarizes the filtered register as of the end of that day.',
        tags: ['risks'],
        querystring: Strict(optional({ ...riskFilters, ...trendPeriod })),
        response: { 200: SummaryOf(RiskTrend) },
      },
    },
    async (request, reply) => {
      const { moment, query } = request;
      const { from, to = moment.today, interval = 'day', ...filters } = query;
      if (to > moment.today)
        throw invalidParameter('to', '`to` is in the future. Use today or an earlier day.');
      const first = await firstDayOfHistory(request);
      rejectBefore(first, { from, to });
      const usual = daysLater(to, -90);
      const period = { from: from ?? (first !== null && usual < first ? first : usual), to, interval };
      const isIncluded = includedSince(period.from, moment);
      await rejectImpossible(request, filters, period.from);
      const register = { filters: await resolveFilters(request, filters, isIncluded), moment };
      const shown = { ...query, ...period };
      return sendSummary(request, reply, { reads: riskTables, filters: shown }, ({ db }) =>
        getRiskTrend(db, register, period),
      );
    },
  );

  app.post(
    '/v1/risks/evaluate',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'evaluateRisk',
        summary: 'Compute the score and rank of a hypothetical risk',
        tags: ['risks'],
        body: EvaluateInput,
        response: { 200: Evaluation },
      },
    },
    ({ database, body, moment }) => inSnapshot(database, (db) => evaluateRisk(db, body, moment)),
  );

  projectItemRoutes(app, {
    ref: RiskRef,
    resource: Risk,
    input: RiskInput,
    patch: RiskPatch,
    summaries: { create: 'Create a risk in a project', delete: 'Delete a risk that has no issues or tasks' },
    updateErrors: ['invalid_transition'],
    importable: riskImport,
    writes: riskWrites,
    listing: {
      summary: "List a project's risks in every status, ranked by score",
      ...ranked,
      filters: { ...projectRiskFilters, ...historicalFilters },
      list: listRegister,
    },
    single: {
      query: {
        explain: Type.Optional(
          Type.Boolean({ description: 'Adds an explanation of the score and the rank.' }),
        ),
      },
      response: ExplainedRisk,
      extend: async ({ query, database, moment }, risk) => {
        if (!(query as { explain?: boolean }).explain) return risk;
        // Read again, so that the explanation is of the same state.
        return inSnapshot(database, async (db) => {
          const current = await getRisk(db, risk.project_id, risk.id, moment);
          return { ...current, explain: await explainRisk(db, current, moment) };
        });
      },
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
        summary: 'Create an issue from a risk that has occurred',
        description:
          'Creates the issue, links it to the risk and sets the risk to `materialized`, in one transaction.',
        tags: ['risks'],
        params: Strict({ project_id: ProjectRef, id: RiskRef }),
        body: MaterializeInput,
        response: {
          201: Strict({
            risk: Risk,
            issue: Issue,
            moved_tasks: Type.Optional(Type.Integer({ description: 'Present with `move_tasks`.' })),
          }),
        },
      },
    },
    async (request, reply) =>
      sendIdempotent(
        request,
        reply,
        async (db) => {
          const { project_id, id } = request.params;
          await lockProjectFirst(db, project_id);
          const current = await getRisk(db, project_id, id, request.moment);
          assertIfMatch(request, current);
          const result = await materializeRisk(db, current, request.body, request.change);
          return created(`/v1/projects/${result.issue.project_id}/issues/${result.issue.id}`, result);
          // A risk can have many tasks, which must not hold up the event loop.
        },
        request.body.move_tasks ? 'bulk' : 'quick',
      ),
  );
}

async function listRegister(
  request: FastifyRequest,
  { filters, sort = 'rank', paging }: ParsedQuery<RegisterQuery>,
) {
  const { include, since } = filters;
  const register = await parseRegister(request, filters, sort);
  if (include === undefined || since === undefined) return riskList(register, sort);
  return riskList(register, sort, movementSince(register, since, paging.limit !== undefined));
}

type RegisterQuery = Omit<RiskFilters, 'change'> & Filters<typeof historicalFilters>;

const changeSorts = ['change', '-change'];

/** Parses the query into a register. `since` is the day that its changes and the movement are compared with. */
async function parseRegister(request: FastifyRequest, query: RegisterQuery, sort = ''): Promise<Register> {
  const { moment } = request;
  const { include, change, since, as_of, ...filters } = query;
  const isCompared = include !== undefined || change !== undefined || changeSorts.includes(sort);
  if (isCompared !== (since !== undefined)) {
    throw invalidParameter(
      'since',
      'Use `since=DAY` together with `include=movement`, `change` or `sort=change`.',
    );
  }
  if (since !== undefined && since > (as_of ?? moment.today)) {
    throw invalidParameter(
      'since',
      '`since` is after the day of the register. Use that day or an earlier one.',
    );
  }
  if (as_of ?? since) rejectBefore(await firstDayOfHistory(request), { as_of, since });
  await rejectImpossible(request, filters, as_of);
  const resolved = await resolveFilters(request, filters, includesProject(as_of, moment));
  const compared = change && since !== undefined && { any: change, before: endOf(since, moment) };
  return {
    filters: {
      ...resolved,
      ...(compared && { change: await withFrequency(request, compared, as_of) }),
    },
    moment,
    as_of,
    since,
  };
}

/** Counting changes reads all versions of a period, so it does not block the event loop. */
async function withFrequency(
  { database, moment }: FastifyRequest,
  change: Omit<ChangeFilter, 'isRare'>,
  as_of: string | undefined,
): Promise<ChangeFilter> {
  const isRare = await inSnapshot(database, (db) =>
    isRareChange(db, change, laterRisks(endOfRegister({ as_of, moment }))),
  );
  return { ...change, isRare };
}

/** A register of the past may have been rated by any model. */
async function rejectImpossible(
  { database: { db } }: FastifyRequest,
  filters: Omit<RiskFilters, 'change'>,
  since: string | undefined,
): Promise<void> {
  if (!hasScoreFilters(filters)) return;
  rejectImpossibleScores(filters, since === undefined ? [await readRiskModel(db)] : await readRiskModels(db));
}
