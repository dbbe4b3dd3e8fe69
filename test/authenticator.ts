import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** The parts of a response that a test can falsify. */
type Falsified = {
  origin?: string;
  rpId?: string;
  challenge?: string;
  isVerified?: boolean;
  userHandle?: string;
};

type Passkey = { id: Buffer; privateKey: KeyObject; rpId: string; userHandle: string; counter: number };

const base64url = (bytes: Uint8Array | string) => Buffer.from(bytes).toString('base64url');
const sha256 = (data: Uint8Array | string) => createHash('sha256').update(data).digest();

/** A passkey provider in software (WebAuthn, ES256, attestation `none`), to send valid and falsified responses. */
export function createAuthenticator(origin: string) {
  const clientData = (type: string, challenge: string) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));

  function authenticatorData(
    rpId: string,
    counter: number,
    isVerified: boolean,
    credential?: Buffer,
  ): Buffer {
    // User present, user verified, and attested credential data included.
    const flags = 0x01 | (isVerified ? 0x04 : 0) | (credential ? 0x40 : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), count, credential ?? Buffer.alloc(0)]);
  }

  const clientDataFor = (type: string, challenge: string, falsified: Falsified) => {
    const data = JSON.parse(clientData(type, falsified.challenge ?? challenge).toString());
    return Buffer.from(JSON.stringify({ ...data, origin: falsified.origin ?? origin }));
  };

  return {
    /** Creates a passkey for the options of the service. */
    create(options: Record<string, unknown>, falsified: Falsified = {}) {
      const { challenge, rp, user } = options as {
        challenge: string;
        rp: { id: string };
        user: { id: string };
      };
      const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
      const id = randomBytes(32);
      const rpId = falsified.rpId ?? rp.id;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const credential = Buffer.concat([Buffer.alloc(16), length, id, coseKey(x, y)]);
      const authData = authenticatorData(rpId, 0, falsified.isVerified ?? true, credential);
      const attestation = Buffer.concat([
        Buffer.from([0xa3]),
        cborText('fmt'),
        cborText('none'),
        cborText('attStmt'),
        Buffer.from([0xa0]),
        cborText('authData'),
        cborBytes(authData),
      ]);
      const passkey: Passkey = { id, privateKey, rpId, userHandle: user.id, counter: 0 };
      const response = {
        clientDataJSON: base64url(clientDataFor('webauthn.create', challenge, falsified)),
        attestationObject: base64url(attestation),
        transports: ['internal'],
      };
      return { passkey, response: credentialOf(id, response) };
    },

    /** Signs in with a passkey. */
    sign(passkey: Passkey, options: Record<string, unknown>, falsified: Falsified = {}) {
      const { challenge } = options as { challenge: string };
      passkey.counter += 1;
      const rpId = falsified.rpId ?? passkey.rpId;
      const authData = authenticatorData(rpId, passkey.counter, falsified.isVerified ?? true);
      const data = clientDataFor('webauthn.get', challenge, falsified);
      const signature = sign('sha256', Buffer.concat([authData, sha256(data)]), passkey.privateKey);
      return credentialOf(passkey.id, {
        clientDataJSON: base64url(data),
        authenticatorData: base64url(authData),
        signature: base64url(signature),
        userHandle: falsified.userHandle ?? passkey.userHandle,
      });
    },
  };
}

const credentialOf = (id: Buffer, response: Record<string, unknown>) => ({
  id: base64url(id),
  rawId: base64url(id),
  type: 'public-key',
  response,
  clientExtensionResults: {},
  authenticatorAttachment: 'platform',
});

const cborText = (text: string) => Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)]);

const cborBytes = (bytes: Buffer) => Buffer.concat([Buffer.from([0x58, bytes.length]), bytes]);

/** A public key on the curve P-256 for ES256 (RFC 9053). */
const coseKey = (x: string, y: string) =>
  Buffer.concat([
    Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
    cborBytes(Buffer.from(x, 'base64url')),
    Buffer.from([0x22]),
    cborBytes(Buffer.from(y, 'base64url')),
  ]);
