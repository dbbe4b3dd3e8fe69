import { setOrganizationDay } from '../format.ts';
import { ApiError, api, dataOrThrow } from './client.ts';
import type { Me } from './openapi.ts';
import { createStore } from './store.ts';

export type Scope = Me['scopes'][number];

type Session =
  | { state: 'unknown' }
  /** `me` is the key of a session that has ended by itself: the page stays, so that a form in it can still be saved. */
  | { state: 'signedOut'; message?: string; me?: Me }
  | { state: 'signedIn'; me: Me };

const session = createStore<Session>({ state: 'unknown' });

function setSession(next: Session): void {
  if (next.state === 'signedIn') setOrganizationDay(next.me);
  session.set(next);
}

/** For code outside of components. It is called before the components are rendered. */
export const watchSession = (listener: (session: Session) => void): void =>
  void session.subscribe(() => listener(session.get()));

export const useSession = session.use;

/** The key in use. Only for components that are shown after sign-in. */
export function useMe(): Me {
  const current = useSession();
  if (current.state === 'unknown' || !current.me) throw new Error('There is no session.');
  return current.me;
}

/** Whether the key in use has a scope. The console hides what the key can't do. */
export function useHasScope(): (scope: Scope) => boolean {
  const { scopes } = useMe();
  return (scope) => scopes.includes(scope) || scopes.includes(scope.replace('.read', '.manage') as Scope);
}

/** Whether the key in use is limited to some projects. Such a key can't change anything that all projects share. */
export const useIsLimited = () => useMe().project_ids !== null;

/** Reads again what the key in use can do. */
export async function reloadMe(): Promise<void> {
  const me = await dataOrThrow(api.GET('/v1/me'));
  // The user may have signed out meanwhile.
  if (session.get().state === 'signedIn') setSession({ state: 'signedIn', me });
}

/** Checks at startup whether the browser still has a session. */
export async function resumeSession(): Promise<void> {
  try {
    setSession({ state: 'signedIn', me: await dataOrThrow(api.GET('/v1/me')) });
  } catch (error) {
    // Without a cookie no session has ended, so there is nothing to report.
    const isFirstVisit = error instanceof ApiError && error.status === 401 && !error.isKeyRejected;
    setSession({ state: 'signedOut', ...(!isFirstVisit && { message: (error as Error).message }) });
  }
}

export async function signIn(key: string): Promise<void> {
  await dataOrThrow(api.POST('/v1/session', { body: { key } }));
  setSession({ state: 'signedIn', me: await dataOrThrow(api.GET('/v1/me')) });
}

export async function signOut(): Promise<void> {
  await dataOrThrow(api.DELETE('/v1/session'));
  setSession({ state: 'signedOut' });
}

function endSession(message: string): void {
  const current = session.get();
  if (current.state === 'signedIn') setSession({ state: 'signedOut', message, me: current.me });
}

/** A revoked or expired key leads back to the sign-in page, which shows the service's message. */
export function endSessionOn401(error: unknown): void {
  if (!(error instanceof ApiError) || error.status !== 401) return;
  endSession(error.isKeyRejected ? error.message : 'Your session has ended. Sign in again.');
}
