import { useEffect, useState } from 'react';
import { api, dataOrThrow } from '../api/client.ts';
import { subjectOf } from '../api/event-types.ts';
import { eventTypeValues, type Project, type paths } from '../api/openapi.ts';
import { useRefresh, useRows } from '../api/queries.ts';
import { useHasScope } from '../api/session.ts';
import { restore } from '../bulk/change.ts';
import { nouns } from '../bulk/kinds.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Button } from '../components/button.tsx';
import { ErrorNotice } from '../components/error-notice.tsx';
import { Loading } from '../components/loading.tsx';
import { toast } from '../components/toast.tsx';
import { formatAge, formatTime, pluralize } from '../format.ts';
import { canUndo, type EventGroup, groupEvents, lists, readGroup } from './bulk-events.ts';
import { EventSentence, GroupSentence } from './event-sentence.tsx';

const shownTypes = eventTypeValues.filter((type) => !['access', 'session'].includes(subjectOf(type)));

const itemTypes = eventTypeValues.filter((type) => ['risk', 'issue', 'task'].includes(subjectOf(type)));

/** The latest changes of everything. */
export function Activity({ projects }: { projects: readonly Project[] }) {
  // Only who can read keys gets the events of sign-ins, which have a page of their own.
  const types = useHasScope()('keys.read') ? { types: shownTypes } : {};
  return <Events id="activity" title="Activity" query={types} projects={projects} />;
}

/** The latest changes of a project's risks, issues and tasks. */
export const ItemActivity = ({ project }: { project: Project }) => (
  <Events
    id="item-activity"
    title="Risks, issues and tasks"
    query={{ types: itemTypes, project: [project.id] }}
    projects={[project]}
  />
);

type Query = NonNullable<paths['/v1/events']['get']['parameters']['query']>;
type Props = { id: string; title: string; query: Query; projects: readonly Project[] };

/** Events, newest first. Live updates read them again. */
function Events({ id, title, query, projects }: Props) {
  const hasScope = useHasScope();
  const events = useRows(
    ['activity', query.project],
    (paging) =>
      dataOrThrow(api.GET('/v1/events', { params: { query: { sort: '-sequence', ...query, ...paging } } })),
    { limit: 10, isCounted: false },
  );
  useClock();
  const groups = groupEvents(events.rows);
  return (
    <section className="card activity" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {events.isError && <ErrorNotice error={events.error} retry={() => events.refetch()} />}
      {events.isPending && <Loading />}
      {events.firstPage !== undefined && events.rows.length === 0 && (
        <p className="quiet">No activity yet. Changes appear here as they happen.</p>
      )}
      <ol className="lines">
        {groups.map((group, i) => (
          <li key={group[0].id}>
            <p className="grow">
              {group.length === 1 ? (
                <EventSentence event={group[0]} projects={projects} />
              ) : (
                <GroupSentence group={group} isWhole={i < groups.length - 1 || !events.hasNextPage} />
              )}
            </p>
            {canUndo(group) && hasScope('projects.manage') && <UndoAll group={group} />}
            <time dateTime={group[0].at} title={formatTime(group[0].at)}>
              {formatAge(group[0].at)}
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

/** Undoes a bulk change. Items that were changed since are left, and named. */
function UndoAll({ group }: { group: EventGroup }) {
  const refresh = useRefresh();
  const [{ subject, at }] = group;
  const list = lists[subject.type] ?? 'risks';
  const undo = async () => {
    try {
      const changed = await readGroup(group);
      await restore(list, changed);
      toast(`Undone: ${pluralize(changed.length, nouns[list])}`);
    } finally {
      await refresh();
    }
  };
  return (
    <ActionButton small plain aria-label={`Undo all: ${list}, ${formatTime(at)}`} act={undo}>
      Undo all
    </ActionButton>
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
