import { Type } from 'typebox';
import type { App } from '../../http/fastify.ts';
import { ListQuery, splitQuery } from '../../lists/query.ts';
import { ListOf } from '../../lists/schema.ts';
import { sendList } from '../../lists/send-list.ts';
import { assertStored, eventList, resolveEventFilters } from './queries.ts';
import { Event, eventFilters } from './schema.ts';

export function eventRoutes(app: App): void {
  app.get(
    '/v1/events',
    {
      config: { access: 'events.read', errors: ['events_expired'] },
      schema: {
        operationId: 'listEvents',
        summary: 'List events, oldest first',
        description:
          'Each change of a resource appends one event in its own transaction. To follow the log, repeat the request ' +
          'with `after` set to `meta.next_after` of the previous response: no event is missed or repeated. A key sees ' +
          'the events of the resources that it can read: besides `events.read` it needs `personnel.read`, ' +
          '`projects.read` or `keys.read`.',
        tags: ['events'],
        querystring: ListQuery(eventFilters),
        response: {
          200: ListOf(Event, {
            next_after: Type.Integer({ description: 'The value of `after` for the next request.' }),
          }),
        },
      },
    },
    async (request, reply) => {
      const { filters } = splitQuery(request.query);
      const { actor, database, moment } = request;
      await assertStored(database.db, filters, actor, moment);
      const resolved = await resolveEventFilters(database.db, filters);
      return sendList(request, reply, eventList(resolved, actor, moment));
    },
  );
}
