import { type Static, Type } from 'typebox';
import { Id, ManyOf, OneOf, OrNull, parameterScope, Strict, Time } from '../../core/schemas.ts';
import type { Scope } from '../../core/scopes.ts';
import type { Descriptor } from '../descriptor.ts';
import { resources } from '../descriptors.ts';
import { Actor } from '../history/schema.ts';
import { ProjectRef } from '../projects/schema.ts';

type Subject = Extract<(typeof resources)[number], { events: object }>;
type TypeOf<S extends Subject> = S extends Subject
  ? `${S['kind']}.${keyof S['events']['types'] & string}`
  : never;

/** The kinds of resources that events are about. */
export type SubjectType = Subject['kind'];
export type EventType = TypeOf<Subject>;

const described = resources.flatMap((resource: Descriptor) =>
  resource.events ? [[resource.kind, resource.events] as const] : [],
);

/** What is known of the events about each kind of resource. */
export const subjects = Object.fromEntries(described) as Record<
  SubjectType,
  NonNullable<Descriptor['events']> & { scope: Scope }
>;
export const subjectTypes = Object.keys(subjects) as SubjectType[];

/** Every event type and when it is written. A change has one event, with the most specific type that applies. */
export const eventTypes = Object.fromEntries(
  described.flatMap(([kind, { types }]) =>
    Object.entries(types).map(([action, description]) => [`${kind}.${action}`, description]),
  ),
) as Record<EventType, string>;
const typeNames = Object.keys(eventTypes) as EventType[];

export const Event = Strict(
  {
    sequence: Type.Integer({
      minimum: 1,
      description: 'Increases with each event; not consecutive. Continue with `after` this number.',
      examples: [1_794_735_000_000_001],
    }),
    id: Id('event'),
    type: OneOf(typeNames, { description: 'New types may be added: ignore those you do not know.' }),
    also: Type.Array(OneOf(typeNames), {
      description:
        'Other types that apply to the same change, such as `risk.level_raised` for a risk that was reopened with a ' +
        'higher level. Filters by type find the event by these too. Usually empty.',
      examples: [['risk.level_raised']],
    }),
    at: Time({ description: 'The time of the change.' }),
    actor: Actor,
    subject: Strict({
      type: OneOf(subjectTypes),
      id: Type.String({ examples: ['rsk_01jd3k9m5vqs8h2n6r4t0c7e1b'] }),
      key: OrNull(Type.String({ description: 'The key of a project or its item.', examples: ['APOLLO-R7'] })),
      web_url: OrNull(
        Type.String({
          format: 'uri',
          description:
            'The page of the resource in the console; null for those that have none, such as comments and keys.',
          examples: ['https://ops.example.com/risks/APOLLO-R7'],
        }),
      ),
    }),
    data: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'The resource after the change, as its GET returned it then. Before the change if deleted.',
    }),
    previous: Type.Record(Type.String(), Type.Unknown(), {
      description: 'The former values of the fields that were changed.',
    }),
  },
  { $id: 'Event' },
);
export type Event = Static<typeof Event>;

/** What happens to the account of a person. Failures of others would hide it. */
export const accountEventTypes = typeNames.filter(
  (type) => type === 'session.started' || type.startsWith('access.'),
);

export const AccountEvent = Strict(
  {
    id: Event.properties.id,
    type: OneOf(accountEventTypes),
    at: Event.properties.at,
    actor: Actor,
    browser: OrNull(Type.String({ description: 'The browser of a session; null otherwise.' })),
    address: OrNull(Type.String({ description: 'The network address of a session; null otherwise.' })),
  },
  { $id: 'AccountEvent' },
);

export const eventFilters = {
  after: Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description:
      'Only events after this sequence number: `meta.next_after` of the previous response, or 0 for all that are stored.',
  }),
  types: ManyOf(OneOf(typeNames), {
    description: 'Only events with one of these types, in `type` or in `also`.',
  }),
  subject: Type.String({
    pattern: '^[a-z]{3}_[0-9a-v]{26}$',
    description: 'Only events about the resource with this id.',
    examples: ['rsk_01jd3k9m5vqs8h2n6r4t0c7e1b'],
  }),
  project: ManyOf(ProjectRef, {
    description: 'Only events in these projects: ids or keys. Needs `projects.read`.',
    [parameterScope]: 'projects.read',
  }),
};

/** The list has another filter, which streams have not. */
export const eventListFilters = {
  ...eventFilters,
  person: Id('person', {
    description:
      'Only events that this person caused, or that are about this person: their entry in the roster, their access, ' +
      'sessions and personal keys.',
  }),
};
