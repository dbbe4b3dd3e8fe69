import { historyList } from '../history/queries.ts';
import { HistoryEntry } from '../history/schema.ts';
import { refuseStale } from '../http/conditions.ts';
import type { App } from '../http/fastify.ts';
import { created, writeOnce } from '../http/idempotency.ts';
import { sendResource } from '../http/resource.ts';
import { sendList } from '../lists/answer.ts';
import { ListQuery, splitQuery } from '../lists/query.ts';
import { ListOf } from '../lists/schema.ts';
import { Id, NoContent, Strict } from '../schemas.ts';
import { createPerson, deletePerson, getPerson, personnelList, updatePerson } from './queries.ts';
import { Person, PersonInput, PersonPatch, personnelFilters } from './schema.ts';

export function personnelRoutes(app: App): void {
  app.get(
    '/v1/personnel',
    {
      config: { access: 'personnel.read' },
      schema: {
        operationId: 'listPersonnel',
        summary: 'Everyone on the roster, by name',
        description: 'Inactive people are included, because old user ids must still be found.',
        tags: ['personnel'],
        querystring: ListQuery(personnelFilters),
        response: { 200: ListOf(Person) },
      },
    },
    (request, reply) =>
      sendList(request, reply, personnelList(splitQuery(request.query).filters, request.moment)),
  );

  app.post(
    '/v1/personnel',
    {
      config: { access: 'personnel.manage' },
      schema: {
        operationId: 'createPerson',
        summary: 'Add a person',
        tags: ['personnel'],
        body: PersonInput,
        response: { 201: Person },
      },
    },
    async (request, reply) =>
      writeOnce(request, reply, async (db) => {
        const person = await createPerson(db, request.body, request.change);
        return created(`/v1/personnel/${person.user_id}`, person);
      }),
  );

  app.get(
    '/v1/personnel/:user_id',
    {
      config: { access: 'personnel.read' },
      schema: {
        operationId: 'getPerson',
        summary: 'One person',
        tags: ['personnel'],
        params: Strict({ user_id: Id('person') }),
        response: { 200: Person },
      },
    },
    async (request, reply) =>
      sendResource(request, reply, await getPerson(app.database.db, request.params.user_id, request.moment)),
  );

  app.patch(
    '/v1/personnel/:user_id',
    {
      config: { access: 'personnel.manage' },
      schema: {
        operationId: 'updatePerson',
        summary: 'Change a person',
        tags: ['personnel'],
        params: Strict({ user_id: Id('person') }),
        body: PersonPatch,
        response: { 200: Person },
      },
    },
    async (request, reply) => {
      const person = await app.database.write(async (db) => {
        const current = await getPerson(db, request.params.user_id, request.moment);
        refuseStale(request, current);
        return updatePerson(db, current, request.body, request.change);
      });
      return sendResource(request, reply, person);
    },
  );

  app.delete(
    '/v1/personnel/:user_id',
    {
      config: { access: 'personnel.manage' },
      schema: {
        operationId: 'deletePerson',
        summary: 'Delete a person nothing points at',
        description: 'Whoever has left is deactivated instead, so that their user id is still found.',
        tags: ['personnel'],
        params: Strict({ user_id: Id('person') }),
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      await app.database.write(async (db) => {
        const current = await getPerson(db, request.params.user_id, request.moment);
        refuseStale(request, current);
        await deletePerson(db, current, request.change);
      });
      return reply.code(204).send();
    },
  );

  app.get(
    '/v1/personnel/:user_id/history',
    {
      config: { access: 'personnel.read' },
      schema: {
        operationId: 'listPersonHistory',
        summary: 'What changed of a person, oldest first',
        tags: ['personnel'],
        params: Strict({ user_id: Id('person') }),
        querystring: ListQuery({}),
        response: { 200: ListOf(HistoryEntry) },
      },
    },
    async (request, reply) => {
      const { user_id } = await getPerson(app.database.db, request.params.user_id, request.moment);
      return sendList(request, reply, historyList(user_id));
    },
  );
}
