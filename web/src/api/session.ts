import { useSyncExternalStore } from 'react';
import { ApiProblem, answerOf, api } from './client.ts';
import type { Me } from './openapi.ts';

export type Scope = Me['scopes'][number];

type Session = { state: 'unknown' | 'out'; sentence?: string } | { state: 'in'; me: Me };

let session: Session = { state: 'unknown' };
const listeners = new Set<() => void>();

function set(next: Session): void {
  session = next;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useSession = () => useSyncExternalStore(subscribe, () => session);

/** What the key in use is. Only below the sign-in, where there is one. */
export function useMe(): Me {
  const current = useSession();
  if (current.state !== 'in') throw new Error('Nobody is signed in.');
  return current.me;
}

/** Whether the key in use may do something; what it may not is not shown. */
export function useMay(): (scope: Scope) => boolean {
  const { scopes } = useMe();
  return (scope) => scopes.includes(scope) || scopes.includes(scope.replace('.read', '.manage') as Scope);
}

/** Whether the key in use sees only some projects: what reaches beyond them is not for it. */
export const useIsLimited = () => useMe().project_ids !== null;

/** At the start: whether the browser is still signed in. */
export async function resumeSession(): Promise<void> {
  try {
    set({ state: 'in', me: await answerOf(api.GET('/v1/me')) });
  } catch (error) {
    const isRefused = error instanceof ApiProblem && error.status === 401;
    // Without a cookie nothing has ended; with one, the service says what became of its key.
    const isNew = isRefused && error.message.startsWith('Send an API key');
    set({ state: 'out', ...(!isNew && { sentence: (error as Error).message }) });
  }
}

export async function signIn(key: string): Promise<void> {
  await answerOf(api.POST('/v1/session', { body: { key } }));
  set({ state: 'in', me: await answerOf(api.GET('/v1/me')) });
}

export async function signOut(): Promise<void> {
  await answerOf(api.DELETE('/v1/session'));
  endSession();
}

export function endSession(sentence?: string): void {
  if (session.state === 'in') set({ state: 'out', ...(sentence && { sentence }) });
}
