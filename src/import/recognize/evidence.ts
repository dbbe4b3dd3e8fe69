import { type FieldError, invalidBody } from '../../core/errors.ts';
import { idPattern } from '../../core/ids.ts';
import type { Importable } from '../importable.ts';
import { addEvidence, type DateEvidence, type DateOrder } from '../languages/dates.ts';
import { type Column, columnOf } from './catalogue.ts';
import { orderOf } from './dates.ts';
import { normalizeWord } from './names.ts';
import { addRating, type Scale, type ScaleEvidence, scaleOf } from './scales.ts';
import { type Hints, ratingsOf, valuesByWord } from './values.ts';

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
  const { personNames = [], textInstead = {}, values: words = {} } = importable;
  const ownId = new RegExp(idPattern(importable.what));
  const watched = table.flatMap((entry, at) => {
    const hasChoices = entry.column.is === 'field' && entry.column.field in textInstead;
    const notation = hasChoices ? 'choice' : notationOf(entry.column, personNames);
    const found: { dates: DateEvidence; ratings: ScaleEvidence } = { dates: {}, ratings: {} };
    const byWord =
      notation === 'rating' && entry.column.is === 'field'
        ? valuesByWord(entry.column.property, words[entry.column.field])
        : new Map();
    const wordFor = (label: string) => byWord.get(normalizeWord(label));
    return notation ? [{ entry, at, notation, wordFor, ...found, cells: 0, matching: 0 }] : [];
  });
  const isFree = (field: string) => !table.some(({ column }) => column.field === field);
  /** Makes a column that has none of the expected values another field, if no other column has that field. */
  const replace = (entry: TableColumn, field: string) => {
    const property = importable.patch.properties[field];
    if (property && isFree(field)) entry.column = columnOf(field, property);
  };

  return {
    observe(cells: readonly unknown[], line: number): void {
      for (const found of watched) {
        const { entry, notation, wordFor } = found;
        const cell = cells[found.at];
        if (cell === '' || cell === undefined || cell === null) continue;
        found.cells++;
        if (notation === 'date') addEvidence(found.dates, cell, line);
        else if (notation === 'rating') {
          if (!entry.assigned.has(normalizeWord(String(cell))))
            addRating(found.ratings, cell, line, highestRating(entry.column), wordFor);
        } else if (notation === 'choice') found.matching += isChoice(entry.column, cell) ? 1 : 0;
        else if (notation === 'id') found.matching += isOwn(entry, ownId, String(cell)) ? 1 : 0;
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
      const allDates = watched.map(({ dates }) => dates);
      let hasInvertedNames = false;
      for (const { entry, notation, wordFor, dates, ratings, cells, matching } of watched) {
        if (notation === 'date') entry.hints.order = dateOrder ?? orderOf(dates, allDates, entry.name);
        else if (notation === 'rating') {
          const scale = scaleFor(entry) ?? scaleOf(entry.name, ratings, highestRating(entry.column), wordFor);
          if ('code' in scale) unclear.push(scale);
          else entry.hints.scale = scale;
        } else if (notation === 'name') hasInvertedNames = cells > 0 && matching === cells;
        else if (cells > 0 && matching === 0) {
          // The ids of another tool, or a text where one of the values of a field was expected.
          replace(entry, notation === 'id' ? 'external_id' : (textInstead[entry.column.field] ?? ''));
        }
      }
      if (unclear.length > 0) throw invalidBody(unclear);
      // Our own export has names as they are stored.
      const isOwnExport = watched.some(({ notation, matching }) => notation === 'id' && matching > 0);
      return { hasInvertedNames: hasInvertedNames && !isOwnExport };
    },
  };
}

type Notation = 'date' | 'rating' | 'name' | 'id';

function notationOf(column: Column, personNames: readonly string[]): Notation | undefined {
  if (column.is === 'identity') return 'id';
  if (column.is !== 'field') return undefined;
  if (column.property.format === 'date') return 'date';
  if (ratingsOf(column.property) !== undefined) return 'rating';
  return personNames.includes(column.field) ? 'name' : undefined;
}

const highestRating = (column: Column) =>
  (column.is === 'field' ? ratingsOf(column.property) : undefined) ?? 0;

const isChoice = (column: Column, cell: unknown) =>
  column.is === 'field' && column.property.enum?.includes(column.read?.(cell)) === true;

/** Keys of projects' items look like `APOLLO-R7`. */
const isOwn = ({ column }: TableColumn, ownId: RegExp, text: string) =>
  column.field === 'key' ? /^[A-Z0-9]{2,10}(-[RIT]\d+)?$/i.test(text) : ownId.test(text);

/** Not `CN=Ada,OU=Staff`, the name of a directory. */
const invertedName = /^(?!CN=)([^,]{1,100}),([^,]{1,100})$/i;

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
