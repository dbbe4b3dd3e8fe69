import { Type } from 'typebox';
import type { App } from '../http/fastify.ts';
import { sendCreated, sendResource } from '../http/resource.ts';
import { sendList } from '../lists/answer.ts';
import { SortableListQuery, splitQuery } from '../lists/query.ts';
import { ListOf } from '../lists/schema.ts';
import { getProject, resolveProjects } from '../projects/queries.ts';
import { ProjectRef } from '../projects/schema.ts';
import { Strict } from '../schemas.ts';
import { createRisk, getRisk, riskList, riskOrders } from './queries.ts';
import { projectRiskFilters, RankedRisk, Risk, RiskInput, RiskRef, riskFilters } from './schema.ts';

const sorts = Object.keys(riskOrders);
const RiskListAnswer = ListOf(RankedRisk, {
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
        querystring: SortableListQuery(riskFilters, sorts),
        response: { 200: RiskListAnswer },
      },
    },
    async (request, reply) => {
      const { filters, sort = 'rank' } = splitQuery(request.query);
      const project = filters.project && (await resolveProjects(app.database.db, filters.project));
      return sendList(
        request,
        reply,
        riskList({ ...filters, ...(project && { project }) }, sort, request.moment),
      );
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
        querystring: SortableListQuery(projectRiskFilters, sorts),
        response: { 200: RiskListAnswer },
      },
    },
    async (request, reply) => {
      const { filters, sort = 'rank' } = splitQuery(request.query);
      const { id } = await getProject(app.database.db, request.params.project_id, request.moment);
      return sendList(request, reply, riskList({ ...filters, project: [id] }, sort, request.moment));
    },
  );

  app.post(
    '/v1/projects/:project_id/risks',
    {
      config: { access: 'projects.manage' },
      schema: {
        operationId: 'createRisk',
        summary: 'Add a risk to a project',
        tags: ['risks'],
        params: Strict({ project_id: ProjectRef }),
        body: RiskInput,
        response: { 201: Risk },
      },
    },
    async (request, reply) => {
      const { project_id } = request.params;
      const risk = await app.database.write((db) => createRisk(db, project_id, request.body, request.moment));
      return sendCreated(reply, `/v1/projects/${risk.project_id}/risks/${risk.id}`, risk);
    },
  );

  app.get(
    '/v1/projects/:project_id/risks/:id',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'getRisk',
        summary: 'One risk',
        tags: ['risks'],
        params: Strict({ project_id: ProjectRef, id: RiskRef }),
        response: { 200: Risk },
      },
    },
    async (request, reply) => {
      const { project_id, id } = request.params;
      return sendResource(request, reply, await getRisk(app.database.db, project_id, id));
    },
  );
}
