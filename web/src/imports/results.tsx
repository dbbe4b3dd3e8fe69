import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, useState } from 'react';
import type { ImportResult } from '../api/openapi.ts';
import { Button } from '../components/button.tsx';
import { saveFile } from '../components/export.tsx';
import { Toggle } from '../components/filters.tsx';
import { Spacer } from '../components/table.tsx';
import { formatNumber, pluralize } from '../format.ts';
import { csvOf, type Edits } from './corrected-file.ts';
import { canEdit, RowEditor, RowErrorText } from './row-editor.tsx';
import { columnOf, detailOf } from './row-errors.ts';
import { RowValues } from './row-values.tsx';
import type { ImportReport } from './run-import.ts';
import { isLine } from './summary.tsx';
import type { ImportTarget } from './targets.ts';

const statuses = {
  failed: { plural: 'Errors', singular: 'Error', className: 'level-critical' },
  skipped: { plural: 'Skipped', singular: 'Skipped', className: 'level-medium' },
  created: { plural: 'New', singular: 'New', className: 'level-low' },
  updated: { plural: 'Updated', singular: 'Updated', className: 'status-active' },
  unchanged: { plural: 'Unchanged', singular: 'Unchanged', className: '' },
} as const;

/** A failed row that the user has changed and that is not checked yet. */
const edited = { singular: 'Edited', className: 'level-medium' };

type Status = ImportResult['status'];
type Filter = Status | 'all';

type Props = {
  report: ImportReport;
  target: ImportTarget;
  /** The rows can be corrected before an import, not after it. */
  edits?: Edits;
  onEdit?: (line: number, column: string, text: string) => void;
};

/** The result of each row. Rows with errors are shown first. */
export function Results({ report, target, edits, onEdit }: Props) {
  const { summary } = report;
  const results = useMemo(() => withSkippedLines(report), [report]);
  const countOf = (status: Status) =>
    status === 'skipped' ? results.filter((one) => one.status === status).length : summary[status];
  const [selected, setSelected] = useState<Filter>();
  const present = (Object.keys(statuses) as Status[]).filter((status) => countOf(status) > 0);
  const preferred = selected ?? (summary.failed > 0 ? 'failed' : 'all');
  const filter = preferred === 'all' || present.includes(preferred) ? preferred : 'all';
  const rows = filter === 'all' ? results : results.filter(({ status }) => status === filter);
  const readOnly = results.filter((result) => result.status === 'failed' && !canEdit(result)).length;
  const filters: [Filter, string, number][] = [
    ['all', 'All', results.length],
    ...present.map((status): [Filter, string, number] => [status, statuses[status].plural, countOf(status)]),
  ];
  return (
    <div className="import-results">
      <div className="button-row">
        {filters.map(([status, name, count]) => (
          <Toggle key={status} isOn={status === filter} onPress={() => setSelected(status)}>
            {name} {formatNumber(count)}
          </Toggle>
        ))}
        {summary.failed > 0 && (
          <Button plain small icon="export" onPress={() => downloadFailed(results, target)}>
            Download error report
          </Button>
        )}
      </div>
      {onEdit && summary.failed > 0 && (
        <p className="hint">
          Correct the rows here and check again, or download the error report.
          {readOnly > 0 && ` ${pluralize(readOnly, 'row')} can only be corrected in the file.`}
        </p>
      )}
      <Rows key={filter} rows={rows} report={report} target={target} edits={edits} onEdit={onEdit} />
    </div>
  );
}

/** The rows, and between them the lines that are no rows: titles, totals, lines above the header. */
function withSkippedLines({ results, summary }: ImportReport): ImportResult[] {
  const lines = summary.skipped_cells.filter(isLine).map(
    ({ line, reason }): ImportResult => ({
      line,
      status: 'skipped',
      warnings: [{ code: 'skipped', detail: reason }],
    }),
  );
  return lines.length === 0 ? results : [...lines, ...results].toSorted((a, b) => a.line - b.line);
}

/** A virtualized table. An error can take several lines, so the row heights are measured. */
function Rows({ rows, report, target, edits, onEdit }: Props & { rows: readonly ImportResult[] }) {
  const box = useRef<HTMLElement>(null);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => 57,
    overscan: 8,
  });
  const items = virtualizer.getVirtualItems();
  const above = items[0]?.start ?? 0;
  const below = virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be focusable
    <section ref={box} className="import-rows" aria-label="Rows" tabIndex={0}>
      <table aria-label="Rows of the file" aria-rowcount={rows.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col">Line</th>
            <th scope="col">Result</th>
            <th scope="col">Details</th>
          </tr>
        </thead>
        <tbody>
          {above > 0 && <Spacer height={above} />}
          {items.map(({ index }) => {
            const result = rows[index] as ImportResult;
            const { line, status, errors = [], warnings = [] } = result;
            const rowEdits = edits?.get(line);
            const { singular, className } = rowEdits ? edited : statuses[status];
            return (
              <tr key={line} ref={virtualizer.measureElement} data-index={index} aria-rowindex={index + 2}>
                <td>{formatNumber(line)}</td>
                <td>
                  <span className={`chip ${className}`}>{singular}</span>
                </td>
                <td>
                  {onEdit && canEdit(result) ? (
                    <RowEditor
                      result={result}
                      summary={report.summary}
                      target={target}
                      edits={rowEdits}
                      onEdit={(column, text) => onEdit(line, column, text)}
                    />
                  ) : (
                    <>
                      <RowValues
                        result={result}
                        summary={report.summary}
                        target={target}
                        isLinked={onEdit === undefined}
                      />
                      {[...errors, ...warnings].map((error) => (
                        <RowErrorText key={error.detail} error={error} target={target} />
                      ))}
                    </>
                  )}
                </td>
              </tr>
            );
          })}
          {below > 0 && <Spacer height={below} />}
        </tbody>
      </table>
    </section>
  );
}

/** A CSV file of the failed rows and their errors, to fix and import again. */
function downloadFailed(results: readonly ImportResult[], target: ImportTarget): void {
  const failed = results.filter(({ status }) => status === 'failed');
  const names = [...new Set(failed.flatMap(({ data = {} }) => Object.keys(data)))].filter(
    (name) => name !== errorColumn,
  );
  const rows = failed.map(({ data = {}, errors = [] }) => [
    ...names.map((name) => data[name] ?? ''),
    errors.map((error) => `${columnOf(error, target) ?? 'Row'}: ${detailOf(error, target)}`).join(' '),
  ]);
  const csv = csvOf([[...names, errorColumn], ...rows]);
  saveFile(new Blob([csv], { type: 'text/csv' }), `${target.plural}-errors.csv`);
}

/** An import ignores this column. */
const errorColumn = 'Import errors';
