import { useCallback } from 'react';
import { ApiError } from '../api/client.ts';
import type { ImportSummary as Summary } from '../api/openapi.ts';
import { Button } from '../components/button.tsx';
import { ErrorNotice } from '../components/error-notice.tsx';
import { withLabels } from '../components/error-text.ts';
import { formatNumber, pluralize } from '../format.ts';
import { inConsole } from './row-errors.ts';
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
  const { rows, created, updated, unchanged, failed, skipped, atomic, dry_run, explanation } = summary;
  const parts = [
    created > 0 && `${formatNumber(created)} new`,
    updated > 0 && `${formatNumber(updated)} updated`,
    unchanged > 0 && `${formatNumber(unchanged)} unchanged`,
    failed > 0 && `${formatNumber(failed)} with errors`,
    skipped > 0 && !(atomic && failed > 0) && `${formatNumber(skipped)} left out`,
  ].filter(Boolean);
  const counts =
    failed > 0 && failed === rows
      ? `${pluralize(rows, 'row')}${rows === 1 ? '' : ', all'} with errors.`
      : `${pluralize(rows, 'row')}${parts.length > 0 ? `: ${parts.join(', ')}` : ''}.`;
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
        {dry_run && failed > 0 && failed < rows && ' Rows with errors will be skipped.'}
      </p>
      {dry_run && explanation !== '' && <p className="hint">{explanation.replaceAll('`', '')}</p>}
      <SkippedCells summary={summary} />
    </>
  );
}

/** Whether a line as a whole is no row. The results show it. */
export const isLine = ({ column, position }: Summary['skipped_cells'][number]) =>
  column === null && position === undefined;

/** The cells of rows that are not stored. */
function SkippedCells({ summary: { skipped_cells: all, dry_run } }: { summary: Summary }) {
  const cells = all.filter((one) => !isLine(one));
  if (cells.length === 0) return null;
  const count = cells.reduce((sum, { cells }) => sum + cells, 0);
  return (
    <details className="import-mapping">
      <summary>
        {pluralize(count, 'cell')} {dry_run ? 'will not be imported' : 'not imported'}
      </summary>
      <ul>
        {cells.map(({ column, position, line, cells, reason }) => (
          <li key={`${position}:${column}:${line}`}>
            {column !== null && <bdi>{column}: </bdi>}
            {pluralize(cells, 'cell')}, from line {formatNumber(line)}.{' '}
            {withLabels(inConsole(reason)).replaceAll('`', '')}
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
  onLeaveOut: () => void;
  /** Imports the rows of all projects into the one of the page. */
  onOneProject: (column: string) => void;
  /** Imports each row into its own project. */
  onProjectsOfFile: (() => void) | undefined;
  /** Takes back what the user has chosen for this file. */
  onReset: () => void;
};

/** Whether the file has bytes that its encoding does not have. */
export const hasInvalidBytes = (error: Error | undefined) =>
  error !== undefined && /has invalid bytes/.test(error.message);

type DateOrder = NonNullable<Summary['date_order']>;

const dateOrders: readonly [DateOrder, string][] = [
  ['dmy', 'Day/month/year'],
  ['mdy', 'Month/day/year'],
];

const scales: readonly [string, string][] = [
  ['1-5', '1 to 5'],
  ['1-10', '1 to 10'],
  ['percent', 'Percent'],
  ['5-1', '5 to 1: 1 is the highest'],
];

/** Why the file can't be imported as it is. */
export function FileError({ error, target, retry, ...choices }: ErrorProps) {
  const { onDateOrder, onScale, onLeaveOut, onOneProject, onProjectsOfFile, onReset } = choices;
  if (hasInvalidBytes(error))
    return (
      <p className="notice bad" role="alert">
        The file can't be read with this encoding. Choose another one above.
      </p>
    );
  const errors = error instanceof ApiError ? error.fieldErrors : [];
  if (errors.length === 0) return <ErrorNotice error={error} retry={retry} />;
  const [required] = Object.values(target.fields);
  const messages = errors.map(({ code, column, detail, parameter = '' }) => {
    // The service's advice is about its parameters; here the user changes what is above.
    if (parameter === 'header_row') return 'That line has no column names. Choose another line above.';
    if (parameter === 'sheet' && detail.startsWith('All sheets'))
      return 'All sheets of the workbook are hidden. Unhide the one to import, and save the file.';
    if (parameter === 'sheet') return 'The workbook has no such sheet. Choose another one above.';
    if (parameter === 'mapping') return 'The saved mapping no longer exists. Choose another one.';
    if (parameter) return "Some of your choices don't fit this file.";
    if (code === 'no_header')
      return 'That line has no known column names. Choose another line, or a field for a column, above.';
    if (code === 'missing_column' && /names the project/.test(detail))
      return 'No column is mapped to Project. Choose one above, or a project for all rows.';
    if (code === 'missing_column') return `No column is mapped to ${required}. Choose one above.`;
    if (code === 'repeated_column')
      return `“${column}” is mapped to the same field as another column. Change one of them above.`;
    if (code === 'unclear_column')
      return `“${column}” looks like a status, but it isn't clear what it says. Choose Status or Skip for it above.`;
    if (code === 'unclear_columns')
      return 'Most columns are unknown. Choose a field above for each one that you need, and leave out the others.';
    if (code === 'several_projects') return detail.replace(/(?<=\.) Import them .*$/s, '');
    if (code === 'ambiguous_dates' || code === 'unclear_scale') return detail.replace(/\?.*$/s, '?');
    return inConsole(detail);
  });
  const canReset = errors.some(({ parameter = '' }) => parameter !== '' && parameter !== 'header_row');
  return (
    <div className="notice bad" role="alert">
      <div>
        {[...new Set(messages)].map((message) => (
          <p key={message}>{message}</p>
        ))}
        {canReset && (
          <p className="button-row">
            <Button small onPress={onReset}>
              Reset choices
            </Button>
          </p>
        )}
        {errors.some(({ code }) => code === 'unclear_columns') && (
          <p className="button-row">
            <Button small onPress={onLeaveOut}>
              Leave out the other columns
            </Button>
          </p>
        )}
        {errors
          .filter(({ code }) => code === 'several_projects')
          .map(({ column = '' }) => (
            <p key={column} className="button-row">
              {onProjectsOfFile && (
                <Button small onPress={onProjectsOfFile}>
                  Use the projects of the file
                </Button>
              )}
              <Button small onPress={() => onOneProject(column)}>
                Import all into {target.ofProject?.name ?? 'this project'}
              </Button>
            </p>
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
