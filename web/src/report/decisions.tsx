import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Issue, RankedRisk, Risk } from '../api/openapi.ts';
import { Score, Severity } from '../components/badges.tsx';
import { Card } from '../components/card.tsx';
import { Loaded } from '../components/loading.tsx';
import { MarkdownLine } from '../components/markdown-text.tsx';
import { formatDay, pluralize } from '../format.ts';
import { listHref, type Period, useReportIssues, useReportRisks } from './queries.ts';
import { ItemGroup, ItemName, MoreLink } from './tables.tsx';

const maxShown = 5;

type Title = readonly [singular: string, plural: string];

type RiskDecision = {
  check: Risk['checks'][number];
  /** Follows the number of risks. */
  title: Title;
  detail?: (risk: RankedRisk) => string | null;
};

/** What someone has to decide, most urgent first. Each is a check of the API. */
const decisions: readonly RiskDecision[] = [
  {
    check: 'acceptance_expiring',
    title: ['acceptance expires soon', 'acceptances expire soon'],
    detail: ({ accepted_until }) => accepted_until && `Expires ${formatDay(accepted_until)}`,
  },
  { check: 'unowned', title: ['risk needs an owner', 'risks need an owner'] },
  { check: 'owner_inactive', title: ['risk has an inactive owner', 'risks have inactive owners'] },
  { check: 'no_response_plan', title: ['risk needs a response', 'risks need a response'] },
  {
    check: 'review_overdue',
    title: ['risk needs a review', 'risks need a review'],
    detail: ({ review_on }) => review_on && `Due ${formatDay(review_on)}`,
  },
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
  const { check, title, detail } = decision;
  return (
    <Decision
      title={title}
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
    title={['issue is blocked', 'issues are blocked']}
    query={useReportIssues(period, { status: ['blocked'], limit: maxShown, count: true })}
    href={listHref('/issues', period, { status: 'blocked' })}
    list="issues"
    badge={({ severity }) => <Severity severity={severity} />}
    reason={({ blocked_reason }) => blocked_reason}
  />
);

type Props<Item> = {
  title: Title;
  query: UseQueryResult<{ data: Item[]; page: { total: number | null } }>;
  href: string;
  list: 'risks' | 'issues';
  badge: (item: Item) => ReactNode;
  details?: (item: Item) => (string | false | null | undefined)[];
  reason?: (item: Item) => string | null;
};

const Decision = <Item extends RankedRisk | Issue>({
  title,
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
        title={total === 0 ? `No ${title[1]}` : pluralize(total ?? data.length, ...title)}
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
