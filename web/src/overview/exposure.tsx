import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, dataOrThrow } from '../api/client.ts';
import type { paths } from '../api/openapi.ts';
import { Loaded } from '../components/loading.tsx';
import { daysFromToday, formatChange, formatNumber } from '../format.ts';
import { type Period, usePeriod } from '../period/period.ts';
import { levelLabel, useRiskModel } from '../risks/model.ts';
import { Trend } from './trend.tsx';

type Query = NonNullable<paths['/v1/risks/trend']['get']['parameters']['query']>;

/** Of threats: the score of an opportunity is no exposure. */
const useTrend = (query: Query) =>
  useQuery({
    queryKey: ['risks', 'trend', query],
    queryFn: () =>
      dataOrThrow(api.GET('/v1/risks/trend', { params: { query: { ...query, kind: ['threat'] } } })),
  });

const useWeeks = () => useTrend({ from: daysFromToday(-91), interval: 'week' });

/** The register today and on the day of comparison, which is no day of the weekly trend. */
export function useRiskChange() {
  const { since } = usePeriod();
  const { data: weeks } = useWeeks();
  const { data: days } = useTrend({ from: since, to: since, interval: 'day' });
  return { now: weeks?.data.at(-1), before: days?.data[0] };
}

/** `+3 in 30 days`. */
const inPeriod = (change: number, { within }: Period) =>
  `${change === 0 ? 'No change' : formatChange(change)} ${within}`;

/** The total risk score over time. */
export function Exposure() {
  const query = useWeeks();
  const period = usePeriod();
  const { now, before } = useRiskChange();
  return (
    <section className="card exposure" aria-labelledby="exposure">
      <header>
        <h2 id="exposure">Total risk score {now && formatNumber(now.sum)}</h2>
        <span className="quiet">
          {now && before && `${inPeriod(now.sum - before.sum, period)} · `}
          last 13 weeks
        </span>
      </header>
      <Loaded query={query}>{({ data }) => <Trend points={data} />}</Loaded>
    </section>
  );
}

/** The number of risks and how it has changed, and the opportunities beside them. */
export function RiskTiles({ opportunities }: { opportunities: number }) {
  const { now, before } = useRiskChange();
  const period = usePeriod();
  const { data: model } = useRiskModel();
  return (
    <ul className="tiles risk-tiles" aria-label="Risks">
      {riskTiles.map(({ field, href, label, adjective }) => (
        <li key={field}>
          <Link href={href}>
            <strong>{now ? formatNumber(now[field]) : '–'}</strong>
            <span>
              {label ?? `${adjective ?? levelLabel(model, field)} ${now?.[field] === 1 ? 'risk' : 'risks'}`}
            </span>
            <span className="change">
              {now && before ? inPeriod(now[field] - before[field], period) : '\u00a0'}
            </span>
          </Link>
        </li>
      ))}
      <li>
        <Link href="/risks?kind=opportunity" className="opportunity-tile">
          <strong>{formatNumber(opportunities)}</strong>
          <span>Opportunities</span>
          <span className="change">Not in the other numbers</span>
        </Link>
      </li>
    </ul>
  );
}

type Tile = { field: 'critical' | 'high' | 'count' | 'unassessed'; href: string } & (
  | { label: string; adjective?: never }
  | { label?: never; adjective?: string }
);

const riskTiles: readonly Tile[] = [
  { field: 'critical', href: '/risks?kind=threat&level=critical' },
  { field: 'high', href: '/risks?kind=threat&level=high' },
  { adjective: 'Active', field: 'count', href: '/risks?kind=threat' },
  { label: 'Not assessed', field: 'unassessed', href: '/risks?kind=threat&assessed=false' },
];
