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
import { ProjectRef } from '../projects/schema.ts';

export const scopes = [
  'personnel.read',
  'personnel.manage',
  'projects.read',
  'projects.manage',
  'events.read',
  'events.manage',
  'keys.read',
  'keys.manage',
  'metrics.read',
] as const;

export type Scope = (typeof scopes)[number];

export const maxOverlapSeconds = 604_800;
export const maxRateLimit = 1_000_000;

const required = {
  name: Line({ examples: ['nightly export'] }),
  scopes: Type.Array(OneOf(scopes), {
    minItems: 1,
    maxItems: scopes.length,
    uniqueItems: true,
    examples: [['personnel.read']],
  }),
};

/** The most projects a key can be limited to. */
const maxProjects = 500;

const projectIds = Type.Array(Id('project'), {
  description: 'The projects this key is limited to; null is all.',
});

const fields = {
  expires_at: OrNull(Time({ description: 'From when on it is refused; null is never.' })),
  rate_limit: OrNull(
    Type.Integer({
      minimum: 0,
      maximum: maxRateLimit,
      description: "Requests a minute; 0 is any number, null is the service's own limit.",
    }),
  ),
};

const writable = {
  project_ids: OrNull(
    Type.Array(ProjectRef, {
      minItems: 1,
      maxItems: maxProjects,
      uniqueItems: true,
      description: 'Ids or keys of the projects this key is limited to; null is all.',
      examples: [['APOLLO']],
    }),
  ),
  ...fields,
};

export const Key = Strict(
  {
    id: Id('key'),
    ...required,
    project_ids: OrNull(projectIds),
    ...fields,
    prefix: Type.String({ description: 'How the secret starts.', examples: ['mst_7Qd2'] }),
    last_four: Type.String({ examples: ['k3Xz'] }),
    last_used_at: OrNull(Time({ description: 'To the minute or so. Use is no change: `version` stays.' })),
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
          'What to send as `Authorization: Bearer`. Shown in this answer only; null in one that is replayed.',
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
      description: 'How long the secret until now still works.',
    }),
  }),
  { $id: 'KeyRotation' },
);

export const keyFilters = {
  q: Line({ description: 'Part of the name; case and accents do not matter.' }),
  status: ManyOf(OneOf(['valid', 'expired', 'revoked', 'all']), { default: ['all'] }),
};
