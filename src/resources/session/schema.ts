import { type Static, Type } from 'typebox';
import { Email, Line, OrNull, optional, Strict } from '../../core/schemas.ts';
import { PasskeyResponse } from '../passkeys/schema.ts';

/** No format: whatever is wrong with it, the response is the same. */
export const Password = Type.String({ minLength: 1, maxLength: 2000 });

export const SessionInput = Strict(
  optional({
    key: Type.String({ description: 'An API key.', maxLength: 200, examples: ['mst_…'] }),
    email: Type.String({ description: 'Together with `password`.', maxLength: 200 }),
    password: Password,
    passkey: PasskeyResponse,
    link: Type.String({
      description: 'The token in the link that the first start prints.',
      maxLength: 200,
      examples: ['msl_…'],
    }),
  }),
  {
    $id: 'SessionInput',
    description: 'One of: `key`; `email` and `password`; `passkey`; `link`.',
    examples: [{ email: 'ada@example.com', password: 'nine sparrows on a warm roof' }],
  },
);
export type SessionInput = Static<typeof SessionInput>;

export const SignInWays = Strict(
  {
    password: Type.Boolean({ description: 'Whether people can sign in with a password.' }),
    passkey: Type.Boolean({ description: 'Whether passkeys work at this address.' }),
    oidc: OrNull(
      Type.Object(
        {
          label: Line({ description: 'The text of the button.', examples: ['Sign in with Okta'] }),
          redirect: Type.Boolean({ description: 'Whether the sign-in page goes there at once.' }),
        },
        { additionalProperties: false, description: 'The identity provider; null if there is none.' },
      ),
    ),
  },
  { $id: 'SignInWays' },
);

export const SignedOut = Strict(
  {
    redirect_to: Type.String({
      format: 'uri',
      description: 'The page of the identity provider that ends its session too.',
    }),
  },
  { $id: 'SignedOut' },
);

/** Why a sign-in at the identity provider failed. */
export const problemsOfSignIn = [
  'unavailable',
  'expired',
  'not_recent',
  'refused',
  'failed',
  'not_verified',
  'domain',
  'unknown_person',
  'no_access',
] as const;
export type SignInProblem = (typeof problemsOfSignIn)[number];

export const InvitationToken = Type.String({
  maxLength: 200,
  description: 'The part of the link after `#`.',
  examples: ['msl_…'],
});

export const InvitationAcceptance = Strict(
  {
    token: InvitationToken,
    ...optional({
      password: Password,
      passkey: PasskeyResponse,
      revoke_keys: Type.Boolean({ description: 'Whether to revoke the personal keys, too.', default: false }),
    }),
  },
  {
    $id: 'InvitationAcceptance',
    description: 'The token together with either `password` or `passkey`.',
    examples: [{ token: 'msl_…', password: 'nine sparrows on a warm roof' }],
  },
);

export const InvitationPreview = Strict(
  {
    name: Line({ description: 'The name of the invited person.' }),
    email: OrNull(Email()),
    expires_at: Type.String({ format: 'date-time' }),
    personal_keys: Type.Integer({ minimum: 0, description: 'How many personal keys of the person work.' }),
  },
  { $id: 'InvitationPreview' },
);
