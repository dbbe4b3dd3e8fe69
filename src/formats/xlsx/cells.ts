import type { FieldError } from '../../core/errors.ts';
import { shortened } from '../../core/text.ts';
import { timeOfSerial, unescapeFormula } from '../cells.ts';
import {
  columnName,
  columnNumber,
  maxColumns,
  maxFileCells,
  maxRowLength,
  type TableRow,
  unnamedColumn,
} from '../rows.ts';
import { maxLines, unescaped } from '../xlsx-write.ts';
import type { XmlHandler } from '../xml.ts';
import { type Entry, ZipError } from '../zip.ts';
import type { Merges } from './merges.ts';

/** The maximum number of columns of a sheet in Excel. */
const maxSheetColumns = 16_384;

const hidden: FieldError = {
  code: 'hidden_row',
  detail: 'This row is hidden in the sheet, by a filter for example. It is imported like the others.',
};

/** What the number of a cell means by the format of its style; for `00000000`, the number of digits that it shows. */
type NumberFormat = 'percent' | 'date' | number;

/** What the cells of a sheet refer to. */
export type CellValues = {
  texts: readonly string[];
  formats: ReadonlyMap<string, NumberFormat>;
  /** What is added to the number of a day. */
  epoch: number;
};

/**
 * Collects the cell styles that show a fraction as a percentage, 0.15 as 15%, a number of days as a date, or a number with
 * zeros before it.
 */
export function styleCollector() {
  const numberFormats = new Map<string, NumberFormat>([
    ...['9', '10'].map((id) => [id, 'percent'] as const),
    ...['14', '15', '16', '17', '22'].map((id) => [id, 'date'] as const),
  ]);
  const formats = new Map<string, NumberFormat>();
  let isInCellStyles = false;
  let count = 0;
  const handler: XmlHandler = {
    open(name, { numFmtId = '0', formatCode = '' }) {
      if (name === 'cellXfs') isInCellStyles = true;
      // Excel allows 255 characters.
      if (name === 'numFmt' && formatCode.length <= 255) {
        // Without quoted texts, escaped characters, and colors, conditions or languages.
        const code = formatCode.replace(/"[^"]*"|\\.|\[[^[\]]*\]/g, '');
        if (code.includes('%')) numberFormats.set(numFmtId, 'percent');
        else if (/[dy]/i.test(code)) numberFormats.set(numFmtId, 'date');
        else if (/^0+$/.test(code)) numberFormats.set(numFmtId, code.length);
      }
      if (name !== 'xf' || !isInCellStyles) return;
      const format = numberFormats.get(numFmtId);
      if (format) formats.set(String(count), format);
      count++;
    },
  };
  return { formats, handler };
}

/** Joins the runs of a text, without the phonetic runs (`rPh`) of East Asian text. */
function runCollector() {
  let text = '';
  let isInRun = false;
  let phonetics = 0;
  return {
    open(name: string) {
      if (name === 'rPh') phonetics++;
      if (name === 't') isInRun = phonetics === 0;
    },
    text(part: string) {
      if (isInRun) text += part;
      if (text.length > maxRowLength) throw new ZipError('a text is longer than 1 MiB');
    },
    close(name: string) {
      if (name === 'rPh') phonetics--;
      if (name === 't') isInRun = false;
    },
    take() {
      const whole = unescaped(text);
      text = '';
      return whole;
    },
  };
}

/** Collects the shared strings: each is an `si` element. Whatever its cells need of a text is done once. */
export function textCollector() {
  const texts: string[] = [];
  const run = runCollector();
  const handler: XmlHandler = {
    open: run.open,
    text: run.text,
    close(name) {
      run.close(name);
      if (name !== 'si') return;
      if (texts.length === maxFileCells) throw tooManyCells();
      texts.push(unescapeFormula(run.take()));
    },
  };
  return { texts, handler };
}

/**
 * Collects the rows of a sheet that are not blank. Cells beyond the columns of the header are not stored. A cell that is merged
 * with the one above it has its value.
 */
export function rowCollector(
  { texts, formats, epoch }: CellValues,
  sheetName: string,
  width: () => number | undefined,
  spend: Entry['spend'],
  merges: Merges = new Map(),
) {
  const run = runCollector();
  const rows: TableRow[] = [];
  let hasRows = false;
  let isAtEnd = false;
  let line = 0;
  let rowCount = 0;
  let cellCount = 0;
  let rowLength = 0;
  let cells: unknown[] = [];
  let isBlank = true;
  let error: string | undefined;
  let nextColumn = 0;
  let kind: string | undefined;
  let reference: string | undefined;
  let style = '';
  let value = '';
  let isInValue = false;
  let hasValue = false;
  let hasFormula = false;
  let isHidden = false;
  /** The merged cells that go on below, by column. */
  const merged = new Map<number, { last: number; value: unknown }>();

  function openRow(number: string | undefined) {
    line = Number(number ?? line + 1);
    if (!(line <= maxLines) || ++rowCount > maxLines)
      throw new ZipError('a row number is beyond the limit of a sheet');
    cells = [];
    isBlank = true;
    error = undefined;
    nextColumn = 0;
    rowLength = 0;
  }

  function closeCell() {
    const column = columnNumber(reference) ?? nextColumn;
    nextColumn = column + 1;
    if (column >= maxSheetColumns) throw new ZipError('a column number is beyond the limit of a sheet');
    if (++cellCount > maxFileCells) throw tooManyCells();
    const problem = problemOf(column);
    if (problem !== undefined)
      error ??= `The cell ${columnName(column)}${line} of the sheet “${shortened(sheetName)}” ${problem}`;
    // The file of failed rows shows `#N/A` where it was.
    const cell = problem === undefined ? cellValue() : kind === 'e' ? unescaped(value) : cells[column];
    if (problem !== undefined) isBlank = false;
    value = '';
    run.take();
    if (cell === undefined || cell === '') return;
    isBlank = false;
    if (column < (width() ?? maxColumns)) cells[column] = cell;
    else if (hasRows || width()) error ??= unnamedColumn(column);
    else throw new ZipError(`it has more than ${maxColumns} columns`);
  }

  /** Why the cell cannot be read; undefined if it can. */
  function problemOf(column: number): string | undefined {
    if (kind === 'e') return 'contains an error. Fix its formula.';
    // Read as empty, it would erase data. A formula can also result in an empty text.
    if (hasFormula && (!hasValue || (value === '' && kind !== 'str')))
      return 'has a formula without a result. Open the file in a spreadsheet program and save it.';
    if (kind === 's' && value !== '' && texts[Number(value)] === undefined)
      return 'refers to a text that the file does not contain. Open the file in a spreadsheet program, enter the text again and save the file.';
    return cells[column] === undefined
      ? undefined
      : 'occurs twice. Open the file in a spreadsheet program and save it.';
  }

  function cellValue(): unknown {
    const inline = run.take();
    if (kind === 'inlineStr' || value === '') return unescapeFormula(inline);
    if (kind === 's') {
      const text = texts[Number(value)] ?? '';
      spend(text.length);
      addLength(text.length);
      return text;
    }
    if (kind === 'b') return value === '1';
    if (kind !== undefined && kind !== 'n') return unescaped(value);
    const number = Number(value);
    if (Number.isNaN(number)) return value;
    const format = formats.get(style);
    // Without the noise of binary fractions: 0.07 * 100 is 7.000000000000001.
    if (format === 'percent') return `${Number((number * 100).toPrecision(12))}%`;
    if (format === 'date') return timeOfSerial(number + epoch) ?? number;
    if (typeof format === 'number' && number >= 0 && Number.isInteger(number))
      return String(number).padStart(format, '0');
    // In a column of dates, it would be read as a day of the other date system.
    return epoch === 0 ? number : String(number);
  }

  function addLength(length: number): void {
    rowLength += length;
    if (rowLength > maxRowLength) throw new ZipError('a row is longer than 1 MiB');
  }

  function closeRow() {
    if (isBlank) return;
    for (const [column, { last, value }] of merged) {
      if (line > last) merged.delete(column);
      else if (cells[column] === undefined) {
        if (++cellCount > maxFileCells) throw tooManyCells();
        cells[column] = value;
        spend(String(value).length);
        addLength(String(value).length);
      }
    }
    for (const [column, last] of merges.get(line) ?? [])
      if (cells[column] !== undefined) merged.set(column, { last, value: cells[column] });
    hasRows = true;
    rows.push({ line, cells, ...(error !== undefined && { error }), ...(isHidden && { warning: hidden }) });
  }

  const handler: XmlHandler = {
    open(name, attributes) {
      if (name === 'row') {
        openRow(attributes.r);
        isHidden = /^(1|true)$/.test(attributes.hidden ?? '');
      } else if (name === 'c') {
        kind = attributes.t;
        reference = attributes.r;
        style = attributes.s ?? '';
        hasValue = false;
        hasFormula = false;
      } else if (name === 'v') {
        isInValue = true;
        hasValue = true;
      } else if (name === 'f') hasFormula = true;
      else run.open(name);
    },
    text(text) {
      addLength(text.length);
      if (isInValue) value += text;
      else run.text(text);
    },
    close(name) {
      if (name === 'c') closeCell();
      else if (name === 'v') isInValue = false;
      else if (name === 'row') closeRow();
      else if (name === 'sheetData') isAtEnd = true;
      else run.close(name);
    },
  };
  return { handler, isAtEnd: () => isAtEnd, take: () => rows.splice(0) };
}

const tooManyCells = () => new ZipError(`it has more than ${maxFileCells} cells`, { isTooLarge: true });
