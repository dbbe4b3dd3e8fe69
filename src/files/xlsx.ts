import { Problem } from '../errors.ts';
import { longestRow, mostCells, type Row } from './rows.ts';
import { attributeNamed, contentIn, type Element, elementsIn, escapeXml, unescapeXml } from './xml.ts';
import { contentOf, type Entry, entriesOf, ZipFault, zipped } from './zip.ts';

export const xlsxType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

const mebibyte = 1024 * 1024;

/** What the parts may unpack to. A sheet is read row by row; the texts that its cells share are held in memory. */
const most = { sheet: 512 * mebibyte, texts: 64 * mebibyte, other: mebibyte };

/** As many as the programs for spreadsheets have. */
export const mostLines = 1_048_576;
const mostColumns = 16_384;

/** The rows of a workbook's first sheet. */
export async function* readXlsx(file: Uint8Array): AsyncGenerator<Row[]> {
  try {
    const entries = entriesOf(file);
    const firstSheet = await findFirstSheet(entries);
    const texts = await sharedTexts(entries);
    let names: string[] | undefined;
    let line = 0;
    for await (const { elements, prefix } of streamed(firstSheet, 'row', most.sheet)) {
      const rows: Row[] = [];
      for (const { attributes, content } of elements) {
        line = Number(reference(attributes) ?? line + 1);
        if (!(line <= mostLines)) throw new ZipFault('its rows are numbered beyond what a sheet has');
        const { cells, fault } = readCells(content, prefix, texts);
        if (cells.every((cell) => cell === '' || cell === undefined)) continue;
        if (names) rows.push({ line, names, cells, ...(fault ?? tooManyCells(names, cells)) });
        else {
          if (cells.length > mostCells) throw new ZipFault(`it names more than ${mostCells} columns`);
          names = Array.from(cells, (cell) => String(cell ?? '').trim());
          rows.push({ line, names, cells: names, isHeader: true });
        }
      }
      yield rows;
    }
  } catch (error) {
    if (error instanceof ZipFault) throw unreadable(error);
    throw error;
  }
}

async function findFirstSheet(entries: Map<string, Entry>): Promise<Entry> {
  const workbook = await whole(entries.get('xl/workbook.xml'));
  if (workbook === undefined) throw new ZipFault('it holds no workbook');
  const prefix = prefixIn(workbook, 'workbook');
  const settings = elementsIn(workbook, `${prefix}workbookPr`).next().value;
  if (/^(1|true)$/.test(countsFrom1904(settings?.attributes ?? '') ?? '')) {
    throw new ZipFault('its days count from 1904; turn that off in its settings');
  }
  const [first] = elementsIn(workbook, `${prefix}sheet`);
  const relations = (await whole(entries.get('xl/_rels/workbook.xml.rels'))) ?? '';
  const relation = [...elementsIn(relations, `${prefixIn(relations, 'Relationships')}Relationship`)].find(
    ({ attributes }) => relationId(attributes) === sheetRelation(first?.attributes ?? ''),
  );
  const path = target(relation?.attributes ?? '') ?? 'worksheets/sheet1.xml';
  const entry = entries.get(path.startsWith('/') ? path.slice(1) : `xl/${path}`);
  if (!entry) throw new ZipFault('it holds no sheet');
  return entry;
}

async function sharedTexts(entries: Map<string, Entry>): Promise<string[]> {
  const entry = entries.get('xl/sharedStrings.xml');
  const texts: string[] = [];
  if (!entry) return texts;
  for await (const { elements, prefix } of streamed(entry, 'si', most.texts)) {
    for (const { content } of elements) texts.push(textIn(content, prefix));
  }
  return texts;
}

/** The elements of one name in a part, some at a time, and the prefix that all names in it have. */
async function* streamed(
  entry: Entry,
  name: string,
  bytes: number,
): AsyncGenerator<{ elements: Element[]; prefix: string }> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let prefix: string | undefined;
  let text = '';
  for await (const piece of contentOf(entry, bytes)) {
    text += decode(decoder, piece);
    prefix ??= prefixIn(text, name === 'row' ? 'worksheet' : 'sst');
    const elements = [...elementsIn(text, `${prefix}${name}`)];
    text = text.slice(elements.at(-1)?.end ?? 0);
    if (text.length > longestRow) throw new ZipFault('one of its rows is longer than a mebibyte');
    yield { elements, prefix };
  }
}

async function whole(entry: Entry | undefined): Promise<string | undefined> {
  if (!entry) return undefined;
  const pieces: Uint8Array[] = [];
  for await (const piece of contentOf(entry, most.other)) pieces.push(piece);
  return decode(new TextDecoder('utf-8', { fatal: true }), Buffer.concat(pieces));
}

function decode(decoder: TextDecoder, bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes, { stream: true });
  } catch (cause) {
    throw new ZipFault('its texts are not UTF-8', { cause });
  }
}

const reference = attributeNamed('r');
const type = attributeNamed('t');
const countsFrom1904 = attributeNamed('date1904');
const relationId = attributeNamed('Id');
const sheetRelation = attributeNamed('\\w+:id');
const target = attributeNamed('Target');

/** Some programs write a prefix before each name: `<x:row>`. */
const prefixIn = (text: string, root: string) => new RegExp(`<(\\w+:)?${root}[\\s>]`).exec(text)?.[1] ?? '';

function readCells(row: string, prefix: string, texts: string[]) {
  const cells: unknown[] = [];
  let fault: { fault: string } | undefined;
  for (const { attributes, content } of elementsIn(row, `${prefix}c`)) {
    const [, letters = ''] = /^([A-Z]{1,3})\d/.exec(reference(attributes) ?? '') ?? [];
    const column = letters === '' ? cells.length : columnNumber(letters);
    if (column >= mostColumns) throw new ZipFault('its columns are numbered beyond what a sheet has');
    const kind = type(attributes);
    if (kind === 'e')
      fault = { fault: `The cell ${reference(attributes)} holds an error. Mend its formula.` };
    cells[column] = cellValue(kind, content, prefix, texts);
  }
  return { cells, fault };
}

function cellValue(kind: string | undefined, content: string, prefix: string, texts: string[]): unknown {
  if (kind === 'inlineStr') return textIn(content, prefix);
  const value = contentIn(content, `${prefix}v`);
  if (value === undefined || value === '') return undefined;
  if (kind === 's') return texts[Number(value)];
  if (kind === 'b') return value === '1';
  return kind === undefined || kind === 'n' ? Number(value) : unescaped(value);
}

/** The text of a cell, put together from its runs, without those that only tell how to pronounce it. */
function textIn(content: string, prefix: string): string {
  let written = '';
  let at = 0;
  for (const { start, end } of elementsIn(content, `${prefix}rPh`)) {
    written += content.slice(at, start);
    at = end;
  }
  written += content.slice(at);
  return [...elementsIn(written, `${prefix}t`)].map((run) => unescaped(run.content)).join('');
}

const tooManyCells = (names: string[], cells: unknown[]) => {
  const beyond = cells.findLastIndex((cell) => cell !== undefined && cell !== '');
  return beyond < names.length
    ? undefined
    : { fault: `Column ${columnName(beyond)} has a value here, but no name in the first line.` };
};

const unreadable = (fault: ZipFault) =>
  new Problem(
    fault.isTooLarge ? 'too_large' : 'malformed_request',
    `The file cannot be read as a workbook (.xlsx): ${fault.message}. Save it again as .xlsx or as CSV.`,
    { cause: fault },
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

const unescaped = (xml: string) => {
  const text = unescapeXml(xml);
  return text.includes('_x')
    ? text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
    : text;
};

const hexOf = (character: string) => character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');

/** `A` is 0, `AB` is 27. */
const columnNumber = (letters: string) =>
  [...letters].reduce((number, letter) => number * 26 + letter.charCodeAt(0) - 64, 0) - 1;

const columnName = (column: number): string =>
  (column >= 26 ? columnName(Math.floor(column / 26) - 1) : '') + String.fromCharCode(65 + (column % 26));
