import { invalidParameter, Problem } from '../core/errors.ts';
import { joinWords, shortened } from '../core/text.ts';
import { timeOfSerial, unescapeFormula } from './cells.ts';
import {
  columnName,
  columnNumber,
  createTable,
  firstRows,
  maxColumns,
  maxFileCells,
  maxRowLength,
  type Row,
  type TableLayout,
  type TableRow,
  unnamedColumn,
} from './rows.ts';
import { maxLines, unescaped } from './xlsx-write.ts';
import { parseXml, type XmlHandler } from './xml.ts';
import { type Entry, entriesOf, ZipError } from './zip.ts';

const mebibyte = 1024 * 1024;

/** The maximum unpacked sizes. A sheet is read row by row; shared strings are held in memory. */
const maxBytes = { sheet: 512 * mebibyte, texts: 64 * mebibyte, other: mebibyte };

/** The maximum number of columns of a sheet in Excel. */
const maxSheetColumns = 16_384;

/** Chooses one of several sheets by their names, and by the columns that their first rows name. */
type SheetChoice = {
  chooseSheet?: (sheets: readonly { name: string; columns: number }[]) => number;
  countColumns?: (rows: readonly TableRow[]) => number;
};

/**
 * Reads the rows of one sheet of a workbook: the named one; or else the one that `choose` prefers; or else the first that
 * is not hidden.
 */
export async function* readXlsx(
  file: Uint8Array,
  sheetName?: string,
  layout?: TableLayout & SheetChoice,
): AsyncGenerator<Row[]> {
  try {
    const entries = await entriesOf(file);
    const texts = textCollector();
    const styles = styleCollector();
    for (const [path, { handler }] of [
      ['sharedStrings', texts],
      ['styles', styles],
    ] as const) {
      const part = entries.get(`xl/${path}.xml`);
      if (part) for await (const _ of parseXml(part, maxBytes.texts, handler)) yield [];
    }
    const { visible, epoch, ...found } = await findSheets(entries, sheetName);
    const values: CellValues = { texts: texts.texts, formats: styles.formats, epoch };
    let { chosen } = found;
    if (sheetName === undefined && layout?.chooseSheet && visible.length > 1) {
      const sheets = [];
      const columnsOf = new Map<Entry, number>();
      for (const { name, entry } of visible.slice(0, maxChoices)) {
        const rows: TableRow[] = [];
        const collector = rowCollector(values, name, () => maxColumns, entry.spend);
        // Several sheets can be one entry.
        if (!columnsOf.has(entry))
          for await (const _ of parseXml(entry, maxBytes.sheet, collector.handler)) {
            yield [];
            rows.push(...collector.take().slice(0, firstRows - rows.length));
            if (collector.isAtEnd() || rows.length >= firstRows) break;
          }
        const columns = columnsOf.get(entry) ?? layout.countColumns?.(rows) ?? 0;
        columnsOf.set(entry, columns);
        sheets.push({ name, columns });
      }
      chosen = visible[layout.chooseSheet(sheets)] ?? chosen;
    }
    const sheet = {
      name: chosen.name,
      others: found.othersOf(chosen.name),
      visible: visible.map(({ name }) => name),
    };
    const table = createTable(layout);
    const collector = rowCollector(values, chosen.name, table.width, chosen.entry.spend);
    const rows: Row[] = [];
    const take = () => rows.splice(0).map((row) => (row.isHeader ? { ...row, sheet } : row));
    for await (const _ of parseXml(chosen.entry, maxBytes.sheet, collector.handler)) {
      // One by one, because the rows of a small piece can repeat a long text.
      for (const row of collector.take()) {
        table.add(row, rows);
        yield take();
      }
      yield [];
      if (collector.isAtEnd()) break;
    }
    table.end(rows);
    yield take();
  } catch (error) {
    if (error instanceof ZipError) throw unreadable(error);
    throw error;
  }
}

/** The number of sheets among which one is chosen. */
const maxChoices = 20;

type Sheet = { name: string; relation: string; isHidden: boolean };

async function findSheets(entries: Map<string, Entry>, wanted: string | undefined) {
  const sheets: Sheet[] = [];
  let epoch = 0;
  await parseWhole(entries.get('xl/workbook.xml'), {
    open(element, attributes) {
      if (element === 'workbookPr' && /^(1|true)$/.test(attributes.date1904 ?? '')) epoch = epoch1904;
      if (element !== 'sheet') return;
      const id = Object.keys(attributes).find((attribute) => attribute.endsWith(':id'));
      const { name = '', state = 'visible' } = attributes;
      sheets.push({ name, relation: attributes[id ?? ''] ?? '', isHidden: state !== 'visible' });
    },
  });
  const chosen = wanted === undefined ? sheets.find(({ isHidden }) => !isHidden) : named(sheets, wanted);
  if (!chosen && sheets.length > 0) throw noSuchSheet(sheets, wanted);
  const paths = new Map<string, string>();
  const relations = entries.get('xl/_rels/workbook.xml.rels');
  if (relations) {
    await parseWhole(relations, {
      open(name, { Id = '', Target = '' }) {
        if (name === 'Relationship' && !paths.has(Id)) paths.set(Id, Target);
      },
    });
  }
  const entryOf = (sheet: Sheet | undefined) => {
    const path = paths.get(sheet?.relation ?? '') ?? 'worksheets/sheet1.xml';
    return entries.get(path.startsWith('/') ? path.slice(1) : `xl/${path}`);
  };
  const entry = entryOf(chosen);
  if (!entry) throw new ZipError('it contains no sheet');
  const visible = sheets.flatMap((sheet) => {
    const entry = sheet.isHidden ? undefined : entryOf(sheet);
    return entry ? [{ name: sheet.name, entry }] : [];
  });
  const othersOf = (name: string) =>
    sheets
      .filter((sheet) => sheet.name !== name)
      .map(({ name, isHidden }) => (isHidden ? `${name} (hidden)` : name));
  return { chosen: { name: chosen?.name ?? '', entry }, visible, othersOf, epoch };
}

/** The days between the epochs of the two date systems: workbooks of old versions for the Mac count from 1904. */
const epoch1904 = 1462;

/** Spreadsheets ignore the case of sheet names. */
const named = (sheets: Sheet[], wanted: string) =>
  sheets.find(({ name }) => name.trim().toLowerCase() === wanted.trim().toLowerCase());

function noSuchSheet(sheets: Sheet[], wanted: string | undefined): Problem {
  const names = joinWords(sheets.slice(0, 50).map(({ name }) => `“${shortened(name)}”`));
  return invalidParameter(
    'sheet',
    wanted === undefined
      ? `All sheets of the workbook are hidden. Name the one to import with \`sheet\`: ${names}.`
      : `The workbook has no sheet “${shortened(wanted)}”. Its sheets are ${names}.`,
  );
}

async function parseWhole(entry: Entry | undefined, handler: XmlHandler): Promise<void> {
  if (!entry) throw new ZipError('it contains no workbook');
  for await (const _ of parseXml(entry, maxBytes.other, handler));
}

/** What the number of a cell means by the format of its style; for `00000000`, the number of digits that it shows. */
type NumberFormat = 'percent' | 'date' | number;

/** What the cells of a sheet refer to. */
type CellValues = {
  texts: readonly string[];
  formats: ReadonlyMap<string, NumberFormat>;
  /** What is added to the number of a day. */
  epoch: number;
};

/**
 * Collects the cell styles that show a fraction as a percentage, 0.15 as 15%, a number of days as a date, or a number with
 * zeros before it.
 */
function styleCollector() {
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
function textCollector() {
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

/** Collects the rows of a sheet that are not blank. Cells beyond the columns of the header are not stored. */
function rowCollector(
  { texts, formats, epoch }: CellValues,
  sheetName: string,
  width: () => number | undefined,
  spend: Entry['spend'],
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
    hasRows = true;
    rows.push({ line, cells, ...(error !== undefined && { error }) });
  }

  const handler: XmlHandler = {
    open(name, attributes) {
      if (name === 'row') openRow(attributes.r);
      else if (name === 'c') {
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

const unreadable = (error: ZipError) =>
  new Problem(
    error.isTooLarge ? 'too_large' : 'malformed_request',
    `The file cannot be read as a workbook (.xlsx): ${error.message}. Save it again as .xlsx or as CSV.`,
    { cause: error },
  );
