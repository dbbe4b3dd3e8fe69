import { type TSchema, Type } from 'typebox';
import { OneOf, Strict, Time } from '../../core/schemas.ts';
import { capitalized } from '../../core/text.ts';
import { Event, eventTypes, type SubjectType, subjects } from '../../resources/events/schema.ts';

/** The `webhooks` of the OpenAPI document: every type of event, with the schema of its message. */
export const eventWebhooks = () =>
  Object.fromEntries(
    Object.entries(eventTypes).map(([type, description]) => [
      type,
      {
        post: {
          operationId: operationIdOf(type),
          summary: description,
          tags: ['events'],
          // The receiver verifies the signature of the message.
          security: [],
          requestBody: { content: { 'application/json': { schema: messageOf(type.split('.')[0] ?? '') } } },
          responses: { '2XX': { description: 'The event was received.' } },
        },
      },
    ]),
  );

/** `onRiskStatusChanged` for `risk.status_changed`. */
const operationIdOf = (type: string) => `on${capitalized(type.replaceAll(/[._]/g, ' '))}`;

/** An event about one kind of resource. */
function messageOf(subject: string): TSchema {
  const types = Object.keys(eventTypes).filter((type) => type.startsWith(`${subject}.`));
  const data: TSchema = subjects[subject as SubjectType].data;
  return Strict(
    {
      ...Event.properties,
      type: OneOf(types),
      timestamp: Time({ description: 'The same as `at`. Only in messages of webhooks.' }),
      data: Type.Union([data, Type.Null()], {
        description: 'The resource; null if the message is truncated.',
      }),
      previous: Type.Union([Event.properties.previous, Type.Null()]),
      truncated: Type.Optional(
        Type.Boolean({
          description: 'Whether the message would be over 20 kB: then read the event or resource.',
        }),
      ),
    },
    { $id: `${capitalized(subject.replaceAll('_', ' '))}Event` },
  );
}
