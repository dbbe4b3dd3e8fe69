import { type FieldError, invalidBody } from '../../core/errors.ts';
import { idPattern } from '../../core/ids.ts';
import type { Importable } from '../importable.ts';
import { type Column, columnOf } from './catalogue.ts';
import { addEvidence, type DateEvidence, type DateOrder, orderOf } from './dates.ts';
import { addRating, type Scale, type ScaleEvidence, scaleOf } from './scales.ts';
import { type Hints, normalizeWord } from './values.ts';

/** What the cells of a column reveal about their notation. */
type Evidence = {
  dates: DateEvidence;
  ratings: ScaleEvidence;
  cells: number;
  matching: number;
};

/** A column of the table with its name. `hints` are read by its reader. */
export type TableColumn = {
  name: string;
  column: Column;
  hints: Hints;
  /** The values that the request assigns to texts of this column, by normalized text. */
  assigned: ReadonlyMap<string, string>;
  /** Why the cells of the column are not stored. */
  skipped?: string;
};

/** Collects what the cells of a file reveal about the notation of each column. Call `settle` after the last row. */
export function createEvidence(importable: Importable, table: TableColumn[]) {
  const { personNames = [], textInstead = {} } = importable;
  const ownId = new RegExp(idPattern(importable.what));
  const evidence = table.map((): Evidence => ({ dates: {}, ratings: {}, cells: 0, matching: 0 }));
  const kinds = table.map(({ column }) =>
    column.is === 'field' && column.field in textInstead ? 'choice' : notationOf(column, personNames),
  );
  const isFree = (field: string) => !table.some(({ column }) => column.field === field);
  /** Makes a column that has none of the expected values another field, if no other column has that field. */
  const replace = (entry: TableColumn, field: string) => {
    const property = importable.patch.properties[field];
    if (property && isFree(field)) entry.column = columnOf(field, property);
  };
  const watched = kinds.flatMap((kind, i) => (kind ? [i] : []));

  return {
    observe(cells: readonly unknown[], line: number): void {
      for (const i of watched) {
        const cell = cells[i];
        const found = evidence[i];
        if (cell === '' || cell === undefined || cell === null || !found) continue;
        found.cells++;
        if (kinds[i] === 'date') addEvidence(found.dates, cell, line);
        else if (kinds[i] === 'rating') {
          if (!table[i]?.assigned.has(normalizeWord(String(cell)))) addRating(found.ratings, cell, line);
        } else if (kinds[i] === 'choice') found.matching += isChoice(table[i]?.column, cell) ? 1 : 0;
        else if (kinds[i] === 'id') found.matching += isOwn(table[i], ownId, String(cell)) ? 1 : 0;
        else found.matching += isInverted(String(cell)) ? 1 : 0;
      }
    },

    /**
     * Completes the hints. Throws if the order of day and month or the scale of ratings stays open. Returns whether names
     * are `Last, First`.
     */
    settle(
      dateOrder: DateOrder | undefined,
      scaleFor: (entry: TableColumn) => Scale | undefined,
    ): { hasInvertedNames: boolean } {
      const unclear: FieldError[] = [];
      const allDates = evidence.map(({ dates }) => dates);
      let hasInvertedNames = false;
      for (const [i, entry] of table.entries()) {
        const { dates, ratings, cells, matching } = evidence[i] as Evidence;
        if (kinds[i] === 'date') entry.hints.order = dateOrder ?? orderOf(dates, allDates, entry.name);
        else if (kinds[i] === 'rating') {
          const scale = scaleFor(entry) ?? scaleOf(entry.name, ratings);
          if ('code' in scale) unclear.push(scale);
          else entry.hints.scale = scale;
        } else if (kinds[i] === 'name') hasInvertedNames = cells > 0 && matching === cells;
        else if (cells > 0 && matching === 0) {
          // The ids of another tool, or a text where one of the values of a field was expected.
          if (kinds[i] === 'id') replace(entry, 'external_id');
          else if (kinds[i] === 'choice') replace(entry, textInstead[entry.column.field] ?? '');
        }
      }
      if (unclear.length > 0) throw invalidBody(unclear);
      // Our own export has names as they are stored.
      const isOwnExport = kinds.some((kind, i) => kind === 'id' && (evidence[i]?.matching ?? 0) > 0);
      return { hasInvertedNames: hasInvertedNames && !isOwnExport };
    },
  };
}

type Notation = 'date' | 'rating' | 'name' | 'id';

function notationOf(column: Column, personNames: readonly string[]): Notation | undefined {
  if (column.is === 'identity') return 'id';
  if (column.is !== 'field') return undefined;
  if (column.property.format === 'date') return 'date';
  if (column.property.maximum === 5) return 'rating';
  return personNames.includes(column.field) ? 'name' : undefined;
}

const isChoice = (column: Column | undefined, cell: unknown) =>
  column?.is === 'field' && column.property.enum?.includes(column.read?.(cell)) === true;

/** Keys of projects' items look like `APOLLO-R7`. */
const isOwn = (entry: TableColumn | undefined, ownId: RegExp, text: string) =>
  entry?.column.field === 'key' ? /^[A-Z0-9]{2,10}(-[RIT]\d+)?$/.test(text) : ownId.test(text);

const invertedName = /^\s*([^,]{1,100}),\s*([^,]{1,100})$/;

/** Parts after a comma that do not make the rest a last name. */
const suffixes = /^(?:jr|sr|ii|iii|iv|ph\.?d|md|inc|ltd|llc|gmbh)\.?$/i;

const isInverted = (text: string) => {
  const [, , first] = invertedName.exec(text) ?? [];
  return first !== undefined && !suffixes.test(first.trim());
};

/** `Lovelace, Ada` is `Ada Lovelace`; other names stay as they are. */
export function inReadingOrder(text: string): string {
  const [, last, first] = isInverted(text) ? (invertedName.exec(text) ?? []) : [];
  return first === undefined ? text : `${first.trim()} ${last?.trim()}`;
}
