import { Link } from 'wouter';
import type { FullReport } from '../../api/openapi.ts';
import { Health, Score } from '../../components/badges.tsx';
import { Card } from '../../components/card.tsx';
import { Loaded } from '../../components/loading.tsx';
import { formatDay, formatNumber, humanize } from '../../format.ts';
import { ItemGroup, ItemName } from '../tables.tsx';
import { compareReports, isWhole } from './compare.ts';
import { useReport } from './queries.ts';

const maxShown = 8;

/** What has changed since an earlier report. */
export function SinceReport({ report, earlier }: { report: FullReport; earlier: string }) {
  return (
    <Loaded query={useReport(earlier)}>
      {(before) => (
        <Card id="since-report" title={`Since the report of ${formatDay(before.day)}`}>
          <Differences before={before} after={report} />
        </Card>
      )}
    </Loaded>
  );
}

function Differences({ before, after }: { before: FullReport; after: FullReport }) {
  const { added, gone, moved, health } = compareReports(before, after);
  return (
    <div className="changes">
      <Group title="New risks" rows={added}>
        {(risk) => (
          <>
            <Score {...risk} kind="threat" /> <ItemName list="risks" item={risk} />
          </>
        )}
      </Group>
      <Group title="Gone from the register" rows={gone}>
        {(risk) => (
          <>
            <Score {...risk} kind="threat" /> <ItemName list="risks" item={risk} />
          </>
        )}
      </Group>
      <Group title="Score changed" rows={moved}>
        {(risk) => (
          <>
            {risk.before ?? 'Not assessed'}
            <span className="visually-hidden"> to </span>
            <span aria-hidden="true"> → </span>
            <Score {...risk} kind="threat" /> <ItemName list="risks" item={risk} />
          </>
        )}
      </Group>
      <Group title="Health changed" rows={health.map((change) => ({ ...change, id: change.project.id }))}>
        {({ project, before: state }) => (
          <>
            <Link href={`/projects/${project.key}`}>
              <bdi>{project.name}</bdi>
            </Link>{' '}
            {humanize(state)} → <Health state={project.health.state} />
          </>
        )}
      </Group>
      {!(isWhole(before) && isWhole(after)) && (
        <p className="quiet">Only the first 1,000 risks of a report are compared.</p>
      )}
    </div>
  );
}

type GroupProps<Row> = { title: string; rows: readonly Row[]; children: (row: Row) => React.ReactNode };

const Group = <Row extends { id: string }>({ title, rows, children }: GroupProps<Row>) => (
  <ItemGroup
    title={title}
    total={rows.length}
    shown={maxShown}
    more={`and ${formatNumber(rows.length - maxShown)} more`}
  >
    {rows.slice(0, maxShown).map((row) => (
      <li key={row.id}>{children(row)}</li>
    ))}
  </ItemGroup>
);
