import { ApiError } from '../api/client.ts';
import { useMe } from '../api/session.ts';
import { createStore } from '../api/store.ts';
import { lazy } from '../components/lazy.tsx';

const ConfirmSignIn = lazy(() => import('../sign-in/again.tsx'), 'ConfirmSignIn');

type Question = { confirm: () => void; cancel: () => void };

const question = createStore<Question | undefined>(undefined);

/**
 * Runs an action that needs a recent sign-in. If the last one was too long ago, a dialog asks for another one, and the
 * action runs again.
 */
export async function withRecentSignIn<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'sign_in_again') throw error;
    await new Promise<void>((confirm, reject) => {
      question.set({ confirm, cancel: () => reject(error) });
    }).finally(() => question.set(undefined));
    return act();
  }
}

/** The dialog of `withRecentSignIn`. */
export function RecentSignIn() {
  const asked = question.use();
  const me = useMe();
  return asked && <ConfirmSignIn me={me} onConfirmed={asked.confirm} onCancel={asked.cancel} />;
}
