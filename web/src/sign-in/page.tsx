import { type FormEvent, useState } from 'react';
import { basePath } from '../api/client.ts';
import { signIn } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { ProblemNotice } from '../components/problem.tsx';

/** Where everyone begins, and where those are led whose key has ended. */
export function SignIn({ sentence }: { sentence: string | undefined }) {
  const [key, setKey] = useState('');
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const send = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    await signIn(key.trim()).catch((problem) => {
      setError(problem);
      setBusy(false);
    });
  };
  return (
    <main className="sign-in">
      <form onSubmit={send}>
        <svg className="mark" viewBox="0 0 16 16" aria-hidden="true">
          <rect width="16" height="16" rx="4" />
          <path d="M4 12V7M8 12V4M12 12V9" />
        </svg>
        <h1>Sign in to Muster</h1>
        {error === undefined && sentence && (
          <p className="notice" role="alert">
            {sentence}
          </p>
        )}
        {error !== undefined && <ProblemNotice error={error} />}
        <div className="field">
          <label htmlFor="key">API key</label>
          <input
            id="key"
            type="password"
            autoComplete="current-password"
            spellCheck={false}
            required
            // biome-ignore lint/a11y/noAutofocus: it is all there is to do on this page
            autoFocus
            placeholder="mst_…"
            aria-describedby="key-hint"
            value={key}
            onChange={({ target }) => setKey(target.value)}
          />
          <p className="hint" id="key-hint">
            It stays in a cookie that no script can read, until you sign out or close the browser.
          </p>
        </div>
        <Button type="submit" primary isDisabled={isBusy}>
          Sign in
        </Button>
        <details>
          <summary>Where do I get a key?</summary>
          <p>
            The first start of the service prints one. Whoever runs it makes others, here under Keys or on the
            command line:
          </p>
          <pre>muster keys create --name me --scopes all</pre>
          <p>
            The <a href={`${basePath}/docs`}>API reference</a> needs no key.
          </p>
        </details>
      </form>
    </main>
  );
}
