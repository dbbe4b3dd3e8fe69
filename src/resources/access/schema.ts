import { type Static, Type } from 'typebox';
import { Email, Id, Line, OneOf, OrNull, Strict, stamps, Time } from '../../core/schemas.ts';
import { columnsOf, describeResource } from '../descriptor.ts';
import { projectLimits, Scopes } from '../keys/schema.ts';

const projects = projectLimits('this person');

/** The ways in which a person signs in. */
const waysIn = ['password', 'passkey', 'oidc'] as const;

export const Access = Strict(
  {
    id: Id('access'),
    user_id: Id('person'),
    name: Line({ description: 'The name of the person.' }),
    email: OrNull(Email({ description: 'The e-mail address of the person.' })),
    scopes: Scopes,
    project_ids: projects.stored,
    source: OneOf(['manual', 'oidc'], {
      description:
        '`manual`: given by an administrator. `oidc`: follows from a claim of the identity provider; each sign-in ' +
        'replaces it.',
    }),
    ways: Type.Array(OneOf(waysIn), { description: 'The ways in which the person can sign in now.' }),
    invited_until: OrNull(
      Time({ description: 'When the pending invitation expires; null if there is none.' }),
    ),
    last_seen_at: OrNull(
      Time({ description: 'The last request of a session that has not ended, to about a minute.' }),
    ),
    ...stamps,
  },
  { $id: 'Access' },
);
export type Access = Static<typeof Access>;

export const AccessInput = Strict(
  { scopes: Scopes, project_ids: Type.Optional(projects.requested) },
  { $id: 'AccessInput', examples: [{ scopes: ['personnel.read', 'projects.read'] }] },
);
export type AccessInput = Static<typeof AccessInput>;

export const Invitation = Strict(
  {
    url: OrNull(
      Type.String({
        format: 'uri',
        description:
          'The link with which the person chooses a password or a passkey, once. Shown in this response only; null in a ' +
          'replayed response.',
        examples: ['https://ops.example.com/invitation#msl_0123456789'],
      }),
    ),
    expires_at: Time(),
  },
  { $id: 'Invitation' },
);

export const accessResource = describeResource({
  kind: 'access',
  table: 'access',
  id: 'id',
  tag: ['access', 'Which people can sign in, and what they may do.'],
  columns: columnsOf(Access, ['name', 'email', 'ways', 'invited_until', 'last_seen_at'], {}),
  references: { user_id: 'people' },
  // Access concerns the whole organization.
  visible: 'none',
  events: {
    scope: 'keys.read',
    types: {
      created: 'A person got access.',
      updated: 'The access of a person was changed.',
      deleted: 'A person lost access.',
      invited: 'A person was invited, or got a link to choose a new password.',
      password_set: 'A person chose a password.',
      password_removed: 'A person removed the password.',
      passkey_added: 'A person added a passkey.',
      passkey_removed: 'A person removed a passkey.',
    },
    data: Access,
  },
});
