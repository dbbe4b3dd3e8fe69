import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { ReportContent, ReportIssue, ReportRisk } from '../api/openapi.ts';
import { DueDay, Movement, Score, Severity, Status } from '../components/badges.tsx';
import { Card } from '../components/card.tsx';
import { formatNumber } from '../format.ts';
import { listHref, type Period } from './queries.ts';

export type ReportColumn<Row> = {
  header: string;
  cell: (row: Row) => ReactNode;
  /** `wide` and `fill` take the remaining space, `from-tablet` is not on a phone. */
  className?: string;
};

type TableProps<Row> = {
  columns: readonly ReportColumn<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  /** Whether the cells are numbers, and the first one names its row. */
  isCounts?: boolean;
};

export const ReportTable = <Row,>({ columns, rows, rowKey, isCounts = false }: TableProps<Row>) => (
  <table className={isCounts ? 'report-table counts' : 'report-table'}>
    <thead>
      <tr>
        {columns.map(({ header, className }) => (
          <th key={header} scope="col" className={className}>
            {header}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map((row) => (
        <tr key={rowKey(row)}>
          {columns.map(({ header, cell, className }, index) =>
            isCounts && index === 0 ? (
              <th key={header} scope="row" className={className}>
                {cell(row)}
              </th>
            ) : (
              <td key={header} className={className}>
                {cell(row)}
              </td>
            ),
          )}
        </tr>
      ))}
    </tbody>
  </table>
);

const riskColumns = (since: string): ReportColumn<ReportRisk>[] => [
  { header: 'Score', cell: ({ score, level, kind }) => <Score {...{ score, level, kind }} /> },
  { header: 'Change', cell: (risk) => <Movement risk={risk} since={since} /> },
  { header: 'Risk', className: 'wide', cell: (risk) => <ItemName list="risks" item={risk} /> },
  { header: 'Status', className: 'from-tablet', cell: ({ status }) => <Status status={status} /> },
  {
    header: 'Owner',
    className: 'from-tablet',
    cell: ({ owner_name }) => <Person name={owner_name} none="No owner" />,
  },
  {
    header: 'Due',
    className: 'from-tablet day',
    cell: ({ due_on, checks }) =>
      due_on && <DueDay day={due_on} isOverdue={checks.includes('due_overdue')} />,
  },
];

const issueColumns: readonly ReportColumn<ReportIssue>[] = [
  { header: 'Severity', cell: ({ severity }) => <Severity severity={severity} /> },
  { header: 'Issue', className: 'wide', cell: (issue) => <ItemName list="issues" item={issue} /> },
  { header: 'Status', className: 'from-tablet', cell: ({ status }) => <Status status={status} /> },
  {
    header: 'Assignee',
    className: 'from-tablet',
    cell: ({ assignee_name }) => <Person name={assignee_name} none="Unassigned" />,
  },
  {
    header: 'Due',
    className: 'day',
    cell: ({ due_on, overdue }) => due_on && <DueDay day={due_on} isOverdue={overdue} />,
  },
];

type RiskProps = { period: Period; risks: readonly ReportRisk[] };

/** The opportunities of the highest rank, if there are any. */
export function TopOpportunities({ period, risks }: RiskProps) {
  if (risks.length === 0) return null;
  const columns = riskColumns(period.since).map((column) =>
    column.header === 'Risk' ? { ...column, header: 'Opportunity' } : column,
  );
  return (
    <Card id="opportunities" title="Top opportunities">
      <ReportTable columns={columns} rows={risks} rowKey={({ id }) => id} />
      <p className="more no-print">
        <Link href={listHref('/risks', period, { kind: 'opportunity' })}>View all opportunities</Link>
      </p>
    </Card>
  );
}

/** The risks of the highest rank, with the change of their scores. */
export const TopRisks = ({ period, risks }: RiskProps) =>
  risks.length === 0 ? (
    <p className="quiet">No active risks</p>
  ) : (
    <ReportTable columns={riskColumns(period.since)} rows={risks} rowKey={({ id }) => id} />
  );

type IssueProps = ReportContent['overdue_issues'] & { period: Period };

export const OverdueIssues = ({ period, total, items }: IssueProps) => (
  <>
    {total === 0 ? (
      <p className="quiet">No overdue issues</p>
    ) : (
      <ReportTable columns={issueColumns} rows={items} rowKey={({ id }) => id} />
    )}
    <More total={total} shown={items.length} href={listHref('/issues', period, { overdue: 'true' })} />
  </>
);

type ItemProps = { list: 'risks' | 'issues' | 'tasks'; item: Pick<ReportRisk, 'key' | 'title'> };

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

type GroupProps = {
  title: string;
  total: number;
  /** Whether the title has the number. */
  isCounted?: boolean;
  shown: number;
  /** Leads to those that are left out. */
  more: ReactNode;
  /** An entry of the list for each item. */
  children: ReactNode;
};

/** The first few items of a kind. */
export const ItemGroup = ({ title, total, isCounted = false, shown, more, children }: GroupProps) => (
  <section>
    <h3>
      {title} {!isCounted && <span className="quiet">{formatNumber(total)}</span>}
    </h3>
    {total > 0 && <ul>{children}</ul>}
    {total === 0 && !isCounted && <p className="quiet">None</p>}
    {total > shown && <div className="more">{more}</div>}
  </section>
);

type MoreProps = { total: number; shown: number; href: string };

/** Says how many rows are left out, with a link to all of them. */
export const More = ({ total, shown, href }: MoreProps): ReactNode =>
  total > shown && (
    <p className="more">
      <MoreLink count={total - shown} href={href} />
    </p>
  );

export const MoreLink = ({ count, href }: { count: number; href: string }) => (
  <Link href={href}>{formatNumber(count)} more</Link>
);
