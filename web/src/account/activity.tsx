import { useQuery } from '@tanstack/react-query';
import { api, dataOrThrow } from '../api/client.ts';
import type { AccountEvent } from '../api/openapi.ts';
import { useMe } from '../api/session.ts';
import { ByActor } from '../components/actor.tsx';
import { Card } from '../components/card.tsx';
import { Loaded } from '../components/loading.tsx';
import { formatAge, formatTime } from '../format.ts';

const titles: Readonly<Record<AccountEvent['type'], string>> = {
  'session.started': 'New session',
  'access.created': 'Access given',
  'access.updated': 'Access changed',
  'access.deleted': 'Access removed',
  'access.invited': 'Link to reset your sign-in created',
  'access.password_set': 'New password',
  'access.password_removed': 'Password removed',
  'access.passkey_added': 'New passkey',
  'access.passkey_removed': 'Passkey removed',
};

const maxShown = 10;

/** What happened to the account, so that its owner notices what somebody else did. */
export function AccountActivity() {
  const query = useQuery({
    queryKey: ['account', 'activity'],
    queryFn: async () =>
      (await dataOrThrow(api.GET('/v1/me/activity', { params: { query: { limit: maxShown } } }))).data,
  });
  return (
    <Card id="activity" title="Recent activity">
      <p>Was this not you? Choose a new password, then sign out everywhere.</p>
      <Loaded query={query}>
        {(events) =>
          events.length === 0 ? (
            <p className="quiet">Nothing in the last 30 days</p>
          ) : (
            <ul className="account-list">
              {events.map((event) => (
                <Entry key={event.id} event={event} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  );
}

function Entry({ event: { type, at, actor, browser, address } }: { event: AccountEvent }) {
  const isOwn = actor.user_id === useMe().user_id && actor.key_id === null;
  return (
    <li>
      <div>
        <span>{titles[type]}</span>
        <span className="secondary">
          <time dateTime={at} title={formatTime(at)}>
            {formatAge(at)}
          </time>
          {browser && ` · ${browser} · ${address}`}
          {!isOwn && (
            <>
              {' · '}
              <ByActor actor={actor} />
            </>
          )}
        </span>
      </div>
    </li>
  );
}
