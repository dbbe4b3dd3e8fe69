import { setOrganization } from '../format.ts';
import { ApiError, api, basePath, dataOrThrow, namePageSession, onOtherSession } from './client.ts';
import { type Me, meScopesValues, type SessionInput } from './openapi.ts';
import { browserStorage, tabStorage } from './storage.ts';
import { createStore } from './store.ts';

export type Scope = Me['scopes'][number];

type Session =
  | { state: 'unknown' }
  /**
   * `me` had the session that has ended by itself: the page stays, so that a form in it can still be saved. After a
   * `failure` it is unknown whether the browser has a session.
   */
  | { state: 'signedOut'; message?: string; me?: Me; isFailure?: boolean }
  | { state: 'signedIn'; me: Me };

const session = createStore<Session>({ state: 'unknown' });

function setSession(next: Session): void {
  if (next.state === 'signedIn') {
    setOrganization(next.me);
    namePageSession(next.me.session?.id);
  }
  session.set(next);
}

/** The person, or else the key. */
export const actorId = (me: Me): string => me.user_id ?? me.key_id ?? '';

/** Continues with what `/v1/me` has returned. */
function enter(me: Me): void {
  const current = session.get();
  const last = current.state === 'unknown' ? undefined : current.me;
  if (last && actorId(last) !== actorId(me) && (last.user_id !== null || me.user_id !== null)) {
    // Nothing that the page has loaded for one person may be shown to another. It is removed first, because an open form
    // would ask before the page is left.
    setSession({ state: 'unknown' });
    tabStorage.setItem(formerItem, last.name);
    setTimeout(() => location.reload());
    return;
  }
  rememberWay(me);
  // The other tabs of the browser show somebody who is no longer signed in.
  browserStorage.setItem(sessionItem, me.session?.id ?? '');
  setSession({ state: 'signedIn', me });
}

/** Changes in all tabs when somebody signs in. */
export const sessionItem = 'muster-session';

const formerItem = 'muster-former';

/** The name of the person whose page this was before somebody else signed in, once. */
export function takeFormer(): string | null {
  const name = tabStorage.getItem(formerItem);
  tabStorage.removeItem(formerItem);
  return name;
}

/** For code outside of components. It is called before the components are rendered. */
export const watchSession = (listener: (session: Session) => void): void =>
  void session.subscribe(() => listener(session.get()));

export const useSession = session.use;

/** The person or key in use. Only for components that are shown after sign-in. */
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

const readMe = () => dataOrThrow(api.GET('/v1/me'));

/** Reads again who is signed in and what they can do. */
export async function reloadMe(): Promise<void> {
  const me = await readMe();
  // The user may have signed out meanwhile.
  if (session.get().state === 'signedIn') enter(me);
}

/** Whether the page can go on: it is known who is signed in, and the page is theirs. */
export async function checkSession(): Promise<boolean> {
  if (session.get().state !== 'signedIn') return false;
  try {
    await reloadMe();
  } catch (error) {
    endSessionOn401(error);
    return false;
  }
  return session.get().state === 'signedIn';
}

onOtherSession(async () => {
  const before = session.get();
  const isKnown = await checkSession();
  const after = session.get();
  return isKnown && 'me' in before && 'me' in after && actorId(before.me as Me) === actorId(after.me as Me);
});

/** Checks at startup, or after a sign-in in another tab, whether the browser has a session. */
export async function resumeSession(): Promise<Me | undefined> {
  try {
    const me = await readMe();
    enter(me);
    return me;
  } catch (error) {
    const current = session.get();
    if (current.state !== 'unknown') return undefined;
    const is401 = error instanceof ApiError && error.status === 401;
    // Without a cookie no session has ended, so there is nothing to report.
    const isFirstVisit = is401 && !error.isKeyRejected;
    setSession({
      state: 'signedOut',
      ...(!isFirstVisit && { message: (error as Error).message }),
      ...(!is401 && { isFailure: true }),
    });
    return undefined;
  }
}

/** `prepare` is called before the page of the console is shown. */
export async function signIn(input: SessionInput, prepare?: (me: Me) => Promise<void>): Promise<void> {
  await dataOrThrow(api.POST('/v1/session', { body: input }));
  const me = await readMe();
  await prepare?.(me);
  enter(me);
}

export async function signOut(): Promise<void> {
  // Without such a page the response is empty.
  const signedOut = await dataOrThrow(api.DELETE('/v1/session'));
  if (signedOut?.redirect_to) {
    // The identity provider ends its own session and returns to the sign-in page.
    setSession({ state: 'unknown' });
    location.assign(signedOut.redirect_to);
    return;
  }
  history.pushState(null, '', `${basePath}/sign-in?signed_out`);
  setSession({ state: 'signedOut' });
}

/** Whether the key in use could set up the first person who signs in: it has all scopes, in all projects. */
export const canSetUp = ({ type, user_id, project_ids, scopes }: Me) =>
  type === 'key' &&
  user_id === null &&
  project_ids === null &&
  meScopesValues.every((scope) => scopes.includes(scope));

const wayItem = 'muster-sign-in';

/** Whether this browser was last signed in with a key. The sign-in page then offers that first. */
export const isUsedToKeys = () => browserStorage.getItem(wayItem) === 'key';

const rememberWay = ({ type }: Me) => browserStorage.setItem(wayItem, type);

function endSession(message: string): void {
  const current = session.get();
  if (current.state === 'signedIn') setSession({ state: 'signedOut', message, me: current.me });
}

/** A session that has ended leads to a dialog to sign in again, which shows the service's message. */
export function endSessionOn401(error: unknown): void {
  if (!(error instanceof ApiError) || error.status !== 401) return;
  endSession(error.isKeyRejected ? error.message : 'Your session has ended. Sign in again.');
}
