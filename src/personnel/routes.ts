import type { App } from '../http/fastify.ts';
import { created, writeOnce } from '../http/idempotency.ts';
import { sendResource } from '../http/resource.ts';
import { sendList } from '../lists/answer.ts';
import { ListQuery, splitQuery } from '../lists/query.ts';
import { ListOf } from '../lists/schema.ts';
import { Id, Strict } from '../schemas.ts';
import { createPerson, getPerson, personnelList } from './queries.ts';
import { Person, PersonInput, personnelFilters } from './schema.ts';

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
        const person = await createPerson(db, request.body, request.moment);
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
}
