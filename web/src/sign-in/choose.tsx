import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { ApiError } from '../api/client.ts';
import { Button } from '../components/button.tsx';
import { ErrorNotice } from '../components/error-notice.tsx';
import { errorsByField } from '../components/error-text.ts';
import { Loaded } from '../components/loading.tsx';
import { TextField } from './text-field.tsx';
import { useAttempt } from './use-attempt.ts';
import { useSignInWays } from './ways.ts';

type Props = {
  /** What the person signs in with, for password managers. */
  email: string;
  /** Set when the fields above need correction, by field. */
  checkFields?: () => ReadonlyMap<string, string>;
  setFieldErrors?: (errors: ReadonlyMap<string, string>) => void;
  action: string;
  choosePassword: (password: string) => Promise<unknown>;
  choosePasskey: () => Promise<unknown>;
  /** Fields above the password. */
  children?: ReactNode;
};

/** The form in which a person chooses how to sign in from now on. */
export function ChooseWay(props: Props) {
  const query = useSignInWays();
  return <Loaded query={query}>{(ways) => <ChooseForm {...props} ways={ways} />}</Loaded>;
}

type FormProps = Props & { ways: { password: boolean; passkey: boolean } };

function ChooseForm({ ways, email, action, children, ...props }: FormProps) {
  const { choosePassword, choosePasskey, checkFields, setFieldErrors } = props;
  const [password, setPassword] = useState('');
  const [missing, setMissing] = useState<string>();
  const { error, isBusy, run } = useAttempt();
  const form = useRef<HTMLFormElement>(null);
  const errors = errorsByField(error, []);
  const passwordError = missing ?? errors.get('password');
  useEffect(() => {
    setFieldErrors?.(errorsByField(error, []));
    if (error) form.current?.querySelector<HTMLElement>('.field:has(> .field-error) input')?.focus();
  }, [error, setFieldErrors]);
  if (!ways.password && !ways.passkey)
    return (
      <p className="notice bad" role="alert">
        Passwords are turned off here, and passkeys don't work at this address. Ask your administrator.
      </p>
    );

  /** Checks what the browser would report in its own words. */
  const start = (act: () => Promise<unknown>, needsPassword: boolean) => {
    const found = checkFields?.() ?? new Map();
    setFieldErrors?.(found);
    const blank = needsPassword && password === '' ? 'Password is required.' : undefined;
    setMissing(blank);
    if (found.size === 0 && blank === undefined) return void run(act);
    setTimeout(() => form.current?.querySelector<HTMLElement>('.field:has(> .field-error) input')?.focus());
  };
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (ways.password) start(() => choosePassword(password), true);
    else start(choosePasskey, false);
  };
  const isPlaced = error instanceof ApiError && errors.size > 0 && [...errors.keys()].every(isShown);
  return (
    <form ref={form} noValidate onSubmit={send}>
      {error && !isPlaced && <ErrorNotice error={error} />}
      {children}
      {ways.password && (
        <>
          <input hidden readOnly autoComplete="username" value={email} />
          <TextField
            label="Password"
            type="password"
            autoComplete="new-password"
            hint="At least 15 characters. A sentence is easy to remember."
            autoFocus={!children}
            error={passwordError}
            value={password}
            onChange={(value) => {
              setPassword(value);
              setMissing(undefined);
            }}
          />
        </>
      )}
      <Button type="submit" primary isPending={isBusy}>
        {ways.password ? action : 'Create passkey'}
      </Button>
      {ways.password && ways.passkey && (
        <>
          <p className="or">or</p>
          <Button isDisabled={isBusy} onPress={() => start(choosePasskey, false)}>
            Use a passkey instead
          </Button>
        </>
      )}
    </form>
  );
}

const isShown = (name: string) => ['name', 'email', 'password'].includes(name);
