import { type FormEvent, useEffect, useRef, useState } from 'react';
import { basePath } from '../api/client.ts';
import type { Me, SessionInput } from '../api/openapi.ts';
import { isUsedToKeys } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { ErrorNotice } from '../components/error-notice.tsx';
import { Loaded } from '../components/loading.tsx';
import { providerUrl, rememberReturnPath, returnPath } from './return-path.ts';
import { TextField } from './text-field.tsx';
import { useAttempt } from './use-attempt.ts';
import { readPasskey, useSignInWays } from './ways.ts';

type Ways = NonNullable<ReturnType<typeof useSignInWays>['data']>;

type Props = {
  signIn: (input: SessionInput) => Promise<unknown>;
  /** Who had the session that is to be continued. */
  me?: Me | undefined;
  /** Only a person can continue, and has to prove again who they are. */
  isForPerson?: boolean;
  /** The page under the dialog stays, so the identity provider opens in another tab. */
  isInDialog?: boolean;
  /** Shows only the identity provider. */
  isOnlyProvider?: boolean;
};

/** All ways to sign in that the service offers. */
export function SignInWays(props: Props) {
  const query = useSignInWays();
  const { error, isBusy, run } = useAttempt();
  const attempt = (read: () => SessionInput | Promise<SessionInput>) =>
    run(async () => props.signIn(await read()));
  const shared = { ...props, attempt, isBusy };
  return (
    <>
      {error && <ErrorNotice error={error} />}
      <Loaded query={query}>{(ways) => <Ways {...shared} ways={ways} />}</Loaded>
      {/* A key works even if the other ways are unknown. */}
      {query.isError && !props.isForPerson && <KeyForm {...shared} isOpen />}
    </>
  );
}

type Attempt = { attempt: (read: () => SessionInput | Promise<SessionInput>) => void; isBusy: boolean };
type WaysProps = Props & Attempt & { ways: Ways };

function Ways({ ways, attempt, isBusy, me, isForPerson = false, isInDialog = false, ...rest }: WaysProps) {
  const { password, passkey, oidc } = ways;
  const hasOther = password || passkey || oidc !== null;
  const isKeyOpen = !hasOther || (me ? me.type === 'key' : isUsedToKeys() && oidc === null);
  if (rest.isOnlyProvider && oidc)
    return (
      <>
        <ProviderLink oidc={oidc} isInDialog={isInDialog} isFocused />
        <p className="other-way">
          <a href={`${basePath}/sign-in?stay`}>Sign in another way</a>
        </p>
      </>
    );
  return (
    <>
      {oidc && (
        <ProviderLink
          oidc={oidc}
          isInDialog={isInDialog}
          isFocused={!isKeyOpen && !me?.email}
          again={isForPerson}
        />
      )}
      {oidc && (password || passkey) && <p className="or">or</p>}
      {password && (
        <PasswordForm
          attempt={attempt}
          isBusy={isBusy}
          email={me?.email ?? ''}
          isFixed={isForPerson}
          isPrimary={oidc === null}
          isFocused={!isKeyOpen && (oidc === null || Boolean(me?.email))}
        />
      )}
      {passkey && (
        <Button isDisabled={isBusy} onPress={() => attempt(async () => ({ passkey: await readPasskey() }))}>
          Sign in with a passkey
        </Button>
      )}
      {!isForPerson && <KeyForm attempt={attempt} isBusy={isBusy} isOpen={isKeyOpen} />}
    </>
  );
}

type ProviderProps = {
  oidc: NonNullable<Ways['oidc']>;
  isInDialog: boolean;
  isFocused: boolean;
  again?: boolean;
};

function ProviderLink({ oidc, isInDialog, isFocused, again = false }: ProviderProps) {
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (isFocused) link.current?.focus();
  }, [isFocused]);
  if (!isInDialog)
    return (
      <a ref={link} className="button primary" href={providerUrl(returnPath())} onClick={rememberReturnPath}>
        {oidc.label}
      </a>
    );
  return (
    <div className="field">
      <a
        ref={link}
        className="button primary"
        href={providerUrl('/sign-in?done', again)}
        target="_blank"
        rel="noopener"
      >
        {oidc.label}
      </a>
      <p className="hint">Opens a new tab, so that this page stays as it is. Come back here afterwards.</p>
    </div>
  );
}

type PasswordProps = Attempt & { email: string; isFixed: boolean; isPrimary: boolean; isFocused: boolean };

function PasswordForm({ attempt, isBusy, email: known, isFixed, isPrimary, isFocused }: PasswordProps) {
  const [email, setEmail] = useState(known);
  const [password, setPassword] = useState('');
  const send = (event: FormEvent) => {
    event.preventDefault();
    attempt(() => ({ email: email.trim(), password }));
  };
  return (
    <form onSubmit={send}>
      <TextField
        label="Email"
        type="email"
        autoComplete="username"
        readOnly={isFixed}
        autoFocus={isFocused && known === ''}
        value={email}
        onChange={setEmail}
      />
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        autoFocus={isFocused && known !== ''}
        value={password}
        onChange={setPassword}
      />
      <Button type="submit" primary={isPrimary} isPending={isBusy}>
        Sign in
      </Button>
    </form>
  );
}

function KeyForm({ attempt, isBusy, isOpen: isOpenFirst }: Attempt & { isOpen: boolean }) {
  const [isOpen, setOpen] = useState(isOpenFirst);
  const [key, setKey] = useState('');
  const send = (event: FormEvent) => {
    event.preventDefault();
    attempt(() => ({ key: key.trim() }));
  };
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Use an API key</summary>
      {isOpen && (
        <form onSubmit={send}>
          <TextField
            label="API key"
            type="key"
            autoComplete="current-password"
            placeholder="mst_…"
            hint="Signs in with what the key can do, not as a person."
            autoFocus
            value={key}
            onChange={setKey}
          />
          <Button type="submit" isPending={isBusy}>
            Sign in with key
          </Button>
        </form>
      )}
    </details>
  );
}
