import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Kysely, sql, type Transaction } from 'kysely';
import { fieldError, invalidBody, notFound } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { rowAsJson } from '../../database/sql/rows.ts';
import { clientOf, type FindActor } from '../../http/auth/sign-in.ts';
import type { List } from '../../lists/list.ts';
import { addAccessEvent, removeWayIn } from '../../store/access/access.ts';
import { findPerson } from '../../store/access/actors.ts';
import { createChallenge, takeChallenge } from '../../store/access/challenges.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change } from '../../store/writes/change.ts';
import type { Access } from '../access/schema.ts';
import { Passkey, type PasskeyResponse } from './schema.ts';

const challengeMinutes = 5;

/** Loaded by the first request that needs it, because it has many modules. */
const webauthn = () => import('@simplewebauthn/server');

/** Passkeys work only for a host name, and only over https or on the same machine. */
export function passkeyHost({ baseUrl }: Pick<FastifyInstance, 'baseUrl'>) {
  const { protocol, hostname, origin } = new URL(baseUrl);
  const isSecure = protocol === 'https:' || hostname === 'localhost';
  const isName = !/^[\d.]+$|^\[/.test(hostname);
  return isSecure && isName ? { rpID: hostname, origin } : undefined;
}

type Person = { user_id: string; name: string; email: string | null };

/** The options with which the browser of a person creates a passkey. With a reset, it may take the place of one. */
export async function registrationOptions(
  request: FastifyRequest,
  person: Person,
  { isReset = false } = {},
): Promise<Record<string, unknown>> {
  const { rpID } = requireHost(request);
  const { database } = request.server;
  const { user_id, name, email } = person;
  const challenge = await database.write((db) =>
    createChallenge(db, 'new_passkey', { user_id }, { now: request.moment.now, minutes: challengeMinutes }),
  );
  const existing = await database.db
    .selectFrom('passkeys')
    .select(['credential_id', 'transports'])
    .where('user_id', '=', user_id)
    .execute();
  const { generateRegistrationOptions } = await webauthn();
  const options = await generateRegistrationOptions({
    rpID,
    rpName: 'Muster',
    userID: new TextEncoder().encode(user_id),
    userName: email ?? name,
    userDisplayName: name,
    challenge: Buffer.from(challenge, 'base64url'),
    attestationType: 'none',
    excludeCredentials: (isReset ? [] : existing).map(({ credential_id, transports }) => ({
      id: credential_id,
      transports: JSON.parse(transports),
    })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  return { ...options };
}

/** Verifies a new passkey. Returns a function that stores it, because verifying uses up its challenge. */
export async function preparePasskey(request: FastifyRequest, person: Person, response: PasskeyResponse) {
  const { rpID, origin } = requireHost(request);
  const { verifyRegistrationResponse } = await webauthn();
  const verified = await verifyRegistrationResponse({
    response: response as unknown as RegistrationResponseJSON,
    expectedChallenge: async (challenge) => {
      const data = await takeOnce<{ user_id: string }>(request, 'new_passkey', challenge);
      return data?.user_id === person.user_id;
    },
    expectedOrigin: origin,
    expectedRPID: rpID,
    requireUserVerification: true,
  }).catch(() => undefined);
  const credential = verified?.registrationInfo?.credential;
  if (!verified?.verified || !credential) {
    const detail = 'The passkey could not be verified. Start again: a challenge works once, for 5 minutes.';
    throw invalidBody([fieldError('passkey', 'not_verified', detail)]);
  }
  const row = {
    id: newId('passkey'),
    user_id: person.user_id,
    name: clientOf(request).browser,
    credential_id: credential.id,
    public_key: Buffer.from(credential.publicKey).toString('base64url'),
    counter: credential.counter,
    transports: JSON.stringify(credential.transports ?? []),
    created_at: request.moment.now,
    last_used_at: null,
  };
  return async (db: Transaction<Tables>, access: Access, change: Change): Promise<Passkey> => {
    await db.insertInto('passkeys').values(row).execute();
    addAccessEvent(db, access, 'access.passkey_added', change);
    const { id, name, created_at, last_used_at } = row;
    return { id, name, created_at, last_used_at };
  };
}

/** The options with which a browser signs in. The person chooses one of the passkeys for this host. */
export async function authenticationOptions(request: FastifyRequest): Promise<Record<string, unknown>> {
  const { rpID } = requireHost(request);
  const challenge = await request.server.database.write((db) =>
    createChallenge(db, 'passkey', {}, { now: request.moment.now, minutes: challengeMinutes }),
  );
  const { generateAuthenticationOptions } = await webauthn();
  const options = await generateAuthenticationOptions({
    rpID,
    challenge: Buffer.from(challenge, 'base64url'),
    userVerification: 'required',
  });
  return { ...options };
}

/** Finds the person who signs in with a passkey, or throws. */
export async function findByPasskey(request: FastifyRequest, response: PasskeyResponse): Promise<FindActor> {
  const { database } = request.server;
  const { now } = request.moment;
  const passkey = await database.db
    .selectFrom('passkeys')
    .selectAll()
    .where('credential_id', '=', response.id)
    .executeTakeFirst();
  const counter = passkey && (await verifyAssertion(request, response, passkey));
  const actor = counter === undefined ? undefined : await findPerson(database.db, passkey?.user_id ?? '');
  const user_id = passkey?.user_id ?? null;
  if (actor && passkey) {
    await database.write((db) =>
      db
        .updateTable('passkeys')
        .set({ counter: counter ?? 0, last_used_at: now })
        .where('id', '=', passkey.id)
        .execute(),
    );
    const isStored = (db: Kysely<Tables>) =>
      db.selectFrom('passkeys').select('id').where('id', '=', passkey.id).executeTakeFirst();
    return async (db) => ((await isStored(db)) ? findPerson(db, user_id) : undefined);
  }
  await request.server.failedSignIns.record(request, { user_id, way: 'passkey' });
  throw request.server.failedAttempts(request, 'That passkey does not open an account here.');
}

/** Returns the new counter of the passkey, or undefined if the response is not valid. */
async function verifyAssertion(
  request: FastifyRequest,
  response: PasskeyResponse,
  { credential_id, public_key, counter, transports }: Tables['passkeys'],
): Promise<number | undefined> {
  const host = passkeyHost(request.server);
  if (!host) return undefined;
  const { verifyAuthenticationResponse } = await webauthn();
  const verified = await verifyAuthenticationResponse({
    response: response as unknown as AuthenticationResponseJSON,
    expectedChallenge: async (challenge) => (await takeOnce(request, 'passkey', challenge)) !== undefined,
    expectedOrigin: host.origin,
    expectedRPID: host.rpID,
    requireUserVerification: true,
    credential: {
      id: credential_id,
      publicKey: new Uint8Array(Buffer.from(public_key, 'base64url')),
      counter,
      transports: JSON.parse(transports),
    },
  }).catch(() => undefined);
  return verified?.verified ? verified.authenticationInfo.newCounter : undefined;
}

const takeOnce = <Data>(request: FastifyRequest, purpose: 'passkey' | 'new_passkey', challenge: string) =>
  takeChallenge<Data>(request.server.database, purpose, challenge, request.moment.now);

function requireHost({ server }: FastifyRequest) {
  const host = passkeyHost(server);
  if (host) return host;
  const detail =
    'Passkeys need an address with a host name, over https or on localhost. Open the console by that address, or use a ' +
    'password.';
  throw invalidBody([fieldError('passkey', 'not_secure', detail)]);
}

/** The passkeys of a person, oldest first. */
export const passkeyList = (user_id: string): List => ({
  schema: Passkey,
  json: rowAsJson(Passkey, 'passkeys'),
  reads: ['access'],
  isTimeDependent: true,
  order: { key: sql.ref('passkeys.id') },
  from: (db) => db.selectFrom('passkeys'),
  id: sql.ref('passkeys.id'),
  matches: sql`passkeys.user_id = ${user_id}`,
});

/** Deletes a passkey. Lock the table `access` before. */
export async function deletePasskey(
  db: Transaction<Tables>,
  access: Access,
  id: string,
  change: Change,
  exceptId?: string,
): Promise<void> {
  const remove = async () => {
    const { numDeletedRows } = await db
      .deleteFrom('passkeys')
      .where('id', '=', id)
      .where('user_id', '=', access.user_id)
      .executeTakeFirstOrThrow();
    if (numDeletedRows === 0n) throw notFound('passkey', id);
  };
  await removeWayIn(db, access, 'passkey', remove, change, exceptId);
}
