import { useEffect, useState } from 'react';
import { api, dataOrThrow } from '../api/client.ts';
import { subjectOf } from '../api/event-types.ts';
import { eventTypeValues, type Project } from '../api/openapi.ts';
import { useRows } from '../api/queries.ts';
import { useHasScope } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { ErrorNotice } from '../components/error-notice.tsx';
import { Loading } from '../components/loading.tsx';
import { formatAge, formatTime } from '../format.ts';
import { EventSentence } from './event-sentence.tsx';

const shownTypes = eventTypeValues.filter((type) => !['access', 'session'].includes(subjectOf(type)));

/** The latest changes, newest first. Live updates read them again. */
export function Activity({ projects }: { projects: readonly Project[] }) {
  const hasScope = useHasScope();
  // Only who can read keys gets the events of sign-ins, which have a page of their own.
  const types = hasScope('keys.read') ? { types: shownTypes } : {};
  const events = useRows(
    ['activity'],
    (paging) =>
      dataOrThrow(api.GET('/v1/events', { params: { query: { sort: '-sequence', ...types, ...paging } } })),
    { limit: 10, isCounted: false },
  );
  useClock();
  return (
    <section className="card activity" aria-labelledby="activity">
      <h2 id="activity">Activity</h2>
      {events.isError && <ErrorNotice error={events.error} retry={() => events.refetch()} />}
      {events.isPending && <Loading />}
      {events.firstPage !== undefined && events.rows.length === 0 && (
        <p className="quiet">No activity yet. Changes appear here as they happen.</p>
      )}
      <ol className="lines">
        {events.rows.map((event) => (
          <li key={event.id}>
            <p className="grow">
              <EventSentence event={event} projects={projects} />
            </p>
            <time dateTime={event.at} title={formatTime(event.at)}>
              {formatAge(event.at)}
            </time>
          </li>
        ))}
      </ol>
      {events.hasNextPage && (
        <Button small plain isPending={events.isFetchingNextPage} onPress={() => events.fetchNextPage()}>
          Show more
        </Button>
      )}
    </section>
  );
}

/** Renders again every minute, so that relative times stay true. */
function useClock(): void {
  const [, setMinutes] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setMinutes((minutes) => minutes + 1), 60_000);
    return () => clearInterval(timer);
  }, []);
}
