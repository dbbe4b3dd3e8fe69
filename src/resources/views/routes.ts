import { Id, NoContent, Strict } from '../../core/schemas.ts';
import type { App } from '../../http/fastify.ts';
import { created, sendIdempotent } from '../../http/request/idempotency.ts';
import { assertIfMatch } from '../../http/response/etag.ts';
import { sendResource } from '../../http/response/resource.ts';
import { ListQuery, splitQuery } from '../../lists/query.ts';
import { ListOf } from '../../lists/schema.ts';
import { sendList } from '../../lists/send-list.ts';
import { grants, insufficientScope } from '../../store/keys/scopes.ts';
import type { Scope } from '../keys/schema.ts';
import { createView, deleteView, getView, updateView, viewList } from './queries.ts';
import {
  View,
  type ViewedList,
  ViewInput,
  ViewPatch,
  viewedLists,
  viewFilters,
  viewScopes,
} from './schema.ts';

type Holder = { scopes: readonly Scope[] };

/** The lists that a key can read. */
const readableLists = ({ scopes }: Holder) =>
  viewedLists.filter((list) => grants(scopes, viewScopes[list].read));

/** A key that can read a list can read its views; a key that can change the items of the list can change its views. */
function assertManages({ scopes }: Holder, list: ViewedList): void {
  const { manage } = viewScopes[list];
  if (grants(scopes, manage)) return;
  throw insufficientScope(`Views of ${list} require the scope ${manage}.`, [manage]);
}

const writes = {
  access: 'any key',
  requiresUnrestrictedKey: 'Views are shared by all projects, and may name any of them.',
} as const;

const oneView = Strict({ id: Id('view') });

export function viewRoutes(app: App): void {
  app.get(
    '/v1/views',
    {
      config: { access: 'any key' },
      schema: {
        operationId: 'listViews',
        summary: 'List the shared views of lists, oldest first',
        description:
          'A view is the filters, the sort order and the columns of a list in the console, under a name. A key sees the ' +
          'views of the lists that it can read; a key limited to projects sees none.',
        tags: ['views'],
        querystring: ListQuery(viewFilters),
        response: { 200: ListOf(View) },
      },
    },
    (request, reply) => {
      const { list } = splitQuery(request.query).filters;
      const lists = readableLists(request.actor).filter((one) => list === undefined || one === list);
      return sendList(request, reply, viewList(lists));
    },
  );

  app.post(
    '/v1/views',
    {
      config: {
        ...writes,
        errors: ['duplicate', 'idempotency_mismatch', 'insufficient_scope', 'storage_full'],
      },
      schema: {
        operationId: 'createView',
        summary: 'Create a shared view',
        description: 'Needs the `.manage` scope of what the list contains.',
        tags: ['views'],
        body: ViewInput,
        response: { 201: View },
      },
    },
    async (request, reply) =>
      sendIdempotent(request, reply, async (db) => {
        assertManages(request.actor, request.body.list);
        const view = await createView(db, request.body, request.change);
        return created(`/v1/views/${view.id}`, view);
      }),
  );

  app.get(
    '/v1/views/:id',
    {
      config: { access: 'any key' },
      schema: {
        operationId: 'getView',
        summary: 'Get a shared view',
        tags: ['views'],
        params: oneView,
        response: { 200: View },
      },
    },
    async (request, reply) => {
      const { database, params, actor } = request;
      return sendResource(request, reply, await getView(database.db, params.id, readableLists(actor)));
    },
  );

  app.patch(
    '/v1/views/:id',
    {
      config: { ...writes, errors: ['duplicate', 'insufficient_scope', 'stale', 'storage_full'] },
      schema: {
        operationId: 'updateView',
        summary: 'Update a shared view',
        tags: ['views'],
        params: oneView,
        body: ViewPatch,
        response: { 200: View },
      },
    },
    async (request, reply) => {
      const changed = await request.database.write(async (db) => {
        const current = await getView(db, request.params.id, readableLists(request.actor));
        assertManages(request.actor, current.list);
        assertIfMatch(request, current);
        return updateView(db, current, request.body, request.change);
      });
      return sendResource(request, reply, changed);
    },
  );

  app.delete(
    '/v1/views/:id',
    {
      config: { ...writes, errors: ['insufficient_scope', 'stale', 'storage_full'] },
      schema: {
        operationId: 'deleteView',
        summary: 'Delete a shared view',
        tags: ['views'],
        params: oneView,
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      await request.database.write(async (db) => {
        const current = await getView(db, request.params.id, readableLists(request.actor));
        assertManages(request.actor, current.list);
        assertIfMatch(request, current);
        await deleteView(db, current);
      });
      return reply.code(204).send();
    },
  );
}
