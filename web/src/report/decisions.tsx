import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Issue, RankedRisk } from '../api/openapi.ts';
import { Score, Severity } from '../components/badges.tsx';
import { Card } from '../components/card.tsx';
import { Loaded } from '../components/loading.tsx';
import { MarkdownLine } from '../components/markdown-text.tsx';
import { formatDay } from '../format.ts';
import { blockedName, type CountedName, countOf, decisionNames } from './decision-names.ts';
import { listHref, type Period, useReportIssues, useReportRisks } from './queries.ts';
import { ItemGroup, ItemName, MoreLink } from './tables.tsx';

const maxShown = 5;

type RiskDecision = {
  check: keyof typeof decisionNames;
  detail?: (risk: RankedRisk) => string | null;
};

const decisions: readonly RiskDecision[] = [
  {
    check: 'acceptance_expiring',
    detail: ({ accepted_until }) => accepted_until && `Expires ${formatDay(accepted_until)}`,
  },
  { check: 'unowned' },
  { check: 'owner_inactive' },
  { check: 'no_response_plan' },
  { check: 'review_overdue', detail: ({ review_on }) => review_on && `Due ${formatDay(review_on)}` },
];

export const Decisions = ({ period }: { period: Period }) => (
  <Card id="decisions" title="Decisions needed">
    <div className="decisions">
      {decisions.map((decision) => (
        <RisksToDecide key={decision.check} period={period} decision={decision} />
      ))}
      <BlockedIssues period={period} />
    </div>
  </Card>
);

function RisksToDecide({ period, decision }: { period: Period; decision: RiskDecision }) {
  const { check, detail } = decision;
  return (
    <Decision
      name={decisionNames[check]}
      query={useReportRisks(period, { check: [check], limit: maxShown, count: true })}
      href={listHref('/risks', period, { check })}
      list="risks"
      badge={({ score, level, kind }) => <Score score={score} level={level} kind={kind} />}
      details={(risk) => [detail?.(risk), check !== 'unowned' && (risk.owner_name ?? 'No owner')]}
    />
  );
}

const BlockedIssues = ({ period }: { period: Period }) => (
  <Decision
    name={blockedName}
    query={useReportIssues(period, { status: ['blocked'], limit: maxShown, count: true })}
    href={listHref('/issues', period, { status: 'blocked' })}
    list="issues"
    badge={({ severity }) => <Severity severity={severity} />}
    reason={({ blocked_reason }) => blocked_reason}
  />
);

type Props<Item> = {
  name: CountedName;
  query: UseQueryResult<{ data: Item[]; page: { total: number | null } }>;
  href: string;
  list: 'risks' | 'issues';
  badge: (item: Item) => ReactNode;
  details?: (item: Item) => (string | false | null | undefined)[];
  reason?: (item: Item) => string | null;
};

const Decision = <Item extends RankedRisk | Issue>({
  name,
  query,
  href,
  list,
  badge,
  details = () => [],
  reason = () => null,
}: Props<Item>) => (
  <Loaded query={query}>
    {({ data, page: { total } }) => (
      <ItemGroup
        title={countOf(name, total ?? data.length)}
        isCounted
        total={total ?? data.length}
        shown={data.length}
        more={<MoreLink count={(total ?? 0) - data.length} href={href} />}
      >
        {data.map((item) => (
          <li key={item.id}>
            {badge(item)} <ItemName list={list} item={item} />{' '}
            <span className="quiet" dir="auto">
              {details(item)
                .filter(Boolean)
                .map((part) => `· ${part}`)
                .join(' ')}
              {reason(item) && (
                <>
                  · <MarkdownLine text={reason(item) ?? ''} />
                </>
              )}
            </span>
          </li>
        ))}
      </ItemGroup>
    )}
  </Loaded>
);
