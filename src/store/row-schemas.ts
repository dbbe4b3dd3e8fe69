import type { GeneratedAlways } from 'kysely';
import { type TProperties, type TSchema, Type } from 'typebox';
import { Id, Line, OneOf, OrNull, Time } from '../core/schemas.ts';
import { Comment } from '../resources/comments/schema.ts';
import { Group } from '../resources/groups/schema.ts';
import { HistoryEntry } from '../resources/history/schema.ts';
import { Issue } from '../resources/issues/schema.ts';
import { Key } from '../resources/keys/schema.ts';
import { Person } from '../resources/personnel/schema.ts';
import { Project } from '../resources/projects/schema.ts';
import { Risk } from '../resources/risks/schema.ts';
import { Task } from '../resources/tasks/schema.ts';
import { View } from '../resources/views/schema.ts';
import { Delivery, Webhook } from '../resources/webhooks/schema.ts';
import { type Tables, tableNames } from './tables.ts';

const Folded = Type.String();
const Count = Type.Integer({ minimum: 0 });
/** Needs 64 bits; all other integers have 32. */
const Sequence = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Hash = Type.String({ pattern: '^[0-9a-f]{64}$' });

const riskColumns = { search_folded: Folded, rank_key: Type.String() };

/**
 * The schema of each column: that of the resource's field, or for columns that only the database uses the one given here.
 * Lists, objects and values of any type are stored as JSON text. Fields that are not columns do no harm.
 */
export const rowSchemas: Record<keyof Tables, TProperties> = {
  people: {
    ...Person.properties,
    name_folded: Folded,
    department_folded: OrNull(Folded),
    skills_folded: Folded,
    search_folded: Folded,
  },
  groups: { ...Group.properties, name_folded: Folded },
  memberships: { group_id: Id('group'), user_id: Id('person'), added_at: Time() },
  projects: {
    ...Project.properties,
    name_folded: Folded,
    search_folded: Folded,
    open_issues: Count,
    critical_issues: Count,
    active_risks: Count,
    unassessed_risks: Count,
    risks_created: Count,
    issues_created: Count,
    tasks_created: Count,
  },
  risks: { ...Risk.properties, ...riskColumns },
  past_risks: { ...Risk.properties, ...riskColumns, valid_until: Time() },
  issues: { ...Issue.properties, search_folded: Folded },
  tasks: { ...Task.properties, search_folded: Folded },
  comments: {
    ...Comment.properties,
    mentions: Type.Array(Id('person')),
    author_user_id: OrNull(Id('person')),
  },
  settings: { name: Line(), value: Type.String() },
  views: View.properties,
  keys: {
    ...Key.properties,
    name_folded: Folded,
    hash: Hash,
    previous_hash: OrNull(Hash),
    previous_until: OrNull(Time()),
  },
  history: { ...HistoryEntry.properties, subject_id: Line(), actor_user_id: OrNull(Id('person')) },
  events: {
    sequence: Sequence,
    id: Id('event'),
    type: Line(),
    also: Type.Array(Line()),
    at: Time(),
    actor_user_id: OrNull(Id('person')),
    key_id: OrNull(Id('key')),
    key_name: Line(),
    subject_type: Line(),
    subject_id: Line(),
    subject_key: OrNull(Line()),
    project_id: OrNull(Id('project')),
    data: Type.Unknown(),
    previous: Type.Unknown(),
  },
  // A day or, for events in advance, an hour: see `jobs/dated-events.ts`.
  event_checkpoints: {
    type: Line(),
    checked_until: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d(T\\d\\d)?$' }),
  },
  webhooks: {
    ...Webhook.properties,
    secret: Line(),
    previous_secret: OrNull(Line()),
    previous_until: OrNull(Time()),
    last_sequence: Sequence,
    failures: Count,
    throttled_until: OrNull(Time()),
  },
  webhook_deliveries: {
    ...Delivery.properties,
    sequence: OrNull(Sequence),
    // From the receiver or the network, so that it may be empty.
    error: OrNull(Type.String()),
    subject_id: OrNull(Line()),
    payload: OrNull(Type.String()),
    claimed_until: OrNull(Time()),
  },
  idempotency: { id: Line(), request_hash: Hash, response: Type.Unknown(), created_at: Time() },
  data_versions: { table_name: OneOf([...tableNames, 'deleted_events']), version: Sequence },
} satisfies { [T in keyof Tables]: Record<StoredColumn<Tables[T]>, TSchema> };

/** The columns that are written; the database generates the others. */
type StoredColumn<Table> = {
  [C in keyof Table]: Table[C] extends GeneratedAlways<unknown> ? never : C;
}[keyof Table];
