import { useState } from 'react';
import type { IssueList, RankedRisk } from '../api/openapi.ts';
import { Score } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { Card } from '../components/card.tsx';
import { Loaded } from '../components/loading.tsx';
import { daysLater, endOf, formatChange, formatDay, formatNumber } from '../format.ts';
import {
  listHref,
  type Period,
  useRaisedIssues,
  useResolvedIssues,
  useRiskChanges,
  useUnlistedChange,
} from './queries.ts';
import { ItemGroup, ItemName, MoreLink } from './tables.tsx';

const maxShown = 8;

/** What has happened since the day of the comparison. */
export function Changes({ period }: { period: Period }) {
  const risks = useRiskChanges(period);
  const unlisted = useUnlistedChange(period);
  return (
    <Card id="changes" title={`Changes since ${formatDay(period.since)}`}>
      <div className="changes">
        <Loaded query={risks}>
          {({ added, reopened, up, down, occurred, closed, isComplete }) => (
            <>
              <RiskList title="New risks" risks={added} />
              <RiskList title="Reopened risks" risks={reopened} />
              <RiskList title="Score increased" risks={up} />
              <RiskList title="Score decreased" risks={down} />
              <RiskList title="Occurred" risks={occurred} />
              <RiskList title="Closed risks" risks={closed} />
              {unlisted !== 0 && (
                <p className="quiet">
                  Deleted risks and risks of projects that were archived or unarchived are not listed. They
                  changed the number of active risks by {formatChange(unlisted)}.
                </p>
              )}
              {!isComplete && (
                <p className="notice">
                  So many risks have changed that some are left out. Choose a later day or fewer projects.
                </p>
              )}
            </>
          )}
        </Loaded>
        {!period.asOf && <IssueChanges period={period} />}
      </div>
    </Card>
  );
}

function IssueChanges({ period }: { period: Period }) {
  const raised = useRaisedIssues(period, maxShown);
  const resolved = useResolvedIssues(period, maxShown);
  return (
    <>
      <Loaded query={raised}>
        {(list) => (
          <Issues
            title="New issues"
            list={list}
            href={listHref('/issues', period, { status: 'all', raised_since: daysLater(period.since, 1) })}
          />
        )}
      </Loaded>
      <Loaded query={resolved}>
        {(list) => (
          <Issues
            title="Resolved or closed issues"
            list={list}
            href={listHref('/issues', period, { resolved_since: endOf(period.since) })}
          />
        )}
      </Loaded>
    </>
  );
}

function RiskList({ title, risks }: { title: string; risks: readonly RankedRisk[] }) {
  const [isExpanded, setExpanded] = useState(false);
  const shown = isExpanded ? risks : risks.slice(0, maxShown);
  return (
    <ItemGroup
      title={title}
      total={risks.length}
      shown={shown.length}
      more={
        <>
          <Button small plain onPress={() => setExpanded(true)}>
            Show all {formatNumber(risks.length)}
          </Button>
          <p className="print-only">and {formatNumber(risks.length - shown.length)} more</p>
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
const ScoreChange = ({ risk: { score, level, kind, movement } }: { risk: RankedRisk }) => {
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
export const Why = ({ risk: { movement } }: { risk: Pick<RankedRisk, 'movement'> }) =>
  movement?.reason && (
    <q className="quiet" dir="auto">
      {movement.reason}
    </q>
  );

const Issues = ({ title, list, href }: { title: string; list: IssueList; href: string }) => (
  <ItemGroup
    title={title}
    total={list.page.total ?? list.data.length}
    shown={list.data.length}
    more={<MoreLink count={(list.page.total ?? 0) - list.data.length} href={href} />}
  >
    {list.data.map((issue) => (
      <li key={issue.id}>
        <ItemName list="issues" item={issue} />
      </li>
    ))}
  </ItemGroup>
);
