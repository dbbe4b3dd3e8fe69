import type { App } from '../http/fastify.ts';
import { created, writeOnce } from '../http/idempotency.ts';
import { sendResource } from '../http/resource.ts';
import { sendList } from '../lists/answer.ts';
import { ListQuery, splitQuery } from '../lists/query.ts';
import { ListOf } from '../lists/schema.ts';
import { Id, NoContent, Strict } from '../schemas.ts';
import { addMember, createGroup, getGroup, groupList } from './queries.ts';
import { Group, GroupInput, groupFilters } from './schema.ts';

export function groupRoutes(app: App): void {
  app.get(
    '/v1/groups',
    {
      config: { access: 'personnel.read' },
      schema: {
        operationId: 'listGroups',
        summary: 'Personnel groups, by name',
        tags: ['groups'],
        querystring: ListQuery(groupFilters),
        response: { 200: ListOf(Group) },
      },
    },
    (request, reply) => sendList(request, reply, groupList(splitQuery(request.query).filters)),
  );

  app.post(
    '/v1/groups',
    {
      config: { access: 'personnel.manage' },
      schema: {
        operationId: 'createGroup',
        summary: 'Add a group',
        tags: ['groups'],
        body: GroupInput,
        response: { 201: Group },
      },
    },
    async (request, reply) =>
      writeOnce(request, reply, async (db) => {
        const group = await createGroup(db, request.body, request.moment);
        return created(`/v1/groups/${group.id}`, group);
      }),
  );

  app.get(
    '/v1/groups/:id',
    {
      config: { access: 'personnel.read' },
      schema: {
        operationId: 'getGroup',
        summary: 'One group',
        tags: ['groups'],
        params: Strict({ id: Id('group') }),
        response: { 200: Group },
      },
    },
    async (request, reply) =>
      sendResource(request, reply, await getGroup(app.database.db, request.params.id)),
  );

  app.put(
    '/v1/groups/:id/members/:user_id',
    {
      config: { access: 'personnel.manage' },
      schema: {
        operationId: 'addMember',
        summary: 'Make a person a member of a group',
        description: 'Adding a member twice changes nothing.',
        tags: ['groups'],
        params: Strict({ id: Id('group'), user_id: Id('person') }),
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      const { id, user_id } = request.params;
      await app.database.write((db) => addMember(db, id, user_id, request.moment));
      return reply.code(204).send();
    },
  );
}
