import { fold } from '../../core/text.ts';
import { isFilled, namesIn, plainLayout, type TableLayout, type TableRow } from '../../formats/rows.ts';
import type { Importable } from '../importable.ts';
import { attributeColumn, type Column, knownColumns, targetOf } from '../recognize/catalogue.ts';
import { nameForms, normalizeColumnName, normalizeWord } from '../recognize/names.ts';
import { detectPreset } from '../recognize/presets.ts';
import { createSheetChoice } from './sheets.ts';

/** A longer cell is data, and it would take long to compare the cells of many rows with the names of columns. */
const maxNameLength = 200;

/** The number of cells of a row that show whether it is the header. */
const maxNames = 100;

/** What the request states about the table of its file. */
type Stated = { map: ReadonlyMap<string, string>; header_row?: number | undefined };

/**
 * Finds the header of a table by the columns that a resource has, and the rows that are no data: group titles, totals.
 * Everything is decided by the header and one row, so that both passes over the file agree.
 */
export function createLayout(importable: Importable, { map, header_row }: Stated) {
  const known = knownColumns(importable);
  const findColumn = (name: string): Column | undefined => {
    if (name === '' || name.length > maxNameLength || /^\d/.test(name)) return undefined;
    if (map.has(normalizeColumnName(name))) return { is: 'field', field: `map ${name}`, property: {} };
    const form = nameForms(name, importable.what).find((form) => known.has(form));
    return form === undefined ? attributeColumn(importable, name) : known.get(form)?.column;
  };
  /** The number of fields that the cells of a row name. */
  const countColumns = (row: TableRow | undefined) =>
    new Set(namesIn(row).flatMap((name, i) => (i < maxNames && findColumn(name)) || [])).size;

  /** The second line of a header whose first one is enough. */
  let labels: TableRow['cells'] | undefined;
  const findHeader: TableLayout['findHeader'] = (rows) => {
    const usual = plainLayout.findHeader(rows);
    const counts = rows.map((row) => (isComment(row) ? 0 : countColumns(row)));
    const best = Math.max(...counts);
    const isClear = best >= Math.max(2, 2 * (counts[usual.position] ?? 0));
    const likely = isClear ? counts.indexOf(best) : usual.position;
    const position = header_row === undefined ? likely : 0;
    const [first, second] = [rows[position], rows[position + 1]];
    const hasTwoLines = second && first && isSecondLine(importable, first, second, findColumn);
    // Below the names of its fields, SuccessFactors writes what it shows for them.
    const isPreset = detectPreset(namesIn(first)) !== undefined;
    labels = hasTwoLines && isPreset ? second.cells : undefined;
    return hasTwoLines && !isPreset
      ? { position, lines: 2, names: combine(first, second, findColumn) }
      : { position, lines: 1, names: namesIn(first) };
  };

  const required = (importable.input.required as string[] | undefined) ?? [];
  type Described = {
    names: readonly string[];
    required: Set<number>;
    stored: Set<number>;
    hasSummaries: boolean;
    isPlan: boolean;
  };
  let described: Described | undefined;
  /** The columns of required fields, those whose cells are stored, and whether rows below each group sum up all columns. */
  const describe = (names: readonly string[]) => {
    if (described?.names === names) return described;
    const columns = names.map(findColumn);
    const at = (matches: (column: Column) => boolean) =>
      new Set(columns.flatMap((column, i) => (column && matches(column) ? [i] : [])));
    // Without a title, the description has it.
    const title = at(({ field }) => required.includes(field));
    const stored = at(({ is }) => is !== 'computed' && is !== 'ignored');
    described = {
      names,
      required: title.size > 0 ? title : at(({ field }) => field === 'description'),
      stored,
      hasSummaries: detectPreset(names) === 'monday',
      isPlan: names.some((name) => planColumns.has(normalizeWord(name))),
    };
    return described;
  };

  return {
    headerRow: header_row,
    findHeader,
    whySkipped(names, cells) {
      const filled = cells.flatMap((cell, i) => (isFilled(cell) ? [i] : []));
      const [first] = filled;
      if (cells === labels) return 'It is the second line of the header.';
      if (first === undefined || first >= names.length) return undefined;
      if (names.length > 1 && isTotal(cells[first]) && filled.slice(1).every((i) => isNumber(cells[i])))
        return totals;
      const { required, stored, hasSummaries, isPlan } = describe(names);
      if (isPlan && filled.length === 1 && required.has(first))
        return 'It has only a title, as that of a group.';
      if (required.size === 0 || filled.some((i) => required.has(i))) return undefined;
      if (filled.every((i) => isNumber(cells[i]) && !stored.has(i))) return totals;
      if (hasSummaries && filled.every((i) => isNumber(cells[i]) || isPeriod(cells[i]))) return totals;
      // A single word can be the ID of a row that lost its other cells.
      const isGroupTitle = filled.length === 1 && first === 0 && /\S\s+\S/.test(String(cells[first]).trim());
      return isGroupTitle && names.length > 2 ? 'It has only one cell.' : undefined;
    },
    chooseSheet: createSheetChoice(importable.what),
    countColumns: (rows: readonly TableRow[]) => countColumns(rows[findHeader(rows).position]),
  } satisfies TableLayout & { chooseSheet: unknown; countColumns: unknown };
}

const totals = 'It is a row of totals.';

/** Columns of Smartsheet and Wrike, whose groups and folders are rows with a title above their rows. */
const planColumns = new Set(['predecessors', 'primary column', 'start date constraint']);

/** PowerShell writes the type of the objects above the header. */
const isComment = ({ cells }: TableRow) => /^#type\s/i.test(String(cells[0] ?? ''));

const isNumber = (cell: unknown) => typeof cell === 'number' || /^[\d\s.,%€$£+-]+$/.test(String(cell).trim());

const isPeriod = (cell: unknown) => /^\d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d$/.test(String(cell).trim());

const totalWords = new Set(
  'total, totals, grand total, subtotal, sub total, sum, average, avg, summe, gesamt, gesamtsumme, zwischensumme, durchschnitt, mittelwert'.split(
    ', ',
  ),
);

const isTotal = (cell: unknown) =>
  String(cell).length <= maxNameLength && totalWords.has(normalizeWord(String(cell).replace(/:$/, '')));

/**
 * Whether a row is the second line of a header, as in a sheet with merged cells: most of its cells name columns, and it
 * cannot be data, because the cells above name other columns or none, and it has no value for a required field.
 */
function isSecondLine(
  { input }: Importable,
  first: TableRow,
  second: TableRow,
  findColumn: (name: string) => Column | undefined,
): boolean {
  const above = namesIn(first);
  const filled = namesIn(second).flatMap((text, i) => {
    const column = findColumn(above[i] ?? '');
    const isRequired = column !== undefined && (input.required as string[]).includes(column.field);
    // A cell that is merged with the one above it has its text.
    return text === '' || text === above[i]
      ? []
      : [{ text, above: above[i] ?? '', column, known: findColumn(text), isRequired }];
  });
  const named = filled.filter(({ known }) => known);
  if (named.length < 2 || 2 * named.length < filled.length) return false;
  if (filled.every(({ text, above }) => fold(text) === fold(above))) return false;
  const isOther = ({ known, column }: (typeof filled)[number]) =>
    known !== undefined && (column === undefined || targetOf(known) !== targetOf(column));
  const hasRequired = filled.some(({ isRequired }) => isRequired);
  return (
    named.some(isOther) &&
    (hasRequired
      ? filled.every(({ isRequired, known }) => known || !isRequired)
      : filled.some(({ above, known }) => above === '' && known) || filled.every(({ known }) => known))
  );
}

/** `Residual` above `Likelihood` and `Impact` is `Residual Likelihood` and `Residual Impact`, if that is a known name. */
function combine(
  first: TableRow,
  second: TableRow,
  findColumn: (name: string) => Column | undefined,
): string[] {
  const [above, below] = [namesIn(first), namesIn(second)];
  const names: string[] = [];
  let group = '';
  for (let i = 0; i < Math.max(above.length, below.length); i++) {
    const upper = above[i] ?? '';
    const lower = below[i] === upper ? '' : (below[i] ?? '');
    group = upper || (lower === '' ? '' : group);
    const both = [group, lower].filter((part) => part !== '').join(' ');
    names.push(lower === '' || findColumn(both) || !findColumn(lower) ? both : lower);
  }
  return names;
}
