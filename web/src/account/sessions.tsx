import { useQuery } from '@tanstack/react-query';
import { api, dataOrThrow } from '../api/client.ts';
import type { Session } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { signOut } from '../api/session.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Card } from '../components/card.tsx';
import { Confirm, DialogButton } from '../components/dialog.tsx';
import { Loaded } from '../components/loading.tsx';
import { toast } from '../components/toast.tsx';
import { formatAge, formatTime, pluralize } from '../format.ts';
import { signOutOrReport } from '../layout/sign-out.ts';
import { withRecentSignIn } from './recent-sign-in.tsx';

const wayNames: Readonly<Record<Session['way'], string>> = {
  password: 'Password',
  passkey: 'Passkey',
  oidc: 'Identity provider',
  invitation: 'Invitation',
  link: 'Sign-in link',
  key: 'API key',
};

const endAll = async () => {
  await withRecentSignIn(() => dataOrThrow(api.DELETE('/v1/sessions')));
  await signOut();
};

const end = (id: string) =>
  withRecentSignIn(() => dataOrThrow(api.DELETE('/v1/sessions/{id}', { params: { path: { id } } })));

/** The browsers in which the person is signed in. */
export function Sessions() {
  const query = useQuery({
    queryKey: ['account', 'sessions'],
    queryFn: async () => (await dataOrThrow(api.GET('/v1/sessions'))).data,
  });
  return (
    <Card id="sessions" title="Sessions">
      <Loaded query={query}>{(sessions) => <SessionList sessions={sessions} />}</Loaded>
    </Card>
  );
}

function SessionList({ sessions }: { sessions: readonly Session[] }) {
  const refresh = useRefresh();
  const others = sessions.filter(({ is_current }) => !is_current);
  const ordered = [...sessions].sort(
    (a, b) => Number(b.is_current) - Number(a.is_current) || b.last_seen_at.localeCompare(a.last_seen_at),
  );
  const endOthers = async () => {
    for (const { id } of others) await end(id);
    await refresh();
    toast(`Signed out ${pluralize(others.length, 'other session')}`);
  };
  return (
    <>
      <ul className="account-list">
        {ordered.map((session) => (
          <SessionRow key={session.id} session={session} />
        ))}
      </ul>
      <div className="button-row">
        {others.length > 0 && (
          <DialogButton
            dialog={(onClose) => (
              <Confirm
                title="Sign out all other sessions?"
                action="Sign out"
                danger
                act={endOthers}
                onClose={onClose}
              >
                <p>Every browser but this one has to sign in again.</p>
              </Confirm>
            )}
          >
            Sign out all other sessions
          </DialogButton>
        )}
        <DialogButton
          dialog={(onClose) => (
            <Confirm
              title="Sign out everywhere?"
              action="Sign out everywhere"
              danger
              act={endAll}
              onClose={onClose}
            >
              <p>Every browser, this one included, has to sign in again, and none is recognized any more.</p>
            </Confirm>
          )}
        >
          Sign out everywhere
        </DialogButton>
      </div>
    </>
  );
}

function SessionRow({ session }: { session: Session }) {
  const { id, browser, address, way, last_seen_at, created_at, is_current } = session;
  const refresh = useRefresh();
  const endOne = async () => {
    await end(id);
    await refresh();
    toast(`Signed out ${browser}`);
  };
  return (
    <li>
      <div>
        <span>
          <bdi>{browser}</bdi> {is_current && <span className="chip">This session</span>}
        </span>
        <span className="secondary" title={`Signed in ${formatTime(created_at)}`}>
          {wayNames[way]} · {address} · {is_current ? 'active now' : `last seen ${formatAge(last_seen_at)}`}
        </span>
      </div>
      {is_current ? (
        <ActionButton small aria-label={`Sign out ${browser}, this session`} act={signOutOrReport}>
          Sign out
        </ActionButton>
      ) : (
        <ActionButton small aria-label={`Sign out ${browser} at ${address}`} act={endOne}>
          Sign out
        </ActionButton>
      )}
    </li>
  );
}
