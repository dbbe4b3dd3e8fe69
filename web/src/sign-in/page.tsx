import { type FormEvent, useState } from 'react';
import { Dialog, Modal, ModalOverlay } from 'react-aria-components';
import { basePath } from '../api/client.ts';
import { signIn } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { ErrorNotice } from '../components/error-notice.tsx';

type Props = { message: string | undefined };

export const SignIn = (props: Props) => (
  <main className="sign-in">
    <SignInForm {...props} />
  </main>
);

/** Covers the page when the session has ended by itself. Open forms stay as they are. */
export const SignInAgain = (props: Props) => (
  <ModalOverlay className="sign-in again" isOpen isKeyboardDismissDisabled>
    <Modal>
      <Dialog aria-label="Sign in">
        <SignInForm {...props} />
      </Dialog>
    </Modal>
  </ModalOverlay>
);

/** `message` says why a session has ended. */
function SignInForm({ message }: Props) {
  const [key, setKey] = useState('');
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const send = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    await signIn(key.trim()).catch((reason) => {
      setError(reason);
      setBusy(false);
    });
  };
  return (
    <form onSubmit={send}>
      <svg className="mark" viewBox="0 0 16 16" aria-hidden="true">
        <rect width="16" height="16" rx="4" />
        <path d="M4 12V7M8 12V4M12 12V9" />
      </svg>
      <h1>Sign in to Muster</h1>
      {error === undefined && message && (
        <p className="notice" role="alert">
          {message}
        </p>
      )}
      {error !== undefined && <ErrorNotice error={error} />}
      <div className="field">
        <label htmlFor="key">API key</label>
        <input
          id="key"
          type="password"
          autoComplete="current-password"
          spellCheck={false}
          required
          // biome-ignore lint/a11y/noAutofocus: it is the only field of the page
          autoFocus
          placeholder="mst_…"
          aria-describedby="key-hint"
          value={key}
          onChange={({ target }) => setKey(target.value)}
        />
        <p className="hint" id="key-hint">
          Stored in a secure cookie until you sign out or close the browser.
        </p>
      </div>
      <Button type="submit" primary isDisabled={isBusy}>
        Sign in
      </Button>
      <details>
        <summary>Where do I get a key?</summary>
        <p>
          Ask your administrator for a key. Administrators create keys on the Keys page or on the command
          line:
        </p>
        <pre>muster keys create --name me --scopes all</pre>
        <p>
          The <a href={`${basePath}/docs`}>API reference</a> doesn't need a key.
        </p>
      </details>
    </form>
  );
}
