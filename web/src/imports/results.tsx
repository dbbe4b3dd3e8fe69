import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef, useState } from 'react';
import type { ImportAnswer, ImportResult } from '../api/openapi.ts';
import { Button } from '../components/button.tsx';
import { saveFile } from '../components/export.tsx';
import { number } from '../format.ts';
import { type Importable, nameOf } from './importables.ts';

const statuses = {
  failed: { name: 'Faults', one: 'Fault', look: 'level-critical' },
  skipped: { name: 'Left out', one: 'Left out', look: 'level-medium' },
  created: { name: 'New', one: 'New', look: 'level-low' },
  updated: { name: 'Changed', one: 'Changed', look: 'status-active' },
  unchanged: { name: 'As they are', one: 'As it is', look: '' },
} as const;

type Status = ImportResult['status'];
type Shown = Status | 'all';

/** What becomes of each row of the file; first of those that cannot be taken in. */
export function Results({ answer, of }: { answer: ImportAnswer; of: Importable }) {
  const { summary, results } = answer;
  const [chosen, setChosen] = useState<Shown>();
  const present = (Object.keys(statuses) as Status[]).filter((status) => summary[status] > 0);
  const wanted = chosen ?? (summary.failed > 0 ? 'failed' : 'all');
  const shown = wanted === 'all' || present.includes(wanted) ? wanted : 'all';
  const rows = shown === 'all' ? results : results.filter(({ status }) => status === shown);
  const filters: [Shown, string, number][] = [
    ['all', 'All', summary.rows],
    ...present.map((status): [Shown, string, number] => [status, statuses[status].name, summary[status]]),
  ];
  return (
    <div className="import-results">
      <div className="moves">
        {filters.map(([status, name, count]) => (
          <button
            key={status}
            type="button"
            className={status === shown ? 'filter set' : 'filter'}
            aria-pressed={status === shown}
            onClick={() => setChosen(status)}
          >
            {name} {number(count)}
          </button>
        ))}
        {summary.failed > 0 && (
          <Button plain small icon="export" onPress={() => saveFaults(results, of)}>
            Save the faults
          </Button>
        )}
      </div>
      <Rows key={shown} rows={rows} of={of} />
    </div>
  );
}

/** Any number of them; a sentence may take several lines, so their heights are measured. */
function Rows({ rows, of }: { rows: readonly ImportResult[]; of: Importable }) {
  const box = useRef<HTMLElement>(null);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => 37,
    overscan: 8,
  });
  const items = virtualizer.getVirtualItems();
  const above = items[0]?.start ?? 0;
  const below = virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section ref={box} className="import-rows" aria-label="Rows" tabIndex={0}>
      <table aria-label="Rows of the file" aria-rowcount={rows.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col">Line</th>
            <th scope="col">Result</th>
            <th scope="col">What is said of it</th>
          </tr>
        </thead>
        <tbody>
          {above > 0 && <Space height={above} />}
          {items.map(({ index }) => {
            const { line, status, key, changed = [], errors = [] } = rows[index] as ImportResult;
            const { one, look } = statuses[status];
            return (
              <tr key={line} ref={virtualizer.measureElement} data-index={index} aria-rowindex={index + 2}>
                <td>{number(line)}</td>
                <td>
                  <span className={`chip ${look}`}>{one}</span>
                </td>
                <td>
                  {key}
                  {changed.map((field) => nameOf(of, field)).join(', ')}
                  {errors.map((fault) => (
                    <p key={fault.detail}>
                      {columnOf(fault, of) && (
                        <strong>
                          <bdi>{columnOf(fault, of)}</bdi>:{' '}
                        </strong>
                      )}
                      {fault.detail}
                    </p>
                  ))}
                </td>
              </tr>
            );
          })}
          {below > 0 && <Space height={below} />}
        </tbody>
      </table>
    </section>
  );
}

const Space = ({ height }: { height: number }) => (
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: there is nothing in it to focus
  <tr aria-hidden="true" className="space">
    <td style={{ height }} />
  </tr>
);

type Fault = NonNullable<ImportResult['errors']>[number];

/** The column as the file names it; without one, the field. */
const columnOf = ({ column, pointer }: Fault, of: Importable) =>
  column ?? (pointer && nameOf(of, pointer.slice(2).split('/')[0] ?? ''));

/** A fault a row, to mend them by. */
function saveFaults(results: readonly ImportResult[], of: Importable): void {
  const faults = results.flatMap(({ line, errors = [] }) =>
    errors.map((fault) => [String(line), columnOf(fault, of) ?? '', fault.code, fault.detail]),
  );
  const lines = [['line', 'column', 'code', 'detail'], ...faults].map((cells) =>
    cells.map(csvCell).join(','),
  );
  saveFile(new Blob([`${lines.join('\r\n')}\r\n`], { type: 'text/csv' }), `${of.many}-faults.csv`);
}

/** Quoted always, and with a quote before what a spreadsheet would run as a formula. */
const csvCell = (text: string) =>
  `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
