import type { Transaction } from 'kysely';
import { Strict } from '../../core/schemas.ts';
import type { App } from '../../http/fastify.ts';
import { done, runIdempotent, sendResult } from '../../http/request/idempotency.ts';
import { assertIfMatch } from '../../http/response/etag.ts';
import { actionErrors } from '../../http/route-errors.ts';
import type { Tables } from '../../store/tables.ts';
import { setEventData } from '../../store/writes/events.ts';
import { resolveFilters } from '../filters.ts';
import { resourceRoutes } from '../resource-routes.ts';
import { expireAcceptancesIn } from '../risks/expiry.ts';
import { projectImport } from './import.ts';
import { lockProjectFirst } from './lock.ts';
import {
  archiveProject,
  createProject,
  deleteProject,
  getProject,
  projectList,
  projectSorts,
  updateProject,
} from './queries.ts';
import { Project, ProjectInput, ProjectPatch, ProjectRef, projectFilters } from './schema.ts';

export function projectRoutes(app: App): void {
  resourceRoutes(app, {
    noun: 'project',
    tag: 'projects',
    access: { read: 'projects.read', manage: 'projects.manage' },
    collection: '/v1/projects',
    params: Strict({ project_id: ProjectRef }),
    resource: Project,
    input: ProjectInput,
    patch: ProjectPatch,
    summaries: {
      create: 'Create a project',
      import: 'Import projects from a file',
      delete: 'Delete an empty project, and the past of risks it had',
    },
    updateErrors: ['project_archived'],
    lock: (db, { project_id }) => lockProjectFirst(db, project_id),
    get: (db, { project_id }, moment) => getProject(db, project_id, moment),
    create: (db, _, input, change) => createProject(db, input, change),
    update: updateProject,
    delete: deleteProject,
    importable: ({ moment }) => projectImport(moment),
    listing: {
      summary: 'List projects',
      filters: projectFilters,
      sorts: projectSorts,
      list: async ({ database, actor, moment }, { filters, sort }) =>
        projectList(await resolveFilters({ database, actor }, filters), moment, sort),
    },
  });

  for (const [action, archived] of [
    ['archive', true],
    ['unarchive', false],
  ] as const) {
    app.post(
      `/v1/projects/:project_id/${action}`,
      {
        config: { access: 'projects.manage', errors: actionErrors },
        schema: {
          operationId: `${action}Project`,
          summary: archived ? 'Archive a project' : 'Unarchive a project',
          description: archived
            ? 'The project becomes read-only. Lists across projects leave it out unless `archived` includes it.'
            : 'The project becomes writable again. Risks whose acceptance expired in the meantime reopen: many of them shortly after the response.',
          tags: ['projects'],
          params: Strict({ project_id: ProjectRef }),
          response: { 200: Project },
        },
      },
      async (request, reply) => {
        const work = async (db: Transaction<Tables>) => {
          await lockProjectFirst(db, request.params.project_id);
          const current = await getProject(db, request.params.project_id, request.moment);
          assertIfMatch(request, current);
          const project = await archiveProject(db, current, archived, request.change);
          if (archived) return done(project);
          await expireAcceptancesIn(db, request.change, project.id);
          // Risks that reopened change the health.
          return done(setEventData(db, project.id, await getProject(db, project.id, request.moment)));
        };
        const result = await runIdempotent(request, request.body ?? null, work, archived ? 'quick' : 'bulk');
        // The rest of a project with many.
        if (!archived) void app.acceptances.reopen(request.moment);
        return sendResult(reply, result);
      },
    );
  }
}
