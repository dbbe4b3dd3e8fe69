import type { GeneratedAlways } from 'kysely';
import type { Tables } from '../database/tables.ts';
import type { Comment } from '../resources/comments/schema.ts';
import type { Group } from '../resources/groups/schema.ts';
import type { HistoryEntry } from '../resources/history/schema.ts';
import type { Issue } from '../resources/issues/schema.ts';
import type { Key } from '../resources/keys/schema.ts';
import type { Person } from '../resources/personnel/schema.ts';
import type { Project } from '../resources/projects/schema.ts';
import type { Risk } from '../resources/risks/schema.ts';
import type { Task } from '../resources/tasks/schema.ts';
import type { View } from '../resources/views/schema.ts';
import type { Delivery, Webhook } from '../resources/webhooks/schema.ts';

/**
 * The tables, derived from the schemas of the resources: without the fields that are computed or joined, and with columns
 * that only the database uses. Arrays and objects are stored as JSON text. `..._folded` columns contain the result of
 * `fold`. `..._key` columns are sort keys. `actor_user_id` and `author_user_id` are null until people can sign in.
 */
type StoreTables = {
  people: Stored<Person, 'assignable' | 'groups' | 'web_url', 'skills' | 'attributes'> & {
    name_folded: string;
    department_folded: string | null;
    skills_folded: string;
    search_folded: string;
    roster_key: GeneratedAlways<string>;
  };
  groups: Stored<Group, 'member_count' | 'web_url'> & {
    name_folded: string;
    name_key: GeneratedAlways<string>;
  };
  memberships: { group_id: string; user_id: string; added_at: string };
  projects: Stored<Project, 'counts' | 'health' | 'web_url', 'attributes'> & {
    name_folded: string;
    search_folded: string;
    name_key: GeneratedAlways<string>;
    /** Updated in the transaction of each change: see `projects/counts.ts`. */
    open_issues: number;
    critical_issues: number;
    active_risks: number;
    unassessed_risks: number;
    /** How many of each were ever created, so that the number in a key such as `APOLLO-R12` is never reused. */
    risks_created: number;
    issues_created: number;
    tasks_created: number;
  };
  risks: RiskTable;
  /** Earlier versions of risks, and the last versions of deleted risks. */
  past_risks: RiskTable & { valid_until: string };
  issues: Stored<
    Issue,
    Named | 'owner_active' | 'assignee_name' | 'assignee_active' | 'age_days' | 'overdue' | 'web_url',
    'attributes'
  > & {
    search_folded: string;
    open: GeneratedAlways<number>;
    rank_key: GeneratedAlways<string>;
  };
  tasks: Stored<Task, 'project_key' | 'project_name' | 'assignee_name' | 'assignee_active' | 'web_url'> & {
    search_folded: string;
    open: GeneratedAlways<number>;
    due_key: GeneratedAlways<string>;
  };
  comments: Stored<Comment, never, 'mentions'> & { author_user_id: string | null };
  views: View;
  /** Settings of the organization, such as `time_zone`. */
  settings: { name: string; value: string };
  keys: Stored<Key, never, 'scopes' | 'project_ids'> & {
    name_folded: string;
    hash: string;
    /** The secret before the last rotation, valid until `previous_until`. */
    previous_hash: string | null;
    previous_until: string | null;
  };
  /** Append-only: one row per changed field. `from` and `to` are JSON. */
  history: Omit<HistoryEntry, 'from' | 'to'> & {
    subject_id: string;
    actor_user_id: string | null;
    from: string;
    to: string;
  };
  /** Append-only: one row per change, in commit order. `also`, `data` and `previous` are JSON. See `writes/events.ts`. */
  events: {
    sequence: number;
    id: string;
    type: string;
    also: string;
    at: string;
    actor_user_id: string | null;
    key_id: string | null;
    key_name: string;
    subject_type: string;
    subject_id: string;
    subject_key: string | null;
    /** Null for people, groups and keys, which belong to no project. */
    project_id: string | null;
    data: string;
    previous: string;
  };
  /** For each type of event that a date causes, such as `issue.overdue`: the time up to which its events are written. */
  event_checkpoints: { type: string; checked_until: string };
  webhooks: Stored<Webhook, never, 'types' | 'project_ids' | 'scopes'> & {
    /** Stored as it is, because signing needs it. No query of the API reads it. */
    secret: string;
    /** The secret before the last rotation, which signs too until `previous_until`. */
    previous_secret: string | null;
    previous_until: string | null;
    /** The position in the event log: deliveries exist for the events up to here. */
    last_sequence: number;
    /** Failed attempts in a row. */
    failures: number;
    /** The receiver asked to send nothing before. */
    throttled_until: string | null;
  };
  webhook_deliveries: Delivery & {
    subject_id: string | null;
    /** Only for tests, which are not in the event log. */
    payload: string | null;
    /** Until then the instance that has claimed the delivery attempts it. */
    claimed_until: string | null;
  };
  /** Stored responses to requests with an `Idempotency-Key`: see `http/request/idempotency.ts`. */
  idempotency: { id: string; request_hash: string; response: string; created_at: string };
  /**
   * The version of each table, incremented by every transaction that writes to it. The versions of `events` and
   * `deleted_events` are sequence numbers: of the latest event, and of the latest one that was deleted.
   */
  data_versions: { table_name: TableName | 'deleted_events'; version: number };
};

declare module '../database/tables.ts' {
  interface Tables extends StoreTables {}
}

export type { Tables } from '../database/tables.ts';

export type TableName = Exclude<keyof Tables, 'data_versions' | 'idempotency' | 'event_checkpoints'>;

export const tableNames = [
  'people',
  'groups',
  'memberships',
  'projects',
  'risks',
  'past_risks',
  'issues',
  'tasks',
  'comments',
  'views',
  'settings',
  'keys',
  'history',
  'events',
  'webhooks',
  'webhook_deliveries',
] as const satisfies TableName[];

/** Every table, for backups. */
export const allTables = [
  ...tableNames,
  'event_checkpoints',
  'idempotency',
  'data_versions',
] as const satisfies (keyof Tables)[];

type RiskTable = Stored<
  Risk,
  Named | 'owner_active' | 'issue_ids' | 'tasks_total' | 'tasks_done' | 'checks' | 'web_url',
  'attributes'
> & {
  search_folded: string;
  /** See `resources/risks/rules/ranking.ts`. */
  rank_key: string;
  active: GeneratedAlways<number>;
};

type Named = 'project_key' | 'project_name' | 'owner_name';

type Stored<Resource, Elsewhere extends keyof Resource, Json extends keyof Resource = never> = Omit<
  Resource,
  Elsewhere | Json
> & { [J in Json]: null extends Resource[J] ? string | null : string };
