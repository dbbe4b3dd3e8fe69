import { Id, Strict } from '../../core/schemas.ts';
import type { App } from '../../http/fastify.ts';
import { done, sendIdempotent } from '../../http/request/idempotency.ts';
import { assertIfMatch } from '../../http/response/etag.ts';
import { actionErrors } from '../../http/route-errors.ts';
import { resolveFilters } from '../filters.ts';
import { listRoute } from '../list-route.ts';
import { getPerson, updatePerson } from '../personnel/queries.ts';
import {
  Assignment,
  assignmentFilters,
  DeactivateInput,
  Handover,
  Person,
  ReactivateInput,
} from '../personnel/schema.ts';
import { assignmentList } from './assignments.ts';
import { deactivatePerson } from './handover.ts';

/** What a person is responsible for, and how it is handed over. */
export function handoverRoutes(app: App): void {
  app.post(
    '/v1/personnel/:user_id/deactivate',
    {
      config: {
        access: 'personnel.manage',
        errors: actionErrors,
        requiresUnrestrictedKey: 'A hand-over changes all projects.',
      },
      schema: {
        operationId: 'deactivatePerson',
        summary: 'Deactivate a person and hand over their work',
        description:
          'Everything moves in one transaction, or nothing does. Without a successor, assignments stay with the ' +
          'person, and their `owner_active` and `assignee_active` become false. `dry_run` reports what would move. ' +
          'A hand-over changes projects: with a successor, also in a dry run, the key needs `projects.manage` too. ' +
          'For a key without `projects.read`, the response leaves out projects and what is in them.',
        tags: ['personnel'],
        params: Strict({ user_id: Id('person') }),
        body: DeactivateInput,
        response: { 200: Handover },
      },
    },
    async (request, reply) =>
      sendIdempotent(request, reply, async (db) => {
        const current = await getPerson(db, request.params.user_id, request.moment);
        const assertCurrent = (person: Person) => assertIfMatch(request, person);
        assertCurrent(current);
        return done(await deactivatePerson(db, current, request.body ?? {}, request.change, assertCurrent));
      }),
  );

  app.post(
    '/v1/personnel/:user_id/reactivate',
    {
      config: { access: 'personnel.manage', errors: actionErrors },
      schema: {
        operationId: 'reactivatePerson',
        summary: 'Reactivate a person',
        description: 'Assignments that were handed over stay with the successor.',
        tags: ['personnel'],
        params: Strict({ user_id: Id('person') }),
        body: ReactivateInput,
        response: { 200: Person },
      },
    },
    async (request, reply) =>
      sendIdempotent(request, reply, async (db) => {
        const current = await getPerson(db, request.params.user_id, request.moment);
        assertIfMatch(request, current);
        return done(await updatePerson(db, current, { ...request.body, status: 'active' }, request.change));
      }),
  );

  listRoute(app, {
    url: '/v1/personnel/:user_id/assignments',
    access: 'projects.read',
    operationId: 'listAssignments',
    summary: 'List the assignments of a person, earliest due date first',
    description: 'Open tasks and issues, active risks, and led projects that are not completed or cancelled.',
    tag: 'personnel',
    params: Strict({ user_id: Id('person') }),
    row: Assignment,
    filters: assignmentFilters,
    list: async ({ params, database, actor, moment }, { filters }) => {
      const { user_id } = await getPerson(database.db, params.user_id, moment);
      return assignmentList(user_id, await resolveFilters({ database, actor }, filters));
    },
  });
}
