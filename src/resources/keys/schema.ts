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
  Time,
  Writable,
} from '../../core/schemas.ts';
import { scopes } from '../../core/scopes.ts';
import { columnsOf, describeResource, Folded, Hash } from '../descriptor.ts';
import { ProjectRef } from '../projects/schema.ts';

export const maxOverlapSeconds = 604_800;
export const maxRateLimit = 1_000_000;

export const Scopes = Type.Array(OneOf(scopes), {
  minItems: 1,
  maxItems: scopes.length,
  uniqueItems: true,
  examples: [['personnel.read']],
});

const required = { name: Line({ examples: ['nightly export'] }), scopes: Scopes };

const maxProjects = 500;

/** The projects that a key or a person is limited to: their ids and, in a request, also their keys. */
export const projectLimits = (whose: 'this key' | 'this person') => ({
  stored: OrNull(
    Type.Array(Id('project'), { description: `Projects ${whose} is limited to; null means all projects.` }),
  ),
  requested: OrNull(
    Type.Array(ProjectRef, {
      minItems: 1,
      maxItems: maxProjects,
      uniqueItems: true,
      description: `IDs or keys of the projects ${whose} is limited to; null means all projects.`,
      examples: [['APOLLO']],
    }),
  ),
});

const projects = projectLimits('this key');

const fields = {
  expires_at: OrNull(Time({ description: 'When the key expires; null means never.' })),
  rate_limit: OrNull(
    Type.Integer({
      minimum: 0,
      maximum: maxRateLimit,
      description: 'Requests per minute; 0 means no limit, null means the default of the service.',
    }),
  ),
};

const writable = { project_ids: projects.requested, ...fields };

export const Key = Strict(
  {
    id: Id('key'),
    ...required,
    project_ids: projects.stored,
    ...fields,
    prefix: Type.String({ description: 'First characters of the secret.', examples: ['mst_7Qd2'] }),
    last_four: Type.String({ description: 'Last four characters of the secret.', examples: ['k3Xz'] }),
    user_id: OrNull(
      Id('person', {
        description:
          'The person whose key it is; null for a key of a program. It has at most the access of the person.',
      }),
    ),
    last_used_at: OrNull(
      Time({ description: 'Last used, to about a minute. Using a key does not change its `version`.' }),
    ),
    revoked_at: OrNull(Time()),
    ...stamps,
  },
  { $id: 'Key' },
);
export type Key = Static<typeof Key>;

export const KeyWithSecret = Strict(
  {
    ...Key.properties,
    secret: OrNull(
      Type.String({
        description:
          'Send it as `Authorization: Bearer`. Shown in this response only; null in a replayed response.',
        examples: ['mst_7Qd2…k3Xz'],
      }),
    ),
  },
  { $id: 'KeyWithSecret' },
);

export const KeyInput = Writable(
  Key,
  { ...required, ...optional(writable) },
  { $id: 'KeyInput', examples: [{ name: 'nightly export', scopes: ['personnel.read'] }] },
);
export type KeyInput = Static<typeof KeyInput>;

export const KeyPatch = Writable(Key, patchable({ ...required, ...writable }), {
  $id: 'KeyPatch',
  examples: [{ expires_at: '2027-01-31T00:00:00Z' }],
});
export type KeyPatch = Static<typeof KeyPatch>;

export const KeyRotation = Strict(
  optional({
    overlap_seconds: Type.Integer({
      minimum: 0,
      maximum: maxOverlapSeconds,
      default: 0,
      description: 'How long the current secret keeps working.',
    }),
  }),
  { $id: 'KeyRotation' },
);

export const keyFilters = {
  q: Line({ description: 'Part of the name; case and accents are ignored.' }),
  status: ManyOf(OneOf(['valid', 'expired', 'revoked', 'all']), { default: ['all'] }),
};

export const keyResource = describeResource({
  kind: 'key',
  table: 'keys',
  id: 'id',
  tag: ['keys', 'API keys and their scopes.'],
  columns: columnsOf(Key, [], {
    name_folded: Folded,
    hash: Hash,
    // The secret before the last rotation, valid until `previous_until`.
    previous_hash: OrNull(Hash),
    previous_until: OrNull(Time()),
  }),
  references: { user_id: 'people' },
  visible: { projects: 'project_ids' },
  events: {
    scope: 'keys.read',
    types: {
      created: 'A key was created.',
      updated: 'A key was changed.',
      rotated: 'A key got a new secret.',
      revoked: 'A key was revoked.',
      expiring: 'A key expires within 7 days.',
    },
    data: Key,
  },
});
