import { Id, NoContent, Strict } from '../../core/schemas.ts';
import type { App } from '../../http/fastify.ts';
import { created, done, sendIdempotent } from '../../http/request/idempotency.ts';
import { assertIfMatch } from '../../http/response/etag.ts';
import { sendResource } from '../../http/response/resource.ts';
import { createErrors, deleteErrors, updateErrors } from '../../http/route-errors.ts';
import { ListQuery, splitQuery } from '../../lists/query.ts';
import { ListOf } from '../../lists/schema.ts';
import { sendList } from '../../lists/send-list.ts';
import { importRoute } from '../../transfer/import-route.ts';
import { historyList } from '../history/queries.ts';
import { HistoryEntry } from '../history/schema.ts';
import { personnelList } from '../personnel/queries.ts';
import { Person } from '../personnel/schema.ts';
import { groupImport } from './import.ts';
import { addMember, addMembers, removeMember } from './members.ts';
import { createGroup, deleteGroup, getGroup, groupList, updateGroup } from './queries.ts';
import {
  Group,
  GroupInput,
  GroupPatch,
  groupFilters,
  groupIncludes,
  ListedGroup,
  MembersAdded,
  MembersInput,
  memberFilters,
} from './schema.ts';

export function groupRoutes(app: App): void {
  app.get(
    '/v1/groups',
    {
      config: { access: 'personnel.read' },
      schema: {
        operationId: 'listGroups',
        summary: 'List groups by name',
        tags: ['groups'],
        querystring: ListQuery({ ...groupFilters, ...groupIncludes }),
        response: { 200: ListOf(ListedGroup) },
      },
    },
    (request, reply) => sendList(request, reply, groupList(splitQuery(request.query).filters)),
  );

  app.post(
    '/v1/groups',
    {
      config: { access: 'personnel.manage', errors: createErrors },
      schema: {
        operationId: 'createGroup',
        summary: 'Add a group',
        tags: ['groups'],
        body: GroupInput,
        response: { 201: Group },
      },
    },
    async (request, reply) =>
      sendIdempotent(request, reply, async (db) => {
        const group = await createGroup(db, request.body, request.change);
        return created(`/v1/groups/${group.id}`, group);
      }),
  );

  importRoute(app, {
    url: '/v1/groups/import',
    access: 'personnel.manage',
    operationId: 'importGroups',
    summary: 'Import groups and their members from a file',
    tag: 'groups',
    importable: () => groupImport(),
  });

  app.get(
    '/v1/groups/:id',
    {
      config: { access: 'personnel.read' },
      schema: {
        operationId: 'getGroup',
        summary: 'Get a group',
        tags: ['groups'],
        params: Strict({ id: Id('group') }),
        response: { 200: Group },
      },
    },
    async (request, reply) =>
      sendResource(request, reply, await getGroup(request.database.db, request.params.id)),
  );

  app.patch(
    '/v1/groups/:id',
    {
      config: { access: 'personnel.manage', errors: updateErrors },
      schema: {
        operationId: 'updateGroup',
        summary: 'Update a group',
        tags: ['groups'],
        params: Strict({ id: Id('group') }),
        body: GroupPatch,
        response: { 200: Group },
      },
    },
    async (request, reply) => {
      const group = await request.database.write(async (db) => {
        const current = await getGroup(db, request.params.id);
        assertIfMatch(request, current);
        return updateGroup(db, current, request.body, request.change);
      });
      return sendResource(request, reply, group);
    },
  );

  app.delete(
    '/v1/groups/:id',
    {
      config: { access: 'personnel.manage', errors: deleteErrors },
      schema: {
        operationId: 'deleteGroup',
        summary: 'Delete a group',
        description:
          'Removes all members. A group that owns risks or issues, or has subgroups, cannot be deleted.',
        tags: ['groups'],
        params: Strict({ id: Id('group') }),
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      await request.database.write(async (db) => {
        const current = await getGroup(db, request.params.id);
        assertIfMatch(request, current);
        await deleteGroup(db, current, request.change);
      });
      return reply.code(204).send();
    },
  );

  app.get(
    '/v1/groups/:id/history',
    {
      config: { access: 'personnel.read' },
      schema: {
        operationId: 'listGroupHistory',
        summary: 'List the changes of a group, oldest first',
        tags: ['groups'],
        params: Strict({ id: Id('group') }),
        querystring: ListQuery({}),
        response: { 200: ListOf(HistoryEntry) },
      },
    },
    async (request, reply) => {
      const { id } = await getGroup(request.database.db, request.params.id);
      return sendList(request, reply, historyList(id));
    },
  );

  app.get(
    '/v1/groups/:id/members',
    {
      config: { access: 'personnel.read' },
      schema: {
        operationId: 'listMembers',
        summary: 'List the members of a group by name',
        tags: ['groups'],
        params: Strict({ id: Id('group') }),
        querystring: ListQuery(memberFilters),
        response: { 200: ListOf(Person) },
      },
    },
    async (request, reply) => {
      const { id } = await getGroup(request.database.db, request.params.id);
      const { filters } = splitQuery(request.query);
      return sendList(request, reply, personnelList({ group_id: id, ...filters }, request.moment));
    },
  );

  app.post(
    '/v1/groups/:id/members',
    {
      config: { access: 'personnel.manage', errors: ['idempotency_mismatch', 'storage_full'] },
      schema: {
        operationId: 'addMembers',
        summary: 'Add up to 500 members to a group',
        description: 'Adds all of them or none. Existing members are ignored.',
        tags: ['groups'],
        params: Strict({ id: Id('group') }),
        body: MembersInput,
        response: { 200: MembersAdded },
      },
    },
    async (request, reply) =>
      sendIdempotent(request, reply, async (db) =>
        done(await addMembers(db, request.params.id, request.body.user_ids, request.change)),
      ),
  );

  app.put(
    '/v1/groups/:id/members/:user_id',
    {
      config: { access: 'personnel.manage', errors: ['storage_full'] },
      schema: {
        operationId: 'addMember',
        summary: 'Add a member to a group',
        description: 'Adding an existing member changes nothing.',
        tags: ['groups'],
        params: Strict({ id: Id('group'), user_id: Id('person') }),
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      const { id, user_id } = request.params;
      await request.database.write((db) => addMember(db, id, user_id, request.change));
      return reply.code(204).send();
    },
  );

  app.delete(
    '/v1/groups/:id/members/:user_id',
    {
      config: { access: 'personnel.manage', errors: ['storage_full'] },
      schema: {
        operationId: 'removeMember',
        summary: 'Remove a member from a group',
        description: 'Removing a person who is not a member changes nothing.',
        tags: ['groups'],
        params: Strict({ id: Id('group'), user_id: Id('person') }),
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      const { id, user_id } = request.params;
      await request.database.write((db) => removeMember(db, id, user_id, request.change));
      return reply.code(204).send();
    },
  );
}
