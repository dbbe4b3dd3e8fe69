import { type ReactNode, useState } from 'react';
import type { ReportContent, ReportIssue, ReportRisk } from '../api/openapi.ts';
import { Score } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { Card } from '../components/card.tsx';
import { daysLater, endOf, formatChange, formatDay, formatNumber } from '../format.ts';
import { listHref, type Period, type Registers, type RiskChanges, unlistedChange } from './queries.ts';
import { ItemGroup, ItemName, MoreLink } from './tables.tsx';

const maxShown = 8;

type Props = {
  period: Period;
  register: Registers;
  changes: RiskChanges;
  isComplete?: boolean;
  children?: ReactNode;
};

/** What has happened since the day of the comparison. */
export function Changes({ period, register, changes, isComplete = true, children }: Props) {
  const unlisted = isComplete ? unlistedChange(register, changes) : 0;
  return (
    <Card id="changes" title={`Changes since ${formatDay(period.since)}`}>
      <div className="changes">
        <RiskList title="New risks" {...changes.added} />
        <RiskList title="Reopened risks" {...changes.reopened} />
        <RiskList title="Score increased" {...changes.up} />
        <RiskList title="Score decreased" {...changes.down} />
        <RiskList title="Occurred" {...changes.occurred} />
        <RiskList title="Closed risks" {...changes.closed} />
        {unlisted !== 0 && (
          <p className="quiet">
            Deleted risks and risks of projects that were archived or unarchived are not listed. They changed
            the number of active risks by {formatChange(unlisted)}.
          </p>
        )}
        {!isComplete && (
          <p className="notice">
            So many risks have changed that some are left out. Choose a later day or fewer projects.
          </p>
        )}
        {children}
      </div>
    </Card>
  );
}

type IssueProps = { period: Period; changes: ReportContent['changes'] };

export const IssueChanges = ({ period, changes }: IssueProps) => (
  <>
    <Issues
      title="New issues"
      {...changes.raised_issues}
      href={listHref('/issues', period, { status: 'all', raised_since: daysLater(period.since, 1) })}
    />
    <Issues
      title="Resolved or closed issues"
      {...changes.resolved_issues}
      href={listHref('/issues', period, { resolved_since: endOf(period.since) })}
    />
  </>
);

type ListProps<Item> = { title: string; total: number; items: readonly Item[] };

function RiskList({ title, total, items }: ListProps<ReportRisk>) {
  const [isExpanded, setExpanded] = useState(false);
  const shown = isExpanded ? items : items.slice(0, maxShown);
  const isWhole = shown.length === items.length;
  return (
    <ItemGroup
      title={title}
      total={total}
      shown={shown.length}
      more={
        <>
          {!isWhole && (
            <Button small plain onPress={() => setExpanded(true)}>
              Show {items.length === total ? 'all' : 'first'} {formatNumber(items.length)}
            </Button>
          )}
          <p className={isWhole ? undefined : 'print-only'}>and {formatNumber(total - shown.length)} more</p>
        </>
      }
    >
      {shown.map((risk) => (
        <li key={risk.id}>
          <ScoreChange risk={risk} /> <ItemName list="risks" item={risk} /> <Why risk={risk} />
        </li>
      ))}
    </ItemGroup>
  );
}

/** The old and the new score, where both are known. */
const ScoreChange = ({ risk: { score, level, kind, movement } }: { risk: ReportRisk }) => {
  const before = movement?.score_then ?? null;
  return (
    <span className="score-change">
      {before !== null && score !== null && before !== score && (
        <>
          {before}
          <span className="visually-hidden"> to </span>
          <span aria-hidden="true"> → </span>
        </>
      )}
      <Score score={score} level={level} kind={kind} />
    </span>
  );
};

/** The reason that was given for the change of the score. */
export const Why = ({ risk: { movement } }: { risk: Pick<ReportRisk, 'movement'> }) =>
  movement?.reason && (
    <q className="quiet" dir="auto">
      {movement.reason}
    </q>
  );

const Issues = ({ title, total, items, href }: ListProps<ReportIssue> & { href: string }) => (
  <ItemGroup
    title={title}
    total={total}
    shown={items.length}
    more={<MoreLink count={total - items.length} href={href} />}
  >
    {items.map((issue) => (
      <li key={issue.id}>
        <ItemName list="issues" item={issue} />
      </li>
    ))}
  </ItemGroup>
);
