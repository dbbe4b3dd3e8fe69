import { type Static, Type } from 'typebox';
import { Id, Line, OneOf, OrNull, optional, Strict, Time } from '../../core/schemas.ts';

export const Passkey = Strict(
  {
    id: Id('passkey'),
    name: Line({ description: 'The device or password manager that holds it.', examples: ['Safari on iOS'] }),
    created_at: Time(),
    last_used_at: OrNull(Time()),
  },
  { $id: 'Passkey' },
);
export type Passkey = Static<typeof Passkey>;

/** What a browser passes to the Web Authentication API. */
export const PasskeyOptions = Type.Record(Type.String(), Type.Unknown(), {
  $id: 'PasskeyOptions',
  description: 'Pass it to `navigator.credentials`, for example with `parseCreationOptionsFromJSON`.',
});

/** Bytes in base64url. */
const Encoded = Type.String({ maxLength: 10_000 });

/** What the browser returned, as `toJSON()` of the credential. */
export const PasskeyResponse = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 2000 }),
    rawId: Type.String({ minLength: 1, maxLength: 2000 }),
    type: OneOf(['public-key']),
    response: Strict(
      optional({
        clientDataJSON: Encoded,
        attestationObject: Encoded,
        authenticatorData: Encoded,
        signature: Encoded,
        userHandle: OrNull(Encoded),
        publicKey: Encoded,
        publicKeyAlgorithm: Type.Integer(),
        transports: Type.Array(Type.String({ maxLength: 50 }), { maxItems: 20 }),
      }),
    ),
    clientExtensionResults: Type.Record(Type.String({ pattern: '^\\w{1,50}$' }), Type.Unknown(), {
      additionalProperties: false,
      maxProperties: 20,
    }),
    authenticatorAttachment: Type.Optional(OrNull(Type.String({ maxLength: 50 }))),
  },
  { additionalProperties: false, $id: 'PasskeyResponse' },
);
export type PasskeyResponse = Static<typeof PasskeyResponse>;
