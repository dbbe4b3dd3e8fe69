import type { ReactNode } from 'react';
import type { IssueList, RankedRisk, RiskSummary } from '../api/openapi.ts';
import { Score } from '../components/badges.tsx';
import { Card } from '../components/card.tsx';
import { Loaded } from '../components/loading.tsx';
import { formatChange, formatDay, formatNumber, humanize } from '../format.ts';
import { type Period, useComparison, useRaisedIssues, useResolvedIssues, useRiskChanges } from './queries.ts';
import { ItemName } from './tables.tsx';

const maxShown = 8;

/** The counts of two days side by side. */
export function Comparison({ period }: { period: Period }) {
  const query = useComparison(period);
  return (
    <Card id="comparison" title="Risk register">
      <Loaded query={query}>
        {({ then, now }) => (
          <table className="report-table counts">
            <thead>
              <tr>
                <th scope="col">Active risks</th>
                <th scope="col">{formatDay(period.since)}</th>
                <th scope="col">Today</th>
                <th scope="col">Change</th>
              </tr>
            </thead>
            <tbody>
              {now.by_level.map(({ level, count }, index) => (
                <CountRow
                  key={level}
                  name={humanize(level)}
                  then={then.by_level[index]?.count ?? 0}
                  now={count}
                />
              ))}
              <CountRow name="Not assessed" then={then.unassessed} now={now.unassessed} />
              <CountRow name="Total" then={then.total} now={now.total} />
            </tbody>
          </table>
        )}
      </Loaded>
    </Card>
  );
}

export const criticalIn = ({ by_level }: RiskSummary) =>
  by_level.find(({ level }) => level === 'critical')?.count ?? 0;

const CountRow = ({ name, then, now }: { name: string; then: number; now: number }) => (
  <tr>
    <th scope="row">{name}</th>
    <td>{formatNumber(then)}</td>
    <td>{formatNumber(now)}</td>
    <td>{now === then ? '–' : formatChange(now - then)}</td>
  </tr>
);

/** What has happened since the day of the comparison. */
export function Changes({ period }: { period: Period }) {
  const risks = useRiskChanges(period);
  const raised = useRaisedIssues(period, maxShown);
  const resolved = useResolvedIssues(period, maxShown);
  return (
    <Card id="changes" title={`Changes since ${formatDay(period.since)}`}>
      <div className="changes">
        <Loaded query={risks}>
          {({ added, up, down, occurred, closed, isComplete }) => (
            <>
              <RiskList title="New risks" risks={added} />
              <RiskList title="Score increased" risks={up} />
              <RiskList title="Score decreased" risks={down} />
              <RiskList title="Occurred" risks={occurred} />
              <RiskList title="Closed risks" risks={closed} />
              {!isComplete && (
                <p className="notice">
                  So many risks have changed that some are left out. Choose a later day or fewer projects.
                </p>
              )}
            </>
          )}
        </Loaded>
        <Loaded query={raised}>{(list) => <Issues title="New issues" list={list} />}</Loaded>
        <Loaded query={resolved}>
          {(list) => (
            <Issues
              title="Resolved or closed issues"
              note="Includes earlier ones that were edited since."
              list={list}
            />
          )}
        </Loaded>
      </div>
    </Card>
  );
}

type GroupProps = { title: string; note?: string; total: number; shown: number; children: ReactNode };

const Group = ({ title, note, total, shown, children }: GroupProps) => (
  <section>
    <h3>
      {title} <span className="quiet">{formatNumber(total)}</span>
    </h3>
    {total === 0 ? <p className="quiet">None</p> : <ul>{children}</ul>}
    {total > shown && <p className="quiet">and {formatNumber(total - shown)} more</p>}
    {note && total > 0 && <p className="hint">{note}</p>}
  </section>
);

const RiskList = ({ title, risks }: { title: string; risks: readonly RankedRisk[] }) => (
  <Group title={title} total={risks.length} shown={maxShown}>
    {risks.slice(0, maxShown).map((risk) => (
      <li key={risk.id}>
        <ScoreChange risk={risk} /> <ItemName list="risks" item={risk} />
      </li>
    ))}
  </Group>
);

/** The old and the new score, where both are known. */
const ScoreChange = ({ risk: { score, level, movement } }: { risk: RankedRisk }) => {
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
      <Score score={score} level={level} />
    </span>
  );
};

const Issues = ({ title, note, list }: { title: string; note?: string; list: IssueList }) => (
  <Group
    title={title}
    {...(note && { note })}
    total={list.page.total ?? list.data.length}
    shown={list.data.length}
  >
    {list.data.map((issue) => (
      <li key={issue.id}>
        <ItemName list="issues" item={issue} />
      </li>
    ))}
  </Group>
);
