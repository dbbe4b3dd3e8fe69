import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ItemList } from '../api/items.ts';
import { useRefresh } from '../api/queries.ts';
import { endSessionOn401 } from '../api/session.ts';
import { changeEach, failuresOf, restore, whyNot } from '../bulk/change.ts';
import { nouns } from '../bulk/kinds.ts';
import { maxItems } from '../bulk/use-selection.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { ErrorNotice } from '../components/error-notice.tsx';
import { Loaded } from '../components/loading.tsx';
import { toast } from '../components/toast.tsx';
import { formatDay, humanize, pluralize } from '../format.ts';
import { type Parsed, parseColumn } from './parse.ts';

type Item = { id: string; key: string; title: string; version: number };

export type PasteProps = {
  list: ItemList;
  field: string;
  /** The header of the column. */
  header: string;
  /** The rows from the cell on. There can be fewer than values. */
  rows: readonly Item[];
  values: readonly string[];
  onClose: () => void;
};

/** Shows what a pasted column changes, and changes it. */
export function PasteDialog({ list, field, header, rows: live, values, onClose }: PasteProps) {
  // What was pasted belongs to these rows, wherever the list has them by now.
  const [rows] = useState(live);
  const lines = values.slice(0, rows.length);
  const query = useQuery({
    queryKey: ['paste', list, field, lines, rows.map(({ id, version }) => `${id} ${version}`)],
    queryFn: () => parseColumn(field, lines),
  });
  return (
    <Dialog title={`Paste into ${header.toLowerCase()}`} onClose={onClose} wide>
      <Loaded query={query}>
        {(parsed) => (
          <Changes {...{ list, field, rows, onClose }} parsed={parsed} left={values.length - rows.length} />
        )}
      </Loaded>
    </Dialog>
  );
}

type ChangesProps = Omit<PasteProps, 'values' | 'header'> & { parsed: readonly Parsed[]; left: number };

function Changes({ list, field, rows, parsed, left, onClose }: ChangesProps) {
  const refresh = useRefresh();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const lines = rows.slice(0, parsed.length).map((row, index) => {
    const value = parsed[index] as Parsed;
    const now = showNow(field, row);
    const isChanged = 'changes' in value && value.shown !== now;
    return { row, value, now, isChanged };
  });
  const changes = lines.flatMap(({ row: { id, version }, value, isChanged }) =>
    isChanged && 'changes' in value ? [{ id, version, changes: value.changes }] : [],
  );
  const counted = pluralize(changes.length, nouns[list]);
  const apply = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const changed = await changeEach(list, changes);
      await refresh();
      onClose();
      toast(`Updated ${counted}`, async () => {
        try {
          await restore(list, changed);
        } finally {
          await refresh();
        }
      });
    } catch (reason) {
      endSessionOn401(reason);
      setError(explain(reason as Error));
      if (failuresOf(reason)) void refresh();
      setBusy(false);
    }
  };
  return (
    <>
      <div className="dialog-body">
        {left > 0 && <p>{pluralize(left, 'line')} more than the list has rows below are left out.</p>}
        <table className="paste">
          <thead>
            <tr>
              <th scope="col">Item</th>
              <th scope="col">Now</th>
              <th scope="col">New</th>
            </tr>
          </thead>
          <tbody>
            {lines.map(({ row, value, now, isChanged }) => (
              <tr key={row.id}>
                <td>
                  <span className="key">{row.key}</span> <bdi>{row.title}</bdi>
                </td>
                <td className="quiet">{now || '–'}</td>
                <td>
                  {'error' in value ? (
                    <span className="field-error">{value.error} Skipped.</span>
                  ) : isChanged ? (
                    <strong>{value.shown || '–'}</strong>
                  ) : (
                    <span className="quiet">No change</span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {error && <ErrorNotice error={error} />}
      <footer>
        <Button onPress={onClose} isDisabled={isBusy}>
          Cancel
        </Button>
        <Button
          primary
          autoFocus
          isPending={isBusy}
          isDisabled={changes.length === 0 || changes.length > maxItems}
          onPress={apply}
        >
          Change {counted}
        </Button>
      </footer>
    </>
  );
}

/** The value of a row, in the words of `parseColumn`. */
function showNow(field: string, row: object): string {
  const values = row as Record<string, string | number | null>;
  if (field === 'rating') return values.probability ? `${values.probability} × ${values.impact}` : '';
  if (field.endsWith('_user_id')) return String(values[field.replace('_user_id', '_name')] ?? '');
  const value = values[field];
  if (value === null || value === undefined) return '';
  if (field.endsWith('_on')) return formatDay(String(value));
  return field === 'category' ? String(value) : humanize(String(value));
}

/** Names the items that the service refused. */
function explain(error: Error): Error {
  const failures = failuresOf(error);
  if (!failures) return error;
  const reasons = failures.listed
    .slice(0, 5)
    .map((failure) => `${failure.key ?? failure.id}: ${whyNot(failure)}`);
  return new Error(`Nothing was changed. ${reasons.join(' ')}`);
}
