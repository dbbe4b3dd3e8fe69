import { useState } from 'react';
import { Link } from 'wouter';
import { answerOf, api } from '../api/client.ts';
import type { Assignment, Person } from '../api/openapi.ts';
import { useRows } from '../api/queries.ts';
import { Status } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { Loading } from '../components/loading.tsx';
import { ProblemNotice } from '../components/problem.tsx';
import { day, number, today, words } from '../format.ts';

const types = ['risk', 'issue', 'task', 'project'] as const;

/** What a person has on their hands across projects, due soonest first. */
export function Carries({ person: { user_id } }: { person: Person }) {
  const [type, setType] = useState<Assignment['type']>();
  const carried = useRows(
    ['carries', user_id, type],
    (paging) =>
      answerOf(
        api.GET('/v1/personnel/{user_id}/assignments', {
          params: { path: { user_id }, query: { ...paging, ...(type && { type: [type] }) } },
        }),
      ),
    { limit: 25 },
  );
  return (
    <section className="card" aria-labelledby="carries">
      <header>
        <h2 id="carries">
          Carries {carried.total !== null && <span className="quiet">{number(carried.total)}</span>}
        </h2>
        <div className="moves">
          {types.map((one) => (
            <button
              key={one}
              type="button"
              className={one === type ? 'filter set' : 'filter'}
              aria-pressed={one === type}
              onClick={() => setType(one === type ? undefined : one)}
            >
              {words(one)}s
            </button>
          ))}
        </div>
      </header>
      {carried.isError && <ProblemNotice error={carried.error} retry={() => carried.refetch()} />}
      {carried.isPending && <Loading />}
      {carried.first && carried.rows.length === 0 && <p className="quiet">Nothing that is open.</p>}
      <ul className="lines">
        {carried.rows.map((one) => (
          <Duty key={`${one.id} ${one.role}`} duty={one} />
        ))}
      </ul>
      {carried.hasNextPage && (
        <Button small plain isDisabled={carried.isFetchingNextPage} onPress={() => carried.fetchNextPage()}>
          Show more
        </Button>
      )}
    </section>
  );
}

const pages = { risk: '/risks', issue: '/issues', project: '/projects' } as const;

function Duty({ duty: { type, role, key, title, status, due_on } }: { duty: Assignment }) {
  const name = <bdi>{title}</bdi>;
  const isLate = due_on !== null && due_on < today();
  return (
    <li>
      <span className="key">{key}</span>
      {type === 'task' ? (
        <span className="grow">{name}</span>
      ) : (
        <Link className="grow" href={`${pages[type]}/${key}`}>
          {name}
        </Link>
      )}
      <span className="quiet">{words(role)}</span>
      {due_on && <span className={isLate ? 'late' : 'quiet'}>{day(due_on)}</span>}
      <Status status={status} />
    </li>
  );
}
