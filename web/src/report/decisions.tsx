import type { RankedRisk, Risk } from '../api/openapi.ts';
import { Score, Severity } from '../components/badges.tsx';
import { Card } from '../components/card.tsx';
import { Loaded } from '../components/loading.tsx';
import { formatDay, formatNumber } from '../format.ts';
import { type Period, useReportIssues, useReportRisks } from './queries.ts';
import { ItemName, More } from './tables.tsx';

const maxShown = 5;

type Decision = {
  check: Risk['checks'][number];
  title: string;
  detail?: (risk: RankedRisk) => string | null;
};

/** What someone has to decide, most urgent first. Each is a check of the API. */
const decisions: readonly Decision[] = [
  {
    check: 'acceptance_expiring',
    title: 'Renew or end the acceptance',
    detail: ({ accepted_until }) => accepted_until && `Expires ${formatDay(accepted_until)}`,
  },
  { check: 'unowned', title: 'Name an owner' },
  { check: 'owner_inactive', title: 'Replace an inactive owner' },
  { check: 'no_response_plan', title: 'Agree on a response' },
  {
    check: 'review_overdue',
    title: 'Review the risk',
    detail: ({ review_on }) => review_on && `Due ${formatDay(review_on)}`,
  },
];

export const Decisions = ({ period }: { period: Period }) => (
  <Card id="decisions" title="Decisions needed">
    <div className="decisions">
      {decisions.map((decision) => (
        <RiskDecision key={decision.check} period={period} decision={decision} />
      ))}
      <BlockedIssues period={period} />
    </div>
  </Card>
);

type Props = { period: Period; decision: Decision };

function RiskDecision({ period, decision: { check, title, detail } }: Props) {
  const query = useReportRisks(period, { check: [check], limit: maxShown, count: true });
  const href = `/risks?${new URLSearchParams({ check, ...(period.project && { project: String(period.project) }) })}`;
  return (
    <Loaded query={query}>
      {({ data, page: { total } }) => (
        <section>
          <h3>
            {title} <span className="quiet">{formatNumber(total ?? data.length)}</span>
          </h3>
          {data.length === 0 && <p className="quiet">None</p>}
          <ul>
            {data.map((risk) => (
              <li key={risk.id}>
                <Score score={risk.score} level={risk.level} /> <ItemName list="risks" item={risk} />{' '}
                <span className="quiet">
                  {[detail?.(risk), check !== 'unowned' && (risk.owner_name ?? 'No owner')]
                    .filter(Boolean)
                    .map((part) => `· ${part}`)
                    .join(' ')}
                </span>
              </li>
            ))}
          </ul>
          <More total={total ?? 0} shown={data.length} href={href} />
        </section>
      )}
    </Loaded>
  );
}

function BlockedIssues({ period }: { period: Period }) {
  const query = useReportIssues(period, { status: ['blocked'], limit: maxShown, count: true });
  const href = `/issues?${new URLSearchParams({ status: 'blocked', ...(period.project && { project: String(period.project) }) })}`;
  return (
    <Loaded query={query}>
      {({ data, page: { total } }) => (
        <section>
          <h3>
            Unblock the issue <span className="quiet">{formatNumber(total ?? data.length)}</span>
          </h3>
          {data.length === 0 && <p className="quiet">None</p>}
          <ul>
            {data.map((issue) => (
              <li key={issue.id}>
                <Severity severity={issue.severity} /> <ItemName list="issues" item={issue} />{' '}
                <span className="quiet" dir="auto">
                  {issue.blocked_reason && `· ${issue.blocked_reason}`}
                </span>
              </li>
            ))}
          </ul>
          <More total={total ?? 0} shown={data.length} href={href} />
        </section>
      )}
    </Loaded>
  );
}
