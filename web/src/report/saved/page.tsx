import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { api, dataOrThrow } from '../../api/client.ts';
import type { FullReport } from '../../api/openapi.ts';
import { useHasScope } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { DeleteButton } from '../../components/delete-button.tsx';
import { Loaded } from '../../components/loading.tsx';
import { formatDay } from '../../format.ts';
import { Title } from '../../layout/title.tsx';
import { SinceReport } from './comparison.tsx';
import { ReportDocument } from './document.tsx';
import { useReport, useReports } from './queries.ts';
import '../report.css';

/** A report as it was saved, which can be compared with an earlier one. */
export function SavedReportPage() {
  const { id = '' } = useParams<{ id: string }>();
  return <Loaded query={useReport(id)}>{(report) => <SavedReport key={report.id} report={report} />}</Loaded>;
}

function SavedReport({ report }: { report: FullReport }) {
  const { data: reports = [] } = useReports();
  const earlier = reports.filter(({ id }) => id < report.id);
  const [chosen, setChosen] = useState<string>();
  const compared = chosen ?? earlier[0]?.id ?? '';
  const canDelete = useHasScope()('projects.manage');
  return (
    <div className="report">
      <Title
        title={report.title}
        breadcrumbs={<Link href="/report">Steering report</Link>}
        summary={
          <p className="quiet">
            {report.audience && (
              <>
                For <bdi>{report.audience}</bdi> ·{' '}
              </>
            )}
            {formatDay(report.day)} · Changes since {formatDay(report.since)} · By{' '}
            <bdi>{report.author_name}</bdi>
          </p>
        }
      >
        {canDelete && (
          <DeleteButton
            name={report.title}
            list="/report"
            remove={() =>
              dataOrThrow(api.DELETE('/v1/reports/{id}', { params: { path: { id: report.id } } }))
            }
          >
            This can't be undone.
          </DeleteButton>
        )}
        <Button icon="print" onPress={() => print()}>
          Print or save as PDF
        </Button>
      </Title>
      {earlier.length > 0 && (
        <p className="compared-report no-print">
          <label>
            Compare with{' '}
            <select value={compared} onChange={({ target: { value } }) => setChosen(value)}>
              {earlier.map(({ id, title, day }) => (
                <option key={id} value={id}>
                  {formatDay(day)}: {title}
                </option>
              ))}
              <option value="">No report</option>
            </select>
          </label>
        </p>
      )}
      <ReportDocument
        report={report}
        comparison={compared !== '' && <SinceReport report={report} earlier={compared} />}
      />
    </div>
  );
}
