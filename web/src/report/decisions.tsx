import type { ReactNode } from 'react';
import type { ReportContent, ReportIssue, ReportRisk } from '../api/openapi.ts';
import { Score, Severity } from '../components/badges.tsx';
import { Card } from '../components/card.tsx';
import { MarkdownLine } from '../components/markdown-text.tsx';
import { formatDay } from '../format.ts';
import { blockedName, type CountedName, countOf, decisionNames } from './decision-names.ts';
import { listHref, type Period } from './queries.ts';
import { ItemGroup, ItemName, MoreLink } from './tables.tsx';

type Check = ReportContent['decisions'][number]['check'];

const details: Partial<Record<Check, (risk: ReportRisk) => string | null>> = {
  acceptance_expiring: ({ accepted_until }) => accepted_until && `Expires ${formatDay(accepted_until)}`,
  review_overdue: ({ review_on }) => review_on && `Due ${formatDay(review_on)}`,
};

export const Decisions = ({ period, content }: { period: Period; content: ReportContent }) => (
  <Card id="decisions" title="Decisions needed">
    <div className="decisions">
      {content.decisions.map(({ check, ...found }) => (
        <Decision
          key={check}
          name={decisionNames[check as keyof typeof decisionNames]}
          {...found}
          href={listHref('/risks', period, { check })}
          list="risks"
          badge={({ score, level, kind }) => <Score score={score} level={level} kind={kind} />}
          details={(risk) => [details[check]?.(risk), check !== 'unowned' && (risk.owner_name ?? 'No owner')]}
        />
      ))}
      <Decision
        name={blockedName}
        {...content.blocked_issues}
        href={listHref('/issues', period, { status: 'blocked' })}
        list="issues"
        badge={({ severity }) => <Severity severity={severity} />}
        reason={({ blocked_reason }) => blocked_reason}
      />
    </div>
  </Card>
);

type Props<Item> = {
  name: CountedName;
  total: number;
  items: readonly Item[];
  href: string;
  list: 'risks' | 'issues';
  badge: (item: Item) => ReactNode;
  details?: (item: Item) => (string | false | null | undefined)[];
  reason?: (item: Item) => string | null;
};

const Decision = <Item extends ReportRisk | ReportIssue>({
  name,
  total,
  items,
  href,
  list,
  badge,
  details = () => [],
  reason = () => null,
}: Props<Item>) => (
  <ItemGroup
    title={countOf(name, total)}
    isCounted
    total={total}
    shown={items.length}
    more={<MoreLink count={total - items.length} href={href} />}
  >
    {items.map((item) => (
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
);
