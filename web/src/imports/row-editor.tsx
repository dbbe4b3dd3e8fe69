import { useId, useState } from 'react';
import type { ImportResult, ImportSummary } from '../api/openapi.ts';
import { Button } from '../components/button.tsx';
import { formatNumber } from '../format.ts';
import { columnOf, columnsWithError, detailInCell, detailOf, type RowError } from './row-errors.ts';
import type { ImportTarget } from './targets.ts';

/** A line of NDJSON that is not JSON has no cells, and the service returns only so many. */
export const canEdit = ({ status, data = {} }: ImportResult) =>
  status === 'failed' && Object.keys(data).length > 0;

type Props = {
  result: ImportResult;
  summary: ImportSummary;
  target: ImportTarget;
  edits: Readonly<Record<string, string>> | undefined;
  onEdit: (column: string, text: string) => void;
};

/** The cells of a row with errors: first only the wrong ones, or all if no cell of the row is wrong by itself. */
export function RowEditor({ result, summary, target, edits = {}, onEdit }: Props) {
  const [showsAll, setShowsAll] = useState(false);
  const { line, data = {}, errors = [] } = result;
  const { ignored_columns, unknown_columns } = summary;
  const placed = errors.map((error) => ({ error, columns: columnsWithError(error, result, summary) }));
  const unplaced = placed.filter(({ columns }) => columns.length === 0);
  const wrong = new Set(placed.flatMap(({ columns }) => columns));
  const names = Object.keys(data).filter(
    (name) => wrong.has(name) || !(ignored_columns.includes(name) || name in unknown_columns),
  );
  const shown = showsAll || unplaced.length > 0 ? names : names.filter((name) => wrong.has(name));
  const [first = ''] = names;
  return (
    <fieldset className="import-row">
      <legend>
        <span className="visually-hidden">Line {formatNumber(line)}: </span>
        {!shown.includes(first) && <bdi>{data[first]}</bdi>}
      </legend>
      {unplaced.map(({ error }) => (
        <RowErrorText key={error.detail} error={error} target={target} />
      ))}
      <div className="import-cells">
        {shown.map((name) => (
          <Cell
            key={name}
            name={name}
            text={edits[name] ?? data[name] ?? ''}
            hasLines={data[name]?.includes('\n') ?? false}
            // A changed cell is not known to be wrong.
            errors={
              name in edits
                ? []
                : placed.flatMap(({ error, columns }) =>
                    columns.includes(name) ? [detailInCell(error, target)] : [],
                  )
            }
            onChange={(text) => onEdit(name, text)}
          />
        ))}
      </div>
      {shown.length < names.length && (
        <Button plain small onPress={() => setShowsAll(true)}>
          Show all columns
        </Button>
      )}
    </fieldset>
  );
}

type CellProps = {
  name: string;
  text: string;
  hasLines: boolean;
  errors: string[];
  onChange: (text: string) => void;
};

function Cell({ name, text, hasLines, errors, onChange }: CellProps) {
  const id = useId();
  const isWrong = errors.length > 0;
  const Input = hasLines ? 'textarea' : 'input';
  return (
    <div className="field half">
      <label htmlFor={id}>
        <bdi>{name}</bdi>
      </label>
      <Input
        id={id}
        value={text}
        aria-invalid={isWrong || undefined}
        aria-describedby={isWrong ? `${id}-error` : undefined}
        onChange={({ target }) => onChange(target.value)}
      />
      {isWrong && (
        <p className="field-error" id={`${id}-error`}>
          {errors.join(' ')}
        </p>
      )}
    </div>
  );
}

export const RowErrorText = ({ error, target }: { error: RowError; target: ImportTarget }) => (
  <p>
    {columnOf(error, target) && (
      <strong>
        <bdi>{columnOf(error, target)}</bdi>:{' '}
      </strong>
    )}
    {detailOf(error, target)}
  </p>
);
