import { Problem } from '../core/errors.ts';
import { maxColumns, maxFileCells, maxRowLength, type Row } from './rows.ts';
import { escapeXml, parseXml, type XmlHandler } from './xml.ts';
import { type Entry, entriesOf, ZipError, zipped } from './zip.ts';

export const xlsxType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

const mebibyte = 1024 * 1024;

/** The maximum unpacked sizes. A sheet is read row by row; shared strings are held in memory. */
const maxBytes = { sheet: 512 * mebibyte, texts: 64 * mebibyte, other: mebibyte };

/** The maximum size of a sheet in Excel. */
export const maxLines = 1_048_576;
const maxSheetColumns = 16_384;

/** Reads the rows of the first sheet of a workbook. */
export async function* readXlsx(file: Uint8Array): AsyncGenerator<Row[]> {
  try {
    const entries = entriesOf(file);
    const firstSheet = await findFirstSheet(entries);
    const texts = textCollector();
    const textsEntry = entries.get('xl/sharedStrings.xml');
    if (textsEntry) for await (const _ of parseXml(textsEntry, maxBytes.texts, texts.handler)) yield [];
    const collector = rowCollector(texts.texts);
    for await (const _ of parseXml(firstSheet, maxBytes.sheet, collector.handler)) {
      yield collector.take();
      if (collector.isAtEnd()) return;
    }
    yield collector.take();
  } catch (error) {
    if (error instanceof ZipError) throw unreadable(error);
    throw error;
  }
}

async function findFirstSheet(entries: Map<string, Entry>): Promise<Entry> {
  let sheetRelation: string | undefined;
  await parseWhole(entries.get('xl/workbook.xml'), {
    open(name, attributes) {
      if (name === 'workbookPr' && /^(1|true)$/.test(attributes.date1904 ?? '')) {
        throw new ZipError('it uses the 1904 date system; turn that off in its settings');
      }
      if (name !== 'sheet') return;
      const id = Object.keys(attributes).find((attribute) => attribute.endsWith(':id'));
      sheetRelation ??= attributes[id ?? ''] ?? '';
    },
  });
  let path: string | undefined;
  const relations = entries.get('xl/_rels/workbook.xml.rels');
  if (relations) {
    await parseWhole(relations, {
      open(name, { Id, Target }) {
        if (name === 'Relationship' && Id === sheetRelation) path ??= Target;
      },
    });
  }
  path ??= 'worksheets/sheet1.xml';
  const entry = entries.get(path.startsWith('/') ? path.slice(1) : `xl/${path}`);
  if (!entry) throw new ZipError('it contains no sheet');
  return entry;
}

async function parseWhole(entry: Entry | undefined, handler: XmlHandler): Promise<void> {
  if (!entry) throw new ZipError('it contains no workbook');
  for await (const _ of parseXml(entry, maxBytes.other, handler));
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

/** Collects the shared strings: each is an `si` element. */
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
      texts.push(run.take());
    },
  };
  return { texts, handler };
}

/** Collects the rows of a sheet. Cells beyond the columns of the header are not stored. */
function rowCollector(texts: readonly string[]) {
  const run = runCollector();
  let rows: Row[] = [];
  let names: string[] | undefined;
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
  let value = '';
  let isInValue = false;

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
    if (kind === 'e') error = `The cell ${reference} contains an error. Fix its formula.`;
    const cell = cellValue();
    value = '';
    if (cell === undefined || cell === '') return;
    isBlank = false;
    if (column < (names?.length ?? maxColumns)) cells[column] = cell;
    else if (names)
      error ??= `Column ${columnName(column)} has a value in this row, but no name in the header.`;
    else throw new ZipError(`it has more than ${maxColumns} columns`);
  }

  function cellValue(): unknown {
    if (kind === 'inlineStr') return run.take();
    if (value === '') return undefined;
    if (kind === 's') return texts[Number(value)];
    if (kind === 'b') return value === '1';
    return kind === undefined || kind === 'n' ? Number(value) : unescaped(value);
  }

  function closeRow() {
    if (isBlank) return;
    if (names) rows.push({ line, names, cells, ...(error !== undefined && { error }) });
    else {
      names = Array.from(cells, (cell) => String(cell ?? '').trim());
      rows.push({ line, names, cells: names, isHeader: true });
    }
  }

  const handler: XmlHandler = {
    open(name, attributes) {
      if (name === 'row') openRow(attributes.r);
      else if (name === 'c') {
        kind = attributes.t;
        reference = attributes.r;
      } else if (name === 'v') isInValue = true;
      else run.open(name);
    },
    text(text) {
      rowLength += text.length;
      if (rowLength > maxRowLength) throw new ZipError('a row is longer than 1 MiB');
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
  return {
    handler,
    isAtEnd: () => isAtEnd,
    take() {
      const taken = rows;
      rows = [];
      return taken;
    },
  };
}

const tooManyCells = () => new ZipError(`it has more than ${maxFileCells} cells`, { isTooLarge: true });

const unreadable = (error: ZipError) =>
  new Problem(
    error.isTooLarge ? 'too_large' : 'malformed_request',
    `The file cannot be read as a workbook (.xlsx): ${error.message}. Save it again as .xlsx or as CSV.`,
    { cause: error },
  );

/** A workbook with one sheet, which is written as a stream. */
export const packXlsx = (sheetXml: AsyncIterable<string>): AsyncGenerator<Uint8Array> =>
  zipped([...parts, ['xl/worksheets/sheet1.xml', sheetXml]]);

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const relationships = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packaging = 'http://schemas.openxmlformats.org/package/2006';
const ofSpreadsheet = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** Writes inline strings instead of shared strings, so that the sheet can be streamed. The header row is frozen. */
export const sheet = {
  open:
    `${declaration}<worksheet xmlns="${main}"><sheetViews><sheetView workbookViewId="0">` +
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetData>',
  row: (line: number, cells: readonly unknown[]) =>
    `<row r="${line}">${cells.map((cell, column) => cellXml(`${columnName(column)}${line}`, cell)).join('')}</row>`,
  close: '</sheetData></worksheet>',
};

const parts = [
  [
    '[Content_Types].xml',
    [
      `${declaration}<Types xmlns="${packaging}/content-types">` +
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
        `<Override PartName="/xl/workbook.xml" ContentType="${ofSpreadsheet}.sheet.main+xml"/>` +
        `<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${ofSpreadsheet}.worksheet+xml"/></Types>`,
    ],
  ],
  [
    '_rels/.rels',
    [
      `${declaration}<Relationships xmlns="${packaging}/relationships"><Relationship Id="rId1" ` +
        `Type="${relationships}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    ],
  ],
  [
    'xl/workbook.xml',
    [
      `${declaration}<workbook xmlns="${main}" xmlns:r="${relationships}"><sheets>` +
        '<sheet name="Muster" sheetId="1" r:id="rId1"/></sheets></workbook>',
    ],
  ],
  [
    'xl/_rels/workbook.xml.rels',
    [
      `${declaration}<Relationships xmlns="${packaging}/relationships"><Relationship Id="rId1" ` +
        `Type="${relationships}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
    ],
  ],
] as const;

function cellXml(at: string, value: unknown): string {
  if (value === null || value === undefined || value === '') return '';
  if (typeof value === 'number') return `<c r="${at}"><v>${value}</v></c>`;
  if (typeof value === 'boolean') return `<c r="${at}" t="b"><v>${Number(value)}</v></c>`;
  return `<c r="${at}" t="inlineStr"><is><t xml:space="preserve">${escaped(String(value))}</t></is></c>`;
}

/** Characters that XML does not allow are written as `_xFFFF_`, and so is text that looks like such an escape. */
const escaped = (text: string) =>
  escapeXml(text.replace(/_(?=x[0-9A-Fa-f]{4}_)|[\ufffe\uffff]/g, (special) => `_x${hexOf(special)}_`));

const unescaped = (text: string) =>
  text.includes('_x')
    ? text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
    : text;

const hexOf = (character: string) => character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');

/** `A1` is 0, `AB1` is 27; undefined without letters. */
function columnNumber(reference: string | undefined): number | undefined {
  let number = 0;
  for (let at = 0; reference !== undefined && at < 3; at++) {
    const letter = reference.charCodeAt(at) - 64;
    if (!(letter >= 1 && letter <= 26)) break;
    number = number * 26 + letter;
  }
  return number === 0 ? undefined : number - 1;
}

const columnName = (column: number): string =>
  (column >= 26 ? columnName(Math.floor(column / 26) - 1) : '') + String.fromCharCode(65 + (column % 26));
