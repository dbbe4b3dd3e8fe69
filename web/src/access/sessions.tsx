import { api } from '../api/client.ts';
import type { Session } from '../api/openapi.ts';
import { useWrite } from '../api/queries.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Card } from '../components/card.tsx';
import { Loaded } from '../components/loading.tsx';
import { toast } from '../components/toast.tsx';
import { formatTime } from '../format.ts';
import { useSessions } from './queries.ts';
import { describeWay } from './words.ts';

/** The browsers in which a person is signed in. */
export const Sessions = ({ user_id }: { user_id: string }) => (
  <Card id="sessions" title="Sessions">
    <SessionList of={{ user_id }} />
  </Card>
);

/** The browsers that signed in as a person, or with a key. */
export function SessionList({ of }: { of: Parameters<typeof useSessions>[0] }) {
  const query = useSessions(of);
  return (
    <Loaded query={query}>
      {(sessions) =>
        sessions.length === 0 ? (
          <p className="quiet">Not signed in anywhere</p>
        ) : (
          <ul className="lines sessions">
            {sessions.map((session) => (
              <SessionLine key={session.id} session={session} />
            ))}
          </ul>
        )
      }
    </Loaded>
  );
}

function SessionLine({ session }: { session: Session }) {
  const write = useWrite();
  const { id, browser, address, way, created_at, last_seen_at, is_current } = session;
  const end = async () => {
    await write(api.DELETE('/v1/sessions/{id}', { params: { path: { id } } }));
    toast('Signed out');
  };
  return (
    <li>
      <div className="grow">
        <p>
          {browser}
          {is_current && <span className="chip">This browser</span>}
        </p>
        <p className="quiet">
          {address} · {describeWay(way)} · since {formatTime(created_at)} · last seen{' '}
          {formatTime(last_seen_at)}
        </p>
      </div>
      {!is_current && (
        <ActionButton small aria-label={`Sign out ${browser}, ${address}`} act={end}>
          Sign out
        </ActionButton>
      )}
    </li>
  );
}
