import { type FieldError, invalidBody } from '../../core/errors.ts';
import { idPattern } from '../../core/ids.ts';
import { joinWords, shortened } from '../../core/text.ts';
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
  /** Its keys begin with that of a project, which must be the same in all rows. */
  isOfOneProject?: true;
};

/** Collects what the cells of a file reveal about the notation of each column. Call `settle` after the last row. */
export function createEvidence(importable: Importable, table: TableColumn[]) {
  const { personNames = [], values: words = {} } = importable;
  const ownId = new RegExp(idPattern(importable.what));
  const watched = table.flatMap((entry, at) => {
    const notation = entry.isOfOneProject ? 'key' : notationOf(entry.column, personNames);
    const found: { dates: DateEvidence; ratings: ScaleEvidence } = { dates: {}, ratings: {} };
    const byWord =
      notation === 'rating' && entry.column.is === 'field'
        ? valuesByWord(entry.column.property, words[entry.column.field])
        : new Map();
    const wordFor = (label: string) => byWord.get(normalizeWord(label));
    const keys = new Map<string, string>();
    return notation ? [{ entry, at, notation, wordFor, ...found, keys, cells: 0, matching: 0 }] : [];
  });

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
        } else if (notation === 'key') {
          const [, project] = /^(\w+)-\d+$/.exec(String(cell)) ?? [];
          if (project && found.keys.size < 2 && !found.keys.has(project))
            found.keys.set(project, `“${shortened(String(cell))}” on line ${line}`);
        } else if (notation === 'id') found.matching += isOwn(entry, ownId, String(cell)) ? 1 : 0;
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
      for (const { entry, notation, wordFor, dates, ratings, keys, cells, matching } of watched) {
        if (notation === 'date') entry.hints.order = dateOrder ?? orderOf(dates, allDates, entry.name);
        else if (notation === 'rating') {
          const scale = scaleFor(entry) ?? scaleOf(entry.name, ratings, highestRating(entry.column), wordFor);
          if ('code' in scale) unclear.push(scale);
          else entry.hints.scale = scale;
        } else if (notation === 'key') {
          if (keys.size > 1) unclear.push(severalProjects(entry.name, [...keys.values()], importable));
        } else if (notation === 'name') hasInvertedNames = cells > 0 && matching === cells;
        else if (cells > 0 && matching === 0 && !table.some(({ column }) => column.field === 'external_id')) {
          const property = importable.patch.properties.external_id;
          // The ids of another tool.
          if (property) entry.column = columnOf('external_id', property);
        }
      }
      if (unclear.length > 0) throw invalidBody(unclear);
      // Our own export has names as they are stored.
      const isOwnExport = watched.some(({ notation, matching }) => notation === 'id' && matching > 0);
      return { hasInvertedNames: hasInvertedNames && !isOwnExport };
    },
  };
}

/** Rows of several projects do not belong into one without a word. */
function severalProjects(name: string, found: readonly string[], { what, project }: Importable): FieldError {
  const column = shortened(name);
  const detail =
    `The rows belong to several projects, such as ${joinWords(found)}. Import them into the projects that they name ` +
    `(\`/v1/imports/${what}s\`), or all of them into ${project?.key} with \`map=${column}=external_id\`.`;
  return { column, code: 'several_projects', detail };
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
