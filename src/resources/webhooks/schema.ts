import { type Static, Type } from 'typebox';
import {
  Id,
  Line,
  ManyOf,
  OneOf,
  OrNull,
  optional,
  patchable,
  Strict,
  stamps,
  Text,
  Time,
  Url,
  Writable,
} from '../../core/schemas.ts';
import { scopes } from '../../core/scopes.ts';
import { columnsOf, describeResource, Sequence } from '../descriptor.ts';
import { ProjectRef } from '../projects/schema.ts';

const maxTypes = 100;
const maxProjects = 500;

const required = {
  url: Url({
    description:
      'Where events are sent by POST. It must start with `https://`, contain no credentials, and belong to a public ' +
      'address, unless `MUSTER_WEBHOOK_ALLOW` of the service allows it.',
    examples: ['https://example.com/hooks/muster'],
  }),
  types: Type.Array(Type.String({ pattern: '^(\\*|[a-z]+\\.(\\*|[a-z_]+))$', maxLength: 50 }), {
    minItems: 1,
    maxItems: maxTypes,
    uniqueItems: true,
    description:
      'Event types to send, such as `issue.created`; `risk.*` for all types of risks, `*` for all types.',
    examples: [['risk.*', 'issue.created']],
  }),
};

const fields = {
  description: OrNull(Text({ examples: ['Posts new issues to the chat.'] })),
};

const projectIds = Type.Array(Id('project'), {
  description: 'Sends only what a key limited to these projects can read; null means all projects.',
});

const writable = {
  ...fields,
  project_ids: OrNull(
    Type.Array(ProjectRef, {
      minItems: 1,
      maxItems: maxProjects,
      uniqueItems: true,
      description:
        'IDs or keys of projects. Sends only what a key limited to these projects can read; null means all projects. ' +
        'Defaults to the projects of the key in use.',
      examples: [['APOLLO']],
    }),
  ),
  status: OneOf(['enabled', 'disabled'], {
    default: 'enabled',
    description:
      'A disabled webhook sends nothing. When it is enabled again, it continues with the events since then.',
  }),
};

export const Webhook = Strict(
  {
    id: Id('webhook'),
    ...required,
    ...fields,
    project_ids: OrNull(projectIds),
    status: writable.status,
    disabled_reason: OrNull(Text({ description: 'Why the service disabled the webhook.' })),
    failing_since: OrNull(
      Time({
        description:
          'The first failed attempt since the last success. After 5 days the webhook is disabled. Does not change `version`.',
      }),
    ),
    scopes: Type.Array(OneOf(scopes), {
      description:
        'The read scopes of the key that created the webhook. Events that these scopes cannot read are not sent.',
      examples: [['projects.read']],
    }),
    ...stamps,
  },
  { $id: 'Webhook' },
);
export type Webhook = Static<typeof Webhook>;

export const WebhookWithSecret = Strict(
  {
    ...Webhook.properties,
    secret: OrNull(
      Type.String({
        description:
          'Verifies signatures (Standard Webhooks). Shown in this response only; null in a replayed response.',
        examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'],
      }),
    ),
  },
  { $id: 'WebhookWithSecret' },
);

export const WebhookInput = Writable(
  Webhook,
  { ...required, ...optional(writable) },
  {
    $id: 'WebhookInput',
    examples: [{ url: 'https://example.com/hooks/muster', types: ['risk.*', 'issue.created'] }],
  },
);
export type WebhookInput = Static<typeof WebhookInput>;

export const WebhookPatch = Writable(Webhook, patchable({ ...required, ...writable }), {
  $id: 'WebhookPatch',
  examples: [{ types: ['risk.*', 'issue.*'] }],
});
export type WebhookPatch = Static<typeof WebhookPatch>;

export const WebhookReplay = Strict(
  {
    after: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Send the events after this sequence number again; 0 for all that are stored.',
    }),
  },
  { $id: 'WebhookReplay', examples: [{ after: 0 }] },
);

const deliveryStatuses = ['pending', 'delivered', 'failed'] as const;

export const Delivery = Strict(
  {
    id: Id('delivery'),
    webhook_id: Id('webhook'),
    event_id: Id('event', { description: 'Sent as `webhook-id`, the same in every attempt.' }),
    event_type: Line({ examples: ['risk.created'] }),
    sequence: OrNull(Type.Integer({ description: 'Sequence number of the event; null for a test.' })),
    status: OneOf(deliveryStatuses, {
      description: '`pending` until it is delivered or the last attempt has failed.',
    }),
    attempts: Type.Integer({ minimum: 0 }),
    created_at: Time(),
    last_attempt_at: OrNull(Time()),
    next_attempt_at: OrNull(
      Time({ description: 'During an attempt: when it is repeated if it has no result by then.' }),
    ),
    latency_ms: OrNull(Type.Integer({ description: 'Duration of the last attempt.' })),
    response_status: OrNull(Type.Integer({ description: 'HTTP status of the last response.' })),
    response_excerpt: OrNull(Type.String({ description: 'The first kilobyte of the last response.' })),
    error: OrNull(Text({ description: 'Why the last attempt got no response, or why it was not accepted.' })),
  },
  { $id: 'WebhookDelivery' },
);
export type Delivery = Static<typeof Delivery>;

export const webhookFilters = {
  status: ManyOf(OneOf(['enabled', 'disabled'])),
};

export const deliveryFilters = {
  status: ManyOf(OneOf(deliveryStatuses)),
};

export const webhookResource = describeResource({
  kind: 'webhook',
  table: 'webhooks',
  id: 'id',
  tag: ['webhooks', 'Sends events to a URL, signed as Standard Webhooks defines.'],
  columns: columnsOf(Webhook, [], {
    // Stored as it is, because signing needs it. No query of the API reads it.
    secret: Line(),
    // The secret before the last rotation, which signs too until `previous_until`.
    previous_secret: OrNull(Line()),
    previous_until: OrNull(Time()),
    // The position in the event log: deliveries exist for the events up to here.
    last_sequence: Sequence,
    // Failed attempts in a row.
    failures: Type.Integer({ minimum: 0 }),
    // The receiver asked to send nothing before.
    throttled_until: OrNull(Time()),
  }),
  visible: { projects: 'project_ids' },
  events: {
    scope: 'events.read',
    types: {
      created: 'A webhook was created.',
      updated: 'A webhook was changed.',
      enabled: 'A disabled webhook was enabled.',
      disabled: 'A webhook was disabled, by a key or because its receiver failed.',
      rotated: 'A webhook got a new secret.',
      replayed: 'A webhook was moved back to send events again.',
      deleted: 'A webhook was deleted.',
    },
    data: Webhook,
    page: ['/webhooks/', 'subject_id'],
    actions: ({ status }) => [status && String(status.to)],
  },
});
