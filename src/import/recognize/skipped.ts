import { shortened } from '../../core/text.ts';
import { columnName, isFilled, type Title } from '../../formats/rows.ts';
import type { ImportSummary } from '../schema.ts';
import type { Column } from './catalogue.ts';
import type { TableColumn } from './evidence.ts';

export type SkippedCells = ImportSummary['skipped_cells'][number];

/** The number of entries that a summary lists; a file of objects can have millions of names. */
const maxEntries = 1000;

/** Why the cells of a recognized column are not stored; undefined if they are. */
export function whyNotStored({ is, field }: Column): string | undefined {
  if (is === 'computed') return `The service computes \`${field}\`. It was only compared.`;
  if (is === 'identity' && field === 'key')
    return '`key` finds existing rows. A new row keeps it if no other has or had it.';
  if (is === 'identity') return `\`${field}\` only finds existing rows. The service assigns it to new ones.`;
  return is === 'ignored' ? 'The service sets this itself.' : undefined;
}

/** Counts the cells that an import does not store, so that nothing of a file disappears without a line in the result. */
export function createSkippedCells() {
  const titles: SkippedCells[] = [];
  const rows: SkippedCells[] = [];
  let moreRows: SkippedCells | undefined;
  const members = new Map<string, SkippedCells>();
  let more: SkippedCells | undefined;
  let table: readonly TableColumn[] = [];
  let watched: number[] = [];
  let found: { cells: number; line: number }[] = [];

  return {
    setTable(columns: readonly TableColumn[], above: readonly Title[]): void {
      table = columns;
      found = columns.map(() => ({ cells: 0, line: 0 }));
      watched = columns.flatMap(({ column }, i) => (whyNotStored(column) === undefined ? [] : [i]));
      for (const { line, texts } of above) {
        const reason = `This line is above the header: “${shortened(texts.join(' '))}”.`;
        titles.push({ column: null, line, cells: texts.length, reason });
      }
    },

    /** Counts the cells of a row that is no data. */
    addRow(line: number, cells: readonly unknown[], reason: string): void {
      const texts = cells.filter(isFilled);
      const shown = `${reason} “${shortened(texts.join(' '))}”`;
      if (rows.length < maxEntries) rows.push({ column: null, line, cells: texts.length, reason: shown });
      else if (moreRows) moreRows.cells += texts.length;
      else
        moreRows = {
          column: null,
          line,
          cells: texts.length,
          reason: 'These are yet other lines without data.',
        };
    },

    observe(cells: readonly unknown[], line: number): void {
      for (const i of watched) {
        const one = found[i];
        if (!one || !isFilled(cells[i])) continue;
        one.line ||= line;
        one.cells++;
      }
    },

    /** Counts a member of a JSON object. */
    addMember(name: string, reason: string, line: number): void {
      const known = members.get(name);
      if (known) known.cells++;
      else if (members.size < maxEntries)
        members.set(name, { column: shortened(name), line, cells: 1, reason });
      else if (more) more.cells++;
      else more = { column: null, line, cells: 1, reason: 'These members have yet other names.' };
    },

    /** Call it after the last row. */
    all(): SkippedCells[] {
      const columns = table.flatMap(({ name, column, skipped }, i): SkippedCells[] => {
        const { cells, line } = found[i] ?? { cells: 0, line: 0 };
        const reason = skipped ?? whyNotStored(column);
        if (reason === undefined || cells === 0) return [];
        return [{ column: name === '' ? null : shortened(name), position: i + 1, line, cells, reason }];
      });
      const others = [moreRows, more].flatMap((one) => one ?? []);
      return [...titles, ...rows, ...columns, ...members.values(), ...others];
    },
  };
}

export const unnamed = (column: number) => `Column ${columnName(column)} has no name in the header.`;
