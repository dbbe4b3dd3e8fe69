import { type Static, type TSchema, Type } from 'typebox';
import { Id, Line, ManyOf, OneOf, OrNull, parameterScope, Strict, Time } from '../../core/schemas.ts';
import { Comment } from '../comments/schema.ts';
import { Group } from '../groups/schema.ts';
import { Issue } from '../issues/schema.ts';
import { Key, type Scope } from '../keys/schema.ts';
import { Person } from '../personnel/schema.ts';
import { Project, ProjectRef } from '../projects/schema.ts';
import { Risk } from '../risks/schema.ts';
import { Task } from '../tasks/schema.ts';
import { Webhook } from '../webhooks/schema.ts';

/** The kinds of resources that events are about, and the scope that a key needs to read their events. */
export const subjectScopes = {
  person: 'personnel.read',
  group: 'personnel.read',
  project: 'projects.read',
  risk: 'projects.read',
  issue: 'projects.read',
  task: 'projects.read',
  comment: 'projects.read',
  key: 'keys.read',
  webhook: 'events.read',
} as const satisfies Record<string, Scope>;

export type SubjectType = keyof typeof subjectScopes;

/** Every event type and when it is written. A change has one event, with the most specific type that applies. */
export const eventTypes = {
  'person.created': 'A person was added.',
  'person.updated': 'A person was changed.',
  'person.deactivated': 'A person was deactivated, with or without a hand-over.',
  'person.reactivated': 'An inactive person became active again.',
  'person.ended': 'The day in `end_on` of an active person has passed.',
  'person.deleted': 'A person was deleted.',
  'group.created': 'A group was added.',
  'group.updated': 'A group was changed.',
  'group.member_added': 'A person joined a group. `data` is the membership.',
  'group.member_removed': 'A person left a group. `data` is the membership.',
  'group.deleted': 'A group was deleted.',
  'project.created': 'A project was added.',
  'project.updated': 'A project was changed.',
  'project.archived': 'A project was archived.',
  'project.unarchived': 'A project was unarchived.',
  'project.deleted': 'A project was deleted.',
  'risk.created': 'A risk was added.',
  'risk.updated': 'A risk was changed, but neither its score nor its status as below.',
  'risk.score_changed': 'The score changed within its level, or the risk was assessed or no longer is.',
  'risk.level_raised': 'The score changed to a higher level.',
  'risk.level_lowered': 'The score changed to a lower level.',
  'risk.accepted': 'The risk was accepted.',
  'risk.acceptance_expired': 'The acceptance ended with its last day, and the risk is open again.',
  'risk.review_overdue': 'The day in `review_on` of an active risk has passed.',
  'risk.materialized': 'The risk has occurred and became an issue.',
  'risk.closed': 'The risk was closed.',
  'risk.reopened': 'A closed or materialized risk was reopened.',
  'risk.deleted': 'A risk was deleted.',
  'issue.created': 'An issue was added.',
  'issue.updated': 'An issue was changed, but its status not as below.',
  'issue.overdue': 'The day in `due_on` of an open issue has passed.',
  'issue.resolved': 'The issue was resolved.',
  'issue.closed': 'The issue was closed.',
  'issue.reopened': 'A resolved or closed issue was reopened.',
  'issue.deleted': 'An issue was deleted.',
  'task.created': 'A task was added.',
  'task.updated': 'A task was changed, but its status not as below.',
  'task.overdue': 'The day in `due_on` of an open task has passed.',
  'task.completed': 'The task is done.',
  'task.cancelled': 'The task was cancelled.',
  'task.reopened': 'A task that was done or cancelled was reopened.',
  'task.deleted': 'A task was deleted.',
  'comment.created': 'A comment was written.',
  'comment.updated': 'A comment was edited.',
  'comment.deleted': 'A comment was deleted.',
  'key.created': 'A key was created.',
  'key.updated': 'A key was changed.',
  'key.rotated': 'A key got a new secret.',
  'key.revoked': 'A key was revoked.',
  'key.expiring': 'A key expires within 7 days.',
  'webhook.created': 'A webhook was created.',
  'webhook.updated': 'A webhook was changed.',
  'webhook.enabled': 'A disabled webhook was enabled.',
  'webhook.disabled': 'A webhook was disabled, by a key or because its receiver failed.',
  'webhook.rotated': 'A webhook got a new secret.',
  'webhook.replayed': 'A webhook was moved back to send events again.',
  'webhook.deleted': 'A webhook was deleted.',
} as const satisfies Record<`${SubjectType}.${string}`, string>;

export type EventType = keyof typeof eventTypes;
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
    actor: Strict({
      key_id: OrNull(
        Id('key', { description: 'The key that was used for the change; null for the service itself.' }),
      ),
      name: Line({ description: 'Name of the key at the time of the change.' }),
    }),
    subject: Strict({
      type: OneOf(Object.keys(subjectScopes) as SubjectType[]),
      id: Type.String({ examples: ['rsk_01jd3k9m5vqs8h2n6r4t0c7e1b'] }),
      key: OrNull(Type.String({ description: 'The key of a project or its item.', examples: ['APOLLO-R7'] })),
      web_url: OrNull(
        Type.String({
          format: 'uri',
          description:
            'The page of the resource in the console; null for comments and keys, which have none.',
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

const Membership = Strict(
  { group_id: Id('group'), group_name: Line(), user_id: Id('person'), user_name: Line() },
  { $id: 'Membership' },
);

/** The schema of `data` in the events about each kind of resource. */
export const eventData: Record<SubjectType, TSchema> = {
  person: Person,
  group: Type.Union([Group, Membership]),
  project: Project,
  risk: Risk,
  issue: Issue,
  task: Task,
  comment: Comment,
  key: Key,
  webhook: Webhook,
};

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
