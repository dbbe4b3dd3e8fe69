import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { Problem } from '../../core/errors.ts';
import { optional, Strict } from '../../core/schemas.ts';
import type { App } from '../../http/fastify.ts';
import { listRoute } from '../list-route.ts';
import { createEventFeed } from './feed.ts';
import { assertStored, eventList, eventSorts, resolveEventFilters } from './queries.ts';
import { Event, eventFilters, eventListFilters } from './schema.ts';
import { createEventStream } from './stream.ts';

export function eventRoutes(app: App): void {
  listRoute(app, {
    url: '/v1/events',
    access: 'events.read',
    errors: ['events_expired'],
    operationId: 'listEvents',
    summary: 'List events, oldest first by default',
    description:
      'Each change of a resource appends one event in its own transaction. To follow the log, repeat the request ' +
      'with `after` set to `meta.next_after` of the previous response: no event is missed or repeated. A key sees ' +
      'the events of the resources that it can read: besides `events.read` it needs `personnel.read`, ' +
      '`projects.read` or `keys.read`.',
    tag: 'events',
    row: Event,
    meta: {
      next_after: Type.Integer({
        description:
          'The value of `after` for the next request. Newest first, that of the first page is the end of the log.',
      }),
    },
    filters: eventListFilters,
    sorts: eventSorts,
    list: async ({ actor, database, moment }, { filters, sort }) => {
      await assertStored(database.db, filters, actor, moment);
      return eventList(await resolveEventFilters(database.db, filters), actor, moment, sort);
    },
  });

  const feed = createEventFeed(app);
  app.get(
    '/v1/events/stream',
    {
      config: { access: 'events.read', errors: ['events_expired'] },
      schema: {
        operationId: 'streamEvents',
        summary: 'Follow events as they happen',
        description:
          'Server-sent events: `event` is the type, `data` the event as in the list, `id` its sequence number. A client ' +
          'that reconnects with `Last-Event-ID`, as browsers do, gets what it has missed. A comment is sent every 15 ' +
          'seconds. A client that reads too slowly gets the event `dropped`; when its access is changed, events ' +
          'were lost, or the service stops, `closed`. It can reconnect.',
        tags: ['events'],
        querystring: Strict(optional(eventFilters)),
        response: { 200: EventStreamBody },
      },
    },
    async (request, reply) => {
      const { actor, database, moment } = request;
      const filters = { ...request.query, ...lastEventId(request) };
      await assertStored(database.db, filters, actor, moment);
      const resolved = await resolveEventFilters(database.db, filters);
      feed.assertRoom(actor);
      reply.headers({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' }).hijack();
      const { raw } = reply;
      raw.writeHead(200, reply.getHeaders() as Record<string, string>);
      if (request.method === 'HEAD') return raw.end();
      try {
        await feed.follow(
          createEventStream(raw, actor, app.secretOf(request.headers) ?? '', resolved),
          filters.after,
        );
      } catch (error) {
        request.log.error(error);
        raw.destroy();
      }
    },
  );
}

const EventStreamBody = Type.Unsafe<undefined>({
  description: 'A stream without an end.',
  content: { 'text/event-stream': { schema: { type: 'string' } } },
});

/** The number of the last event that a reconnecting client has seen. It overrides `after` in the URL. */
function lastEventId({ headers }: FastifyRequest): { after?: number } {
  const id = headers['last-event-id'];
  if (id === undefined || id === '') return {};
  if (typeof id === 'string' && /^\d{1,15}$|^[1-8]\d{15}$/.test(id)) return { after: Number(id) };
  throw new Problem('malformed_request', '`Last-Event-ID` must be the sequence number of an event.');
}
