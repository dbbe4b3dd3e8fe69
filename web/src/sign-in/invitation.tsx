import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError, api, basePath, dataOrThrow } from '../api/client.ts';
import type { InvitationAcceptance } from '../api/openapi.ts';
import { ErrorNotice } from '../components/error-notice.tsx';
import { Loaded } from '../components/loading.tsx';
import { formatTime, pluralize } from '../format.ts';
import { ChooseWay } from './choose.tsx';
import { useLinkToken } from './link-token.ts';
import { Panel } from './panel.tsx';
import { createPasskey } from './ways.ts';

/** A person who was invited chooses how to sign in. */
export function Invitation() {
  const token = useLinkToken();
  if (token !== undefined) return <Checked key={token} token={token} />;
  return (
    <Panel title="Invitation">
      <p>This page needs the whole link of your invitation. Open the link again.</p>
      <p>
        Have you chosen a password or a passkey already? <a href={`${basePath}/sign-in`}>Sign in</a>
      </p>
    </Panel>
  );
}

function Checked({ token }: { token: string }) {
  const [revoke_keys, setRevokeKeys] = useState(false);
  const query = useQuery({
    // The token must not be in a key, which is kept longer than the page.
    queryKey: ['invitation'],
    gcTime: 0,
    meta: { isPublic: true },
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => dataOrThrow(api.POST('/v1/invitations/check', { body: { token } })),
  });
  const name = query.data?.name;
  // Used or expired: trying again does not help.
  const isRefused = query.error instanceof ApiError && query.error.status === 401;
  return (
    <Panel title={name === undefined ? 'Invitation' : `Welcome, ${name}`}>
      {isRefused ? (
        <ErrorNotice error={query.error} />
      ) : (
        <Loaded query={query}>
          {({ email, expires_at, personal_keys }) => (
            <>
              <p>
                Choose how you sign in to Muster from now on.
                {email && (
                  <>
                    {' '}
                    Your email address is <bdi>{email}</bdi>.
                  </>
                )}
              </p>
              <ChooseWay
                email={email ?? ''}
                action="Set password"
                choosePassword={(password) => enterWith({ token, password, revoke_keys })}
                choosePasskey={async () =>
                  enterWith({ token, passkey: await passkeyFor(token), revoke_keys })
                }
              >
                {personal_keys > 0 && (
                  <label className="choice">
                    <input
                      type="checkbox"
                      checked={revoke_keys}
                      onChange={({ target }) => setRevokeKeys(target.checked)}
                    />
                    Revoke my {pluralize(personal_keys, 'personal key')} too: somebody else may have them
                  </label>
                )}
              </ChooseWay>
              <p className="hint">This link works once, until {formatTime(expires_at)}.</p>
            </>
          )}
        </Loaded>
      )}
      {isRefused && (
        <p>
          Have you chosen a password or a passkey already? <a href={`${basePath}/sign-in`}>Sign in</a>
        </p>
      )}
    </Panel>
  );
}

/** Creates a passkey for the person who has an invitation. */
export const passkeyFor = (token: string) =>
  createPasskey(() => dataOrThrow(api.POST('/v1/invitations/passkey', { body: { token } })));

/** Accepts an invitation, which also signs in, and opens a page. */
export async function enterWith(acceptance: InvitationAcceptance, path = '/'): Promise<void> {
  await dataOrThrow(api.POST('/v1/invitations/accept', { body: acceptance }));
  // The browser may have been signed in as somebody else, so nothing loaded before is kept.
  location.replace(basePath + path);
}
