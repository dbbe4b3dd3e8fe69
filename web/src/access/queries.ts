import { useQuery } from '@tanstack/react-query';
import { ApiError, api, dataOrThrow } from '../api/client.ts';
import type { Access } from '../api/openapi.ts';
import { useHasScope, useIsLimited, useMe } from '../api/session.ts';

/** Everybody who has access, by name. */
export const useAccessList = () =>
  useQuery({
    queryKey: ['access'],
    queryFn: async () => (await dataOrThrow(api.GET('/v1/access'))).data,
  });

const paramsOf = (user_id: string) => ({ params: { path: { user_id } } });

/** The access of a person; null without. */
export const useAccess = (user_id: string) =>
  useQuery({
    queryKey: ['access', user_id],
    queryFn: () => readAccess(user_id),
  });

export const readAccess = (user_id: string): Promise<Access | null> =>
  dataOrThrow(api.GET('/v1/personnel/{user_id}/access', paramsOf(user_id))).catch((error) => {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  });

/** The browsers that signed in as a person, or with a key. */
export const useSessions = (query: { user_id: string } | { key_id: string }) =>
  useQuery({
    queryKey: ['sessions', query],
    queryFn: async () =>
      (await dataOrThrow(api.GET('/v1/sessions', { params: { query } }))).data.toReversed(),
  });

/** The ways to sign in that this service offers. */
export const useSignInWays = () =>
  useQuery({
    queryKey: ['sign-in-ways'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => dataOrThrow(api.GET('/v1/session/ways')),
  });

/** Whether the person or key in use can give, change and end the access of people. */
export function useManagesAccess(): boolean {
  const isLimited = useIsLimited();
  return useHasScope()('keys.manage') && !isLimited;
}

/** Why the access of a person can't be changed here; undefined if it can. */
export function useAccessObstacle() {
  const hasScope = useHasScope();
  const me = useMe();
  return (access: Access): string | undefined =>
    access.scopes.every(hasScope)
      ? undefined
      : `${access.name} can do more than ${me.type === 'key' ? 'your key' : 'you'}. Ask somebody with as much access to change it.`;
}
