import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Issue, RankedRisk } from '../api/openapi.ts';
import { Movement, Score, Severity, Status } from '../components/badges.tsx';
import { formatDay, formatNumber } from '../format.ts';

/** Risks with the change of their score since a day. */
export const RiskTable = ({ risks, since }: { risks: readonly RankedRisk[]; since: string }) => (
  <table className="report-table">
    <thead>
      <tr>
        <th scope="col">Score</th>
        <th scope="col">Change</th>
        <th scope="col" className="wide">
          Risk
        </th>
        <th scope="col" className="from-tablet">
          Status
        </th>
        <th scope="col" className="from-tablet">
          Owner
        </th>
        <th scope="col" className="from-tablet">
          Due
        </th>
      </tr>
    </thead>
    <tbody>
      {risks.map((risk) => (
        <tr key={risk.id}>
          <td>
            <Score score={risk.score} level={risk.level} />
          </td>
          <td>
            <Movement risk={risk} since={since} />
          </td>
          <td>
            <ItemName list="risks" item={risk} />
          </td>
          <td className="from-tablet">
            <Status status={risk.status} />
          </td>
          <td className="from-tablet">
            <Person name={risk.owner_name} none="No owner" />
          </td>
          <td className="from-tablet day">{risk.due_on && formatDay(risk.due_on)}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

export const IssueTable = ({ issues }: { issues: readonly Issue[] }) => (
  <table className="report-table">
    <thead>
      <tr>
        <th scope="col">Severity</th>
        <th scope="col" className="wide">
          Issue
        </th>
        <th scope="col" className="from-tablet">
          Status
        </th>
        <th scope="col" className="from-tablet">
          Assignee
        </th>
        <th scope="col">Due</th>
      </tr>
    </thead>
    <tbody>
      {issues.map((issue) => (
        <tr key={issue.id}>
          <td>
            <Severity severity={issue.severity} />
          </td>
          <td>
            <ItemName list="issues" item={issue} />
          </td>
          <td className="from-tablet">
            <Status status={issue.status} />
          </td>
          <td className="from-tablet">
            <Person name={issue.assignee_name} none="Unassigned" />
          </td>
          <td className="day">
            {issue.due_on && (
              <span className={issue.overdue ? 'overdue' : undefined}>{formatDay(issue.due_on)}</span>
            )}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

type ItemProps = { list: 'risks' | 'issues'; item: Pick<RankedRisk, 'key' | 'title'> };

export const ItemName = ({ list, item: { key, title } }: ItemProps) => (
  <>
    <Link href={`/${list}/${key}`}>
      <bdi>{title}</bdi>
    </Link>{' '}
    <span className="key">{key}</span>
  </>
);

const Person = ({ name, none }: { name: string | null; none: string }) =>
  name ? <bdi>{name}</bdi> : <span className="quiet">{none}</span>;

/** Says how many rows are left out, with a link to all of them. */
export const More = ({ total, shown, href }: { total: number; shown: number; href: string }): ReactNode =>
  total > shown && (
    <p className="more">
      <Link href={href}>{formatNumber(total - shown)} more</Link>
    </p>
  );
