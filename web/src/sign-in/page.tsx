import { useEffect, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { api, basePath, dataOrThrow } from '../api/client.ts';
import type { Me, SessionInput } from '../api/openapi.ts';
import { canSetUp, signIn } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { ErrorNotice } from '../components/error-notice.tsx';
import { forgetLinkToken, useLinkToken } from './link-token.ts';
import { Panel } from './panel.tsx';
import { forgetReturnPath, providerUrl, rememberReturnPath, returnPath } from './return-path.ts';
import { SignInWays } from './sign-in-ways.tsx';
import { useAttempt } from './use-attempt.ts';
import { useSignInWays } from './ways.ts';

type Props = {
  /** Why the last session has ended. */
  message: string | undefined;
  /** Whether it is unknown if the browser has a session. */
  isFailure: boolean;
};

export function SignIn(props: Props) {
  const token = useLinkToken();
  const [params] = useSearchParams();
  const enter = useEnter();
  if (params.has('done')) return <SignedInElsewhere />;
  if (token !== undefined) return <FirstLink token={token} enter={enter} />;
  return <SignInPage {...props} enter={enter} />;
}

type Enter = (input: SessionInput) => Promise<void>;

/** Signs in, and opens the page that was asked for, or the set-up at the first start. */
function useEnter(): Enter {
  const [, navigate] = useLocation();
  const prepare = async (me: Me) => {
    const path = returnPath();
    forgetReturnPath();
    forgetLinkToken();
    const next = (await needsSetUp(me)) ? `/set-up?return_to=${encodeURIComponent(path)}` : path;
    navigate(next, { replace: true });
  };
  return (input) => signIn(input, prepare);
}

/** Whether nobody can sign in as a person yet, and the key can change that. */
async function needsSetUp(me: Me): Promise<boolean> {
  if (!canSetUp(me)) return false;
  const list = await dataOrThrow(api.GET('/v1/access')).catch(() => undefined);
  return list?.data.every(({ ways }) => ways.length === 0) ?? false;
}

function SignInPage({ message, isFailure, enter }: Props & { enter: Enter }) {
  const [params] = useSearchParams();
  const ways = useSignInWays();
  const problem = params.get('problem');
  const isSignedOut = params.has('signed_out');
  const isOnlyProvider = ways.data?.oidc?.redirect === true && !params.has('stay');
  const isLeaving = isOnlyProvider && problem === null && !isSignedOut && !isFailure;
  useEffect(() => {
    if (!isLeaving) return;
    rememberReturnPath();
    location.replace(providerUrl(returnPath()));
  }, [isLeaving]);
  const reason = problem === null ? message : (problems[problem] ?? problems.failed);
  return (
    <Panel title="Sign in to Muster">
      {isLeaving ? (
        <p role="status">Opening {ways.data?.oidc?.label ?? 'the sign-in page'}…</p>
      ) : (
        <>
          {reason && (
            <p className={problem === null ? 'notice' : 'notice bad'} role="alert">
              {reason}
            </p>
          )}
          {isSignedOut && !reason && (
            <p className="notice good" role="status">
              You are signed out.
            </p>
          )}
          <SignInWays signIn={enter} isOnlyProvider={isOnlyProvider} />
          {!isOnlyProvider && <Help />}
        </>
      )}
    </Panel>
  );
}

const askForAccess = 'Ask your administrator to give you access, then sign in again.';

/** What went wrong at the identity provider, by the codes of the service. */
const problems: Readonly<Record<string, string>> = {
  unavailable:
    "The identity provider can't be reached right now. Try again in a few minutes, or sign in another way.",
  expired: 'Signing in took too long, or was finished in another tab. Try again.',
  not_recent:
    'The identity provider did not ask you to sign in again. Sign out there, then try again, or sign in another way.',
  refused: 'The identity provider did not let you in. Try again, or ask your administrator.',
  failed: "Signing in didn't work. Try again. If it happens again, ask your administrator.",
  not_verified:
    'The identity provider has not verified your email address. Verify it there, then sign in again.',
  domain: 'Your email address belongs to a domain that has no access here. Sign in with another account.',
  unknown_person: `Nobody on the roster has your email address. ${askForAccess}`,
  no_access: `You are on the roster, but have no access yet. ${askForAccess}`,
};

const Help = () => (
  <details>
    <summary>Can't sign in?</summary>
    <p>
      Ask your administrator for a link: with it you choose a password or a passkey, the first time and
      whenever you have lost yours. Administrators who can't sign in create a key on the command line:
    </p>
    <pre>muster keys create --name me --scopes all</pre>
    <p>
      The <a href={`${basePath}/docs`}>API reference</a> doesn't need a sign-in.
    </p>
  </details>
);

/** The link that the first start prints. Only a click uses it up, because programs that check links open them too. */
function FirstLink({ token, enter }: { token: string; enter: Enter }) {
  const { error, isBusy, run } = useAttempt();
  const [isOther, setOther] = useState(false);
  if (isOther) return <SignInPage message={undefined} isFailure enter={enter} />;
  return (
    <Panel title="Welcome to Muster">
      {error ? (
        <>
          <ErrorNotice error={error} />
          <p>
            Sign in with the API key that the first start printed, or create one on the command line with{' '}
            <code>muster keys create</code>.
          </p>
          <Button
            primary
            onPress={() => {
              forgetLinkToken();
              setOther(true);
            }}
          >
            Sign in another way
          </Button>
        </>
      ) : (
        <>
          <p>This link signs in this browser. It works once.</p>
          <Button primary autoFocus isPending={isBusy} onPress={() => run(() => enter({ link: token }))}>
            Open Muster
          </Button>
        </>
      )}
    </Panel>
  );
}

/** In the tab that was opened to sign in again at the identity provider. */
export const SignedInElsewhere = () => (
  <Panel title="You are signed in">
    <p>Close this tab and continue in the other one.</p>
  </Panel>
);
