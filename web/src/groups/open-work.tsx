import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, dataOrThrow } from '../api/client.ts';
import type { Group } from '../api/openapi.ts';
import { Status } from '../components/badges.tsx';
import { Card } from '../components/card.tsx';
import { Loaded } from '../components/loading.tsx';
import { pluralize } from '../format.ts';

const maxShown = 5;

/** The active risks and open issues that a group owns, and how many there are with those of its subgroups and members. */
export function OpenWork({ group: { id } }: { group: Group }) {
  const work = useQuery({
    queryKey: ['group-work', id],
    queryFn: async () => {
      const own = { params: { query: { owner_group_id: [id], limit: maxShown, count: true } } };
      const all = {
        params: { query: { owner_group_id: [id], transitive: true, limit: 1, count: true } },
      };
      const [risks, issues, allRisks, allIssues] = await Promise.all([
        dataOrThrow(api.GET('/v1/risks', own)),
        dataOrThrow(api.GET('/v1/issues', own)),
        dataOrThrow(api.GET('/v1/risks', all)),
        dataOrThrow(api.GET('/v1/issues', all)),
      ]);
      return { risks, issues, allRisks: allRisks.page.total ?? 0, allIssues: allIssues.page.total ?? 0 };
    },
  });
  return (
    <Card id="open-work" title="Open work">
      <Loaded query={work}>
        {({ risks, issues, allRisks, allIssues }) => (
          <>
            <p>
              <Link href={`/risks?owner_group_id=${id}`}>
                {pluralize(risks.page.total ?? 0, 'owned risk')}
              </Link>
              ,{' '}
              <Link href={`/issues?owner_group_id=${id}`}>
                {pluralize(issues.page.total ?? 0, 'owned issue')}
              </Link>
            </p>
            <ul className="lines narrow">
              {[
                ...risks.data.map((risk) => ({ ...risk, path: `/risks/${risk.key}` })),
                ...issues.data.map((issue) => ({ ...issue, path: `/issues/${issue.key}` })),
              ].map(({ id: item, key, title, status, path }) => (
                <li key={item}>
                  <span className="key">{key}</span>
                  <Link className="grow" href={path}>
                    <bdi>{title}</bdi>
                  </Link>
                  <Status status={status} />
                </li>
              ))}
            </ul>
            <p className="quiet">
              With subgroups and members:{' '}
              <Link href={`/risks?owner_group_id=${id}&transitive=true`}>{pluralize(allRisks, 'risk')}</Link>,{' '}
              <Link href={`/issues?owner_group_id=${id}&transitive=true`}>
                {pluralize(allIssues, 'issue')}
              </Link>
            </p>
          </>
        )}
      </Loaded>
    </Card>
  );
}
