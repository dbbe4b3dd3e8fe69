import { useCallback } from 'react';
import { ApiError } from '../api/client.ts';
import type { ImportSummary as Summary } from '../api/openapi.ts';
import { Button } from '../components/button.tsx';
import { ErrorNotice } from '../components/error-notice.tsx';
import { formatNumber, pluralize } from '../format.ts';
import type { ImportTarget } from './targets.ts';

type Props = {
  summary: Summary;
  /** For a summary in response to a button that is no longer there. */
  takesFocus?: boolean;
};

/** The counts of an import or of a dry run. */
export function ImportSummary({ summary, takesFocus = false }: Props) {
  const focus = useCallback(
    (element: HTMLElement | null) => void (takesFocus && element?.focus()),
    [takesFocus],
  );
  const { rows, created, updated, unchanged, failed, atomic, dry_run, explanation } = summary;
  const parts = [
    created > 0 && `${formatNumber(created)} new`,
    updated > 0 && `${formatNumber(updated)} updated`,
    unchanged > 0 && `${formatNumber(unchanged)} unchanged`,
    failed > 0 && `${formatNumber(failed)} with errors`,
  ].filter(Boolean);
  const counts = `${pluralize(rows, 'row')}${parts.length > 0 ? `: ${parts.join(', ')}` : ''}.`;
  const attributes = { ref: focus, tabIndex: -1, role: 'status' };
  if (atomic && failed > 0) {
    return (
      <p {...attributes} className="notice bad">
        {counts} {dry_run ? 'Nothing can be imported.' : 'Nothing was imported.'} Fix the errors, or clear
        “Import only if every row is valid” to import the other rows.
      </p>
    );
  }
  return (
    <>
      <p {...attributes} className={failed > 0 ? 'notice' : 'notice good'}>
        {dry_run ? `${counts} Nothing has been imported yet.` : `Import finished. ${counts}`}
        {dry_run && failed > 0 && ' Rows with errors will be skipped.'}
      </p>
      {dry_run && explanation !== '' && <p className="hint">{explanation.replaceAll('`', '')}</p>}
      <SkippedCells summary={summary} />
    </>
  );
}

/** Everything of the file that is not stored. */
function SkippedCells({ summary: { skipped_cells, dry_run } }: { summary: Summary }) {
  if (skipped_cells.length === 0) return null;
  const count = skipped_cells.reduce((sum, { cells }) => sum + cells, 0);
  return (
    <details className="import-mapping">
      <summary>
        {pluralize(count, 'cell')} {dry_run ? 'will not be imported' : 'not imported'}
      </summary>
      <ul>
        {skipped_cells.map(({ column, position, line, cells, reason }) => (
          <li key={`${position}:${column}:${line}`}>
            {column !== null && <bdi>{column}: </bdi>}
            {pluralize(cells, 'cell')}, from line {formatNumber(line)}. {reason.replaceAll('`', '')}
          </li>
        ))}
      </ul>
    </details>
  );
}

type ErrorProps = {
  error: Error;
  target: ImportTarget;
  retry: () => void;
  onDateOrder: (order: DateOrder) => void;
  onScale: (column: string, scale: string) => void;
};

type DateOrder = NonNullable<Summary['date_order']>;

const dateOrders: readonly [DateOrder, string][] = [
  ['dmy', 'Day/month/year'],
  ['mdy', 'Month/day/year'],
];

const scales: readonly [string, string][] = [
  ['1-5', '1 to 5'],
  ['1-10', '1 to 10'],
  ['percent', 'Percent'],
];

/** Why the file can't be imported as it is. */
export function FileError({ error, target, retry, onDateOrder, onScale }: ErrorProps) {
  const errors = error instanceof ApiError ? error.fieldErrors : [];
  if (errors.length === 0 || errors.some(({ parameter }) => parameter))
    return <ErrorNotice error={error} retry={retry} />;
  const [required] = Object.values(target.fields);
  const messages = errors.map(({ code, column, detail }) => {
    // The service's advice for these is about its parameters; here the user changes the columns above.
    if (code === 'missing_column') return `No column is mapped to ${required}. Choose one above.`;
    if (code === 'repeated_column')
      return `“${column}” is mapped to the same field as another column. Change one of them above.`;
    return code === 'ambiguous_dates' || code === 'unclear_scale' ? detail.replace(/\?.*$/, '?') : detail;
  });
  return (
    <div className="notice bad" role="alert">
      <div>
        {messages.map((message) => (
          <p key={message}>{message}</p>
        ))}
        {errors.some(({ code }) => code === 'ambiguous_dates') && (
          <p className="button-row">
            {dateOrders.map(([order, name]) => (
              <Button key={order} small onPress={() => onDateOrder(order)}>
                {name}
              </Button>
            ))}
          </p>
        )}
        {errors
          .filter(({ code }) => code === 'unclear_scale')
          .map(({ column = '' }) => (
            <p key={column} className="button-row">
              <bdi>{column}</bdi>
              {scales.map(([scale, name]) => (
                <Button key={scale} small onPress={() => onScale(column, scale)}>
                  {name}
                </Button>
              ))}
            </p>
          ))}
      </div>
    </div>
  );
}
