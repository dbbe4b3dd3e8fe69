import { type Static, Type } from 'typebox';
import { Id, Line, OneOf, OrNull, optional, Strict, Time } from '../../core/schemas.ts';
import { columnsOf, describeResource, Hash } from '../descriptor.ts';
import { problemsOfSignIn } from '../session/schema.ts';

/** How a session was started. */
export const signInWays = ['password', 'passkey', 'oidc', 'invitation', 'link', 'key'] as const;
export type SignInWay = (typeof signInWays)[number];

/** Why a session ended before its time. */
const endReasons = ['signed_out', 'replaced', 'revoked', 'access_ended', 'provider'] as const;
export type EndReason = (typeof endReasons)[number];

const fields = {
  id: Id('session'),
  user_id: OrNull(Id('person', { description: 'The person who signed in; null for a key of a program.' })),
  key_id: OrNull(Id('key', { description: 'The key that was used to sign in, if any.' })),
  way: OneOf(signInWays, {
    description: '`link` is the link that the first start prints; `oidc` the identity provider.',
  }),
  address: Type.String({ description: 'The network address of the browser.', examples: ['198.51.100.7'] }),
  browser: Line({ examples: ['Firefox on Linux'] }),
  created_at: Time({ description: 'When the browser signed in.' }),
  last_seen_at: Time({ description: 'The last request, to about a minute.' }),
  expires_at: Time({ description: 'When the session ends at the latest.' }),
};

export const Session = Strict(
  { ...fields, is_current: Type.Boolean({ description: 'Whether this request belongs to the session.' }) },
  { $id: 'Session' },
);
export type Session = Static<typeof Session>;

/** A session in events. A failed attempt to sign in has the id of no session. */
const SessionEvent = Strict({
  ...fields,
  reason: OrNull(OneOf(endReasons, { description: 'Why the session ended; null otherwise.' })),
  // Earlier versions have written events without it.
  ...optional({
    problem: OrNull(
      OneOf(problemsOfSignIn, {
        description: 'Why a sign-in at the identity provider failed; null otherwise.',
      }),
    ),
    count: OrNull(
      Type.Integer({
        description:
          'How many failures the event stands for: the first one of a network and account, then all of the next minute; ' +
          'null otherwise.',
      }),
    ),
  }),
});
export type SessionEvent = Static<typeof SessionEvent>;

export const sessionResource = describeResource({
  kind: 'session',
  table: 'sessions',
  id: 'id',
  tag: ['sessions', 'Browsers that are signed in, and the ways to sign in.'],
  columns: columnsOf(Session, ['is_current'], {
    hash: Hash,
    // The id of the session at the identity provider, and its token: both are needed to sign out there.
    provider_session: OrNull(Type.String()),
    id_token: OrNull(Type.String()),
  }),
  references: { user_id: 'people', key_id: 'keys' },
  visible: 'none',
  isTemporary: true,
  events: {
    scope: 'keys.read',
    types: {
      started: 'Somebody signed in.',
      ended: 'A session ended: signed out, revoked, or without access.',
      failed: 'Somebody failed to sign in.',
    },
    data: SessionEvent,
  },
});
