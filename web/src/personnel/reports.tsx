import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, dataOrThrow } from '../api/client.ts';
import type { Person } from '../api/openapi.ts';
import { Card } from '../components/card.tsx';
import { formatNumber, pluralize } from '../format.ts';

const maxShown = 10;

/** The active people whom a person manages. */
export function Reports({ person: { user_id } }: { person: Person }) {
  const { data } = useQuery({
    queryKey: ['personnel', user_id, 'reports'],
    queryFn: () =>
      dataOrThrow(
        api.GET('/v1/personnel', {
          params: {
            query: { manager_user_id: user_id, status: ['active' as const], limit: maxShown, count: true },
          },
        }),
      ),
  });
  const total = data?.page.total ?? 0;
  if (!data || total === 0) return null;
  return (
    <Card
      id="reports"
      title={
        <>
          Direct reports <span className="quiet">{formatNumber(total)}</span>
        </>
      }
    >
      <ul className="lines">
        {data.data.map((one) => (
          <li key={one.user_id}>
            <Link className="grow" href={`/personnel/${one.user_id}`}>
              <bdi>{one.name}</bdi>
            </Link>
            <span className="quiet">{one.title}</span>
          </li>
        ))}
      </ul>
      {total > maxShown && (
        <Link className="view-all" href={`/personnel?manager_user_id=${user_id}&status=active`}>
          View {pluralize(total, 'report')}
        </Link>
      )}
    </Card>
  );
}
