import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, dataOrThrow } from '../api/client.ts';
import { Loaded } from '../components/loading.tsx';
import { daysFromToday, formatChange, formatNumber } from '../format.ts';
import { Trend } from './trend.tsx';

export const useRiskTrend = () =>
  useQuery({
    queryKey: ['risks', 'trend'],
    queryFn: () =>
      dataOrThrow(
        api.GET('/v1/risks/trend', { params: { query: { from: daysFromToday(-91), interval: 'week' } } }),
      ),
  });

/** The total risk score over time. */
export function Exposure() {
  const query = useRiskTrend();
  const points = query.data?.data ?? [];
  const [before, now] = [points.at(-5)?.sum, points.at(-1)?.sum];
  return (
    <section className="card exposure" aria-labelledby="exposure">
      <header>
        <h2 id="exposure">Total risk score {now !== undefined && formatNumber(now)}</h2>
        <span className="quiet">
          {now !== undefined && before !== undefined && `${formatChange(now - before)} in 4 weeks · `}
          last 13 weeks
        </span>
      </header>
      <Loaded query={query}>{({ data }) => <Trend points={data} />}</Loaded>
    </section>
  );
}

/** The number of risks and how it has changed. */
export function RiskTiles() {
  const { data: trend } = useRiskTrend();
  const now = trend?.data.at(-1);
  const before = trend?.data.at(-5);
  return (
    <ul className="tiles risk-tiles" aria-label="Risks">
      {riskTiles.map(({ label, field, href }) => (
        <li key={field}>
          <Link href={href}>
            <strong>{now ? formatNumber(now[field]) : '–'}</strong>
            <span>{label}</span>
            <span className="change">
              {now && before ? `${formatChange(now[field] - before[field])} in 4 weeks` : '\u00a0'}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

const riskTiles = [
  { label: 'Critical risks', field: 'critical', href: '/risks?level=critical' },
  { label: 'High risks', field: 'high', href: '/risks?level=high' },
  { label: 'Active risks', field: 'count', href: '/risks' },
  { label: 'Not assessed', field: 'unassessed', href: '/risks?assessed=false' },
] as const;
