import { type TProperties, Type } from 'typebox';
import { Id, Line, OneOf, OrNull, Time } from '../core/schemas.ts';
import type { Tables } from '../database/tables.ts';
import { columnsOf, Flag, Hash, type RowOf, Sequence, type Table } from '../resources/descriptor.ts';
import { resources } from '../resources/descriptors.ts';
import { HandoverItem, HandoverRecord } from '../resources/handover/schema.ts';
import { HistoryEntry } from '../resources/history/schema.ts';
import { Passkey } from '../resources/passkeys/schema.ts';
import { riskResource } from '../resources/risks/schema.ts';
import { Delivery } from '../resources/webhooks/schema.ts';

/** Who made a change: a person, a key, a person by a key of theirs, or the service itself. */
const actor = {
  actor_user_id: OrNull(Id('person')),
  key_id: OrNull(Id('key')),
  // The name of the person or key at that time.
  key_name: Line(),
};

/** The tables that are no resources. A table comes after the tables that it refers to. */
const others = {
  memberships: {
    columns: { group_id: Id('group'), user_id: Id('person'), added_at: Time() },
    references: { group_id: 'groups', user_id: 'people' },
    visible: 'all',
  },
  /** Earlier versions of risks, and the last versions of deleted risks. */
  past_risks: {
    columns: { ...riskResource.columns, valid_until: Time() },
    generated: riskResource.generated,
    visible: riskResource.visible,
  },
  /** Append-only: one row per change, in commit order. See `writes/events.ts`. */
  events: {
    columns: {
      sequence: Sequence,
      id: Id('event'),
      type: Line(),
      also: Type.Array(Line()),
      at: Time(),
      ...actor,
      subject_type: Line(),
      subject_id: Line(),
      subject_key: OrNull(Line()),
      // Null for people, groups and keys, which belong to no project.
      project_id: OrNull(Id('project')),
      data: Type.Unknown(),
      previous: Type.Unknown(),
    },
    references: { key_id: 'keys' },
    visible: 'derived',
  },
  /** Append-only: one row per changed field. */
  history: {
    columns: columnsOf(HistoryEntry, ['actor'], {
      subject_id: Line(),
      actor_user_id: actor.actor_user_id,
    }),
    references: { key_id: 'keys' },
    visible: 'derived',
  },
  handovers: {
    columns: columnsOf(HandoverRecord, ['actor', 'items', 'restored', 'left'], {
      ...actor,
      deactivated: Flag,
    }),
    references: { user_id: 'people', key_id: 'keys' },
    visible: 'all',
  },
  /** What each hand-over moved. `version` is that of an item of a project after it. */
  handover_items: {
    columns: columnsOf(HandoverItem, ['key', 'title'], {
      handover_id: Id('handover'),
      version: OrNull(Type.Integer({ minimum: 1 })),
    }),
    references: { handover_id: 'handovers' },
    visible: 'derived',
  },
  webhook_deliveries: {
    columns: columnsOf(Delivery, [], {
      sequence: OrNull(Sequence),
      // From the receiver or the network, so that it may be empty.
      error: OrNull(Type.String()),
      subject_id: OrNull(Line()),
      // Only for tests, which are not in the event log.
      payload: OrNull(Type.String()),
      // Until then the instance that has claimed the delivery attempts it.
      claimed_until: OrNull(Time()),
    }),
    references: { webhook_id: 'webhooks' },
    visible: 'derived',
  },
} as const satisfies Record<string, Table>;

/** Tables of the service itself, which have no version and which no key reads. */
const internal = {
  /** For each type of event that a date causes, such as `issue.overdue`: the time up to which its events are written. */
  event_checkpoints: {
    columns: {
      type: Line(),
      // A day or, for events in advance, an hour: see `jobs/dated-events.ts`.
      checked_until: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d(T\\d\\d)?$' }),
    },
  },
  /** Stored responses to requests with an `Idempotency-Key`: see `http/request/idempotency.ts`. */
  idempotency: {
    columns: { id: Line(), request_hash: Hash, response: Type.Unknown(), created_at: Time() },
  },
  /** The hash of a password is in the PHC string format: see `resources/passwords/hash.ts`. */
  passwords: {
    columns: { user_id: Id('person'), hash: Type.String(), set_at: Time() },
    references: { user_id: 'people' },
  },
  passkeys: {
    columns: columnsOf(Passkey, [], {
      user_id: Id('person'),
      credential_id: Type.String(),
      public_key: Type.String(),
      counter: Sequence,
      transports: Type.Array(Line()),
    }),
    references: { user_id: 'people' },
  },
  /** The people, and the members of groups, whom `mode=sync` has imported from a source: see `import/sync/`. */
  synced_people: {
    columns: { source: Line(), user_id: Id('person'), deactivated: Type.Integer() },
    references: { user_id: 'people' },
  },
  synced_members: {
    columns: { source: Line(), group_id: Id('group'), user_id: Id('person') },
    references: { group_id: 'groups', user_id: 'people' },
  },
  /** The ids that imported rows had in the service that exported them, by which later files refer to them. */
  moved_ids: { columns: { old_id: Line(), new_id: Line() } },
  /** The accounts of people at the identity provider. */
  identities: {
    columns: { issuer: Type.String(), subject: Type.String(), user_id: Id('person'), created_at: Time() },
    references: { user_id: 'people' },
  },
  /** Links that work once: an invitation, or the link that the first start prints. */
  links: {
    columns: {
      hash: Hash,
      purpose: OneOf(['invitation', 'sign_in']),
      user_id: OrNull(Id('person')),
      key_id: OrNull(Id('key')),
      created_at: Time(),
      expires_at: Time(),
    },
    references: { user_id: 'people', key_id: 'keys' },
    isTemporary: true,
  },
  /** What a browser must return to sign in: the state of the identity provider, or the challenge of a passkey. */
  challenges: {
    columns: {
      hash: Hash,
      purpose: OneOf(['oidc', 'passkey', 'new_passkey']),
      data: Type.Unknown(),
      expires_at: Time(),
    },
    isTemporary: true,
  },
  /** The sign-out notices of the identity provider that were processed, so that none is used twice. */
  logout_tokens: { columns: { hash: Hash, expires_at: Time() }, isTemporary: true },
  /** The browsers and networks from which a person has signed in: see `store/access/known-clients.ts`. */
  known_clients: {
    columns: { hash: Hash, user_id: Id('person'), expires_at: Time() },
    references: { user_id: 'people' },
    isTemporary: true,
  },
  /** Failed attempts to sign in to an account, whether or not it exists, from anywhere and from each place. */
  sign_in_failures: {
    columns: { account: Hash, failures: Type.Integer(), last_at: Time() },
    isTemporary: true,
  },
} as const satisfies Record<string, Omit<Table, 'generated' | 'visible'>>;

type Resource = (typeof resources)[number];

export type ResourceTable = Resource['table'];
export type TableName = ResourceTable | keyof typeof others;

const ofResources = resources.map((resource): [string, Table] => [resource.table, resource]);

/** The tables of the API, by name. */
export const tables: Record<TableName, Table> = {
  ...(Object.fromEntries(ofResources) as Record<ResourceTable, Table>),
  ...others,
};

export const tableNames = Object.keys(tables) as TableName[];

/**
 * The version of each table, incremented by every transaction that writes to it. The versions of `events` and
 * `deleted_events` are sequence numbers: of the latest event, and of the latest one that was deleted. All commits that were
 * lost since those were of events between `lost_after` and `lost_until`. `timeline` is that of the database server.
 */
const data_versions = {
  columns: {
    table_name: OneOf([...tableNames, 'deleted_events', 'timeline', 'lost_after', 'lost_until']),
    version: Sequence,
  },
};

type Service = typeof internal & { data_versions: typeof data_versions };

/** The tables, derived from the descriptors of the resources and from the list above. */
type StoreTables = { [R in Resource as R['table']]: RowOf<R> } & {
  [T in keyof typeof others]: RowOf<(typeof others)[T]>;
} & { [T in keyof Service]: RowOf<Service[T]> };

declare module '../database/tables.ts' {
  interface Tables extends StoreTables {}
}

export type { Tables } from '../database/tables.ts';

const all: Record<string, Omit<Table, 'generated' | 'visible'>> = { ...tables, ...internal, data_versions };

/** Every table, a table after those that it refers to. */
export const allTables = Object.keys(all) as (keyof Tables)[];

export const isTemporary = (table: keyof Tables) => all[table]?.isTemporary === true;

/** The tables that backups contain. */
export const backupTables = allTables.filter((table) => !isTemporary(table));

/** The schema of each column that is written. */
export const columnSchemas = (table: keyof Tables): TProperties => all[table]?.columns ?? {};

/** The columns that refer to a row, and its table. */
export const referencesOf = (table: keyof Tables): Readonly<Record<string, string>> =>
  all[table]?.references ?? {};
