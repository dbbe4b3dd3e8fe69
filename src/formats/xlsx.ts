import { Problem } from '../core/errors.ts';
import { maxColumns, maxFileCells, maxRowLength, type Row } from './rows.ts';
import { escapeXml, parseXml, type XmlHandler } from './xml.ts';
import { type Entry, entriesOf, ZipError, zipped } from './zip.ts';

export const xlsxType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

const mebibyte = 1024 * 1024;

/** What the parts may unpack to. A sheet is read row by row; the texts that its cells share are held in memory. */
const maxBytes = { sheet: 512 * mebibyte, texts: 64 * mebibyte, other: mebibyte };

/** The size of a sheet in Excel and its like. */
export const maxLines = 1_048_576;
const maxSheetColumns = 16_384;

/** The rows of a workbook's first sheet. */
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
        throw new ZipError('its days count from 1904; turn that off in its settings');
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
  if (!entry) throw new ZipError('it holds no sheet');
  return entry;
}

async function parseWhole(entry: Entry | undefined, handler: XmlHandler): Promise<void> {
  if (!entry) throw new ZipError('it holds no workbook');
  for await (const _ of parseXml(entry, maxBytes.other, handler));
}

/** Puts the text of an element together from its runs, without those that only tell how to pronounce it. */
function runCollector() {
  let text = '';
  let isInRun = false;
  let phonetics = 0;
  return {
    open(name: string) {
      if (name === 'rPh') phonetics++;
      if (name === 't') isInRun = phonetics === 0;
    },
    text(some: string) {
      if (isInRun) text += some;
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

/** The texts that cells share: each is an `si` element. */
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

/** Collects the rows of a sheet. What a row has beyond the columns that the first row names is not stored. */
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
      throw new ZipError('its rows are numbered beyond what a sheet has');
    cells = [];
    isBlank = true;
    error = undefined;
    nextColumn = 0;
    rowLength = 0;
  }

  function closeCell() {
    const column = columnNumber(reference) ?? nextColumn;
    nextColumn = column + 1;
    if (column >= maxSheetColumns) throw new ZipError('its columns are numbered beyond what a sheet has');
    if (++cellCount > maxFileCells) throw tooManyCells();
    if (kind === 'e') error = `The cell ${reference} holds an error. Mend its formula.`;
    const cell = cellValue();
    value = '';
    if (cell === undefined || cell === '') return;
    isBlank = false;
    if (column < (names?.length ?? maxColumns)) cells[column] = cell;
    else if (names) error ??= `Column ${columnName(column)} has a value here, but no name in the first line.`;
    else throw new ZipError(`it names more than ${maxColumns} columns`);
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
      if (rowLength > maxRowLength) throw new ZipError('one of its rows is longer than a mebibyte');
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

/** A workbook with one sheet, whose content is made while it is sent. */
export const packXlsx = (sheetXml: AsyncIterable<string>): AsyncGenerator<Uint8Array> =>
  zipped([...parts, ['xl/worksheets/sheet1.xml', sheetXml]]);

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const relationships = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packaging = 'http://schemas.openxmlformats.org/package/2006';
const ofSpreadsheet = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** The texts stand in the cells themselves, so that nothing is known only at the end. The first row stays in sight. */
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

/** Characters that XML does not have are written `_xFFFF_`; what looks like that by chance is written so, too. */
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
