import { Link } from 'wouter';
import { api, dataOrThrow } from '../api/client.ts';
import { type ChangeEvent, type EventType, subjectOf } from '../api/event-types.ts';
import { eventTypeValues } from '../api/openapi.ts';
import { useRows } from '../api/queries.ts';
import { Button } from '../components/button.tsx';
import { Empty } from '../components/empty.tsx';
import { ErrorNotice } from '../components/error-notice.tsx';
import { FilterMenu, NoMatches, useFilters } from '../components/filters.tsx';
import { Loading } from '../components/loading.tsx';
import { formatTime } from '../format.ts';
import { Title } from '../layout/title.tsx';
import { EventSentence } from '../overview/event-sentence.tsx';
import { PersonFilter } from '../personnel/person-filter.tsx';
import '../access/access.css';

/** What an administrator looks for, and the types of its events. */
const kinds: readonly (readonly [kind: string, label: string, includes: (type: EventType) => boolean])[] = [
  ['sign_ins', 'Sign-ins', (type) => type === 'session.started'],
  ['failures', 'Failed sign-ins', (type) => type === 'session.failed'],
  ['ended', 'Ended sessions', (type) => type === 'session.ended'],
  ['access', 'Access and invitations', (type) => subjectOf(type) === 'access'],
  ['keys', 'Keys', (type) => subjectOf(type) === 'key'],
];

const typesOf = (chosen: readonly string[]) =>
  eventTypeValues.filter((type) =>
    kinds.some(([kind, , includes]) => (chosen.length === 0 || chosen.includes(kind)) && includes(type)),
  );

/** Who signed in, and who changed access and keys. */
export function AuditPage() {
  const { filters, bind, clear, isFiltered } = useFilters(['kind', 'person']);
  const { kind = '', person } = filters;
  const types = typesOf(kind.split(',').filter((one) => kinds.some(([known]) => known === one)));
  const events = useRows(
    ['audit', kind, person],
    (paging) =>
      dataOrThrow(
        api.GET('/v1/events', {
          params: { query: { sort: '-sequence', types, ...(person && { person }), ...paging } },
        }),
      ),
    { limit: 50, isCounted: false },
  );
  return (
    <>
      <Title
        title="Audit log"
        breadcrumbs={
          <>
            <Link href="/access">Access</Link> / Audit log
          </>
        }
      />
      <search className="filters">
        <FilterMenu label="Kind" options={kinds.map(([value, label]) => [value, label])} {...bind('kind')} />
        <PersonFilter label="Person" {...bind('person')} />
      </search>
      {events.isError && <ErrorNotice error={events.error} retry={() => events.refetch()} />}
      {events.isPending && <Loading />}
      {events.firstPage !== undefined &&
        events.rows.length === 0 &&
        (isFiltered ? (
          <NoMatches title="No entries match these filters" clear={clear} />
        ) : (
          <Empty title="No entries yet">Sign-ins and changes of access and keys appear here.</Empty>
        ))}
      {events.rows.length > 0 && (
        <ol className="lines audit card" aria-label="Audit log">
          {events.rows.map((event) => (
            <Entry key={event.id} event={event} />
          ))}
        </ol>
      )}
      {events.hasNextPage && (
        <Button isPending={events.isFetchingNextPage} onPress={() => events.fetchNextPage()}>
          Load more
        </Button>
      )}
    </>
  );
}

function Entry({ event }: { event: ChangeEvent }) {
  const { type, data, at } = event;
  const from = [data.browser, data.address].filter(Boolean).join(' · ');
  return (
    <li>
      <div className="grow">
        <p>
          <EventSentence event={event} projects={[]} />
          {type === 'session.failed' && (
            <>
              {' '}
              <span className="chip level-high">Failed</span>
            </>
          )}
        </p>
        {subjectOf(type) === 'session' && from && <p className="quiet">{from}</p>}
      </div>
      <time dateTime={at}>{formatTime(at)}</time>
    </li>
  );
}
