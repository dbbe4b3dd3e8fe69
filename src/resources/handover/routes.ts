import { Id, Strict } from '../../core/schemas.ts';
import { grants, type Scope } from '../../core/scopes.ts';
import type { App } from '../../http/fastify.ts';
import { done, sendIdempotent } from '../../http/request/idempotency.ts';
import { assertIfMatch } from '../../http/response/etag.ts';
import { actionErrors } from '../../http/route-errors.ts';
import { SummaryOf } from '../../lists/schema.ts';
import { sendSummary } from '../../lists/send-list.ts';
import { resolveFilters } from '../filters.ts';
import { listRoute } from '../list-route.ts';
import { getPerson, updatePerson } from '../personnel/queries.ts';
import { Assignment, assignmentFilters, Person } from '../personnel/schema.ts';
import { assignmentList } from './assignments.ts';
import { deactivatePerson } from './handover.ts';
import { countLoad } from './load.ts';
import { getHandover, handoverItemList, handoverList } from './records.ts';
import {
  DeactivateInput,
  Handover,
  HandoverItem,
  HandoverRecord,
  HandoverUndo,
  handoverItemFilters,
  Loads,
  loadFilters,
  ReactivateInput,
  UndoHandoverInput,
} from './schema.ts';
import { undoHandover } from './undo.ts';

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
          '`parts` gives projects or kinds of work to other successors. ' +
          'For a key without `projects.read`, the response leaves out projects and what is in them.',
        tags: ['personnel'],
        params: Strict({ user_id: Id('person') }),
        body: DeactivateInput,
        response: { 200: Handover },
      },
    },
    async (request, reply) =>
      sendIdempotent(
        request,
        reply,
        async (db) => {
          const current = await getPerson(db, request.params.user_id, request.moment);
          const assertCurrent = (person: Person) => assertIfMatch(request, person);
          assertCurrent(current);
          return done(await deactivatePerson(db, current, request.body ?? {}, request.change, assertCurrent));
        },
        'long',
      ),
  );

  app.post(
    '/v1/personnel/:user_id/reactivate',
    {
      config: { access: 'personnel.manage', errors: actionErrors },
      schema: {
        operationId: 'reactivatePerson',
        summary: 'Reactivate a person',
        description:
          'Assignments that were handed over stay with the successor. To give them back, undo the hand-over.',
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

  app.get(
    '/v1/personnel/load',
    {
      config: { access: 'projects.read' },
      schema: {
        operationId: 'listLoad',
        summary: 'Count the open work of people',
        description:
          'In the order of `user_ids`, without archived projects. People who do not exist have none.',
        tags: ['personnel'],
        querystring: Strict(loadFilters),
        response: { 200: SummaryOf(Loads) },
      },
    },
    async (request, reply) =>
      sendSummary(
        request,
        reply,
        { reads: ['tasks', 'issues', 'risks', 'projects'], open: () => request.database.snapshot() },
        ({ db }) => countLoad(db, request.query.user_ids, request.moment.today),
      ),
  );

  const readsProjects = ({ actor }: { actor: { scopes: readonly Scope[] } }) =>
    grants(actor.scopes, 'projects.read');

  listRoute(app, {
    url: '/v1/personnel/:user_id/handovers',
    access: 'personnel.read',
    operationId: 'listHandovers',
    summary: 'List the hand-overs of a person, newest first',
    tag: 'personnel',
    params: Strict({ user_id: Id('person') }),
    row: HandoverRecord,
    filters: {},
    list: async (request) => {
      const { user_id } = await getPerson(request.database.db, request.params.user_id, request.moment);
      return handoverList(user_id, readsProjects(request));
    },
  });

  const handoverParams = Strict({ user_id: Id('person'), handover_id: Id('handover') });

  listRoute(app, {
    url: '/v1/personnel/:user_id/handovers/:handover_id/items',
    access: 'personnel.read',
    operationId: 'listHandoverItems',
    summary: 'List what a hand-over moved',
    description:
      'A key without `projects.read` gets what belongs to no project: led groups, reports, agents and memberships. A key ' +
      'limited to projects gets these and the items of its projects.',
    tag: 'personnel',
    params: handoverParams,
    row: HandoverItem,
    filters: handoverItemFilters,
    list: async (request, { filters }) => {
      const { user_id, handover_id } = request.params;
      const { id } = await getHandover(request.database.db, user_id, handover_id, false);
      return handoverItemList(id, filters, readsProjects(request));
    },
  });

  app.post(
    '/v1/personnel/:user_id/handovers/:handover_id/undo',
    {
      config: {
        access: 'personnel.manage',
        errors: actionErrors,
        requiresUnrestrictedKey: 'A hand-over, and so its undo, changes all projects.',
      },
      schema: {
        operationId: 'undoHandover',
        summary: 'Undo a hand-over',
        description:
          'Gives back, in one transaction, what has not changed since the hand-over, and activates the person if the ' +
          'hand-over deactivated them. What has changed stays with the successors and is reported. A risk, issue, task or ' +
          'project has changed if it has another version. A hand-over is undone once: another request changes nothing and ' +
          'returns the same report. `If-Match` names the version of the person. Needs `projects.manage` too.',
        tags: ['personnel'],
        params: handoverParams,
        body: UndoHandoverInput,
        response: { 200: HandoverUndo },
      },
    },
    async (request, reply) =>
      sendIdempotent(
        request,
        reply,
        async (db) => {
          const { user_id, handover_id } = request.params;
          const change = { ...request.change, ...(request.body?.reason && { reason: request.body.reason }) };
          const assertCurrent = (person: Person) => assertIfMatch(request, person);
          return done(await undoHandover(db, user_id, handover_id, change, assertCurrent));
        },
        'long',
      ),
  );
}
