import { type TSchema, Type } from 'typebox';
import { OneOf, Strict, Time } from '../../core/schemas.ts';
import { capitalized } from '../../core/text.ts';
import { Event, eventData, eventTypes, type SubjectType } from '../../resources/events/schema.ts';

/** The `webhooks` of the OpenAPI document: every type of event, and the test, with the schema of its message. */
export const eventWebhooks = () => ({
  ...Object.fromEntries(
    Object.entries(eventTypes).map(([type, description]) => {
      const subject = type.split('.')[0] ?? '';
      return [type, webhookOf(type, description, messageOf(subject, typesOf(subject)))];
    }),
  ),
  'webhook.test': webhookOf(
    'webhook.test',
    'A test was requested. The body is that of an event about an invented risk.',
    messageOf('risk', ['webhook.test'], 'WebhookTest'),
  ),
});

const webhookOf = (type: string, summary: string, schema: TSchema) => ({
  post: {
    operationId: operationIdOf(type),
    summary,
    tags: ['events'],
    // The receiver verifies the signature of the message.
    security: [],
    requestBody: { content: { 'application/json': { schema } } },
    responses: { '2XX': { description: 'The event was received.' } },
  },
});

const typesOf = (subject: string) => Object.keys(eventTypes).filter((type) => type.startsWith(`${subject}.`));

/** `onRiskStatusChanged` for `risk.status_changed`. */
const operationIdOf = (type: string) => `on${capitalized(type.replaceAll(/[._]/g, ' '))}`;

/** An event about one kind of resource. */
function messageOf(subject: string, types: string[], $id = `${capitalized(subject)}Event`): TSchema {
  const data: TSchema = eventData[subject as SubjectType];
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
    { $id },
  );
}
