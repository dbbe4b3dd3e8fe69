import { useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { api, dataOrThrow } from '../api/client.ts';
import type { Assignment, Person } from '../api/openapi.ts';
import { useRows } from '../api/queries.ts';
import { DueDay, Status } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { ErrorNotice } from '../components/error-notice.tsx';
import { Toggle } from '../components/filters.tsx';
import { Loading } from '../components/loading.tsx';
import { formatNumber, humanize, today } from '../format.ts';

const types = ['risk', 'issue', 'task', 'project'] as const;

/** The open work of a person across projects, earliest due date first. */
export function Assignments({ person: { user_id } }: { person: Person }) {
  const [type, setType] = useState<Assignment['type']>();
  const assignments = useRows(
    ['assignments', user_id, type],
    (paging) =>
      dataOrThrow(
        api.GET('/v1/personnel/{user_id}/assignments', {
          params: { path: { user_id }, query: { ...paging, ...(type && { type: [type] }) } },
        }),
      ),
    { limit: 25 },
  );
  const { firstPage, rows, total, hasNextPage, isFetchingNextPage } = assignments;
  const list = useRef<HTMLUListElement>(null);
  /** The first row of the page that is being loaded. It gets the focus, because the button can go. */
  const firstNewRow = useRef<number>(undefined);
  const showMore = () => {
    firstNewRow.current = rows.length;
    void assignments.fetchNextPage();
  };
  useEffect(() => {
    if (firstNewRow.current === undefined || rows.length <= firstNewRow.current) return;
    list.current?.querySelectorAll('a')[firstNewRow.current]?.focus();
    firstNewRow.current = undefined;
  }, [rows.length]);
  return (
    <section className="card" aria-labelledby="assignments">
      <header>
        <h2 id="assignments">
          Assigned work {total !== null && <span className="quiet">{formatNumber(total)}</span>}
        </h2>
        <div className="button-row">
          {types.map((one) => (
            <Toggle key={one} isOn={one === type} onPress={() => setType(one === type ? undefined : one)}>
              {humanize(one)}s
            </Toggle>
          ))}
        </div>
      </header>
      {assignments.isError && <ErrorNotice error={assignments.error} retry={() => assignments.refetch()} />}
      {assignments.isPending && <Loading />}
      {firstPage && rows.length === 0 && <p className="quiet">No open work</p>}
      <ul className="lines aligned" ref={list}>
        {rows.map((one) => (
          <AssignmentLine key={`${one.id} ${one.role}`} assignment={one} />
        ))}
      </ul>
      {hasNextPage && (
        <Button small plain isPending={isFetchingNextPage} onPress={showMore}>
          Show more
        </Button>
      )}
    </section>
  );
}

function AssignmentLine({ assignment }: { assignment: Assignment }) {
  const { type, role, key, title, status, due_on } = assignment;
  const isOverdue = due_on !== null && due_on < today();
  return (
    <li>
      <span className="key">{key}</span>
      <Link className="grow" href={`/${type}s/${key}`}>
        <bdi>{title}</bdi>
      </Link>
      <span className="quiet">{humanize(role)}</span>
      {/* Without a date too, so that the statuses stand below each other. */}
      <span className="quiet">{due_on && <DueDay day={due_on} isOverdue={isOverdue} />}</span>
      <Status status={status} />
    </li>
  );
}
