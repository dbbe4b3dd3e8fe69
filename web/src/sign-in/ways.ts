import type { RegistrationResponseJSON } from '@simplewebauthn/browser';
import { useQuery } from '@tanstack/react-query';
import { api, dataOrThrow } from '../api/client.ts';
import type { PasskeyOptions, PasskeyResponse } from '../api/openapi.ts';

/** The ways to sign in that the service and this browser have. */
export const useSignInWays = () =>
  useQuery({
    queryKey: ['sign-in-ways'],
    staleTime: 300_000,
    queryFn: async () => {
      const ways = await dataOrThrow(api.GET('/v1/session/ways'));
      return { ...ways, passkey: ways.passkey && 'PublicKeyCredential' in window };
    },
  });

const webauthn = () => import('@simplewebauthn/browser');

/** Lets the person sign in with a passkey of this browser or device. */
export async function readPasskey(): Promise<PasskeyResponse> {
  const { startAuthentication } = await webauthn();
  const options = await dataOrThrow(api.POST('/v1/session/passkey'));
  return asInput(
    await startAuthentication({ optionsJSON: options as never }).catch((error) => {
      throw explained(error, 'No passkey was used. Try again, or sign in another way.');
    }),
  );
}

/** Lets the person create a passkey with the options of the service. */
export async function createPasskey(readOptions: () => Promise<PasskeyOptions>): Promise<PasskeyResponse> {
  const { startRegistration } = await webauthn();
  const options = await readOptions();
  return asInput(
    await startRegistration({ optionsJSON: options as never }).catch((error) => {
      throw explained(error, 'No passkey was created. Try again.');
    }),
  );
}

const asInput = (response: Pick<RegistrationResponseJSON, 'id'>) => response as unknown as PasskeyResponse;

/** Browsers report in their own words, and mostly only that nothing came of it. */
function explained(error: Error, cancelled: string): Error {
  if (error.name === 'InvalidStateError')
    return new Error('You already have a passkey on this device. Use that one.', { cause: error });
  if (error.name === 'SecurityError')
    return new Error("Passkeys don't work at this address. Open the console at its usual address.", {
      cause: error,
    });
  return new Error(cancelled, { cause: error });
}
