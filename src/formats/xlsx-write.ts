import { withLineFeeds } from '../core/text.ts';
import { unescapeFormula } from './cells.ts';
import { columnName } from './rows.ts';
import { escapeXml } from './xml.ts';
import { zipped } from './zip.ts';

export const xlsxType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/** The maximum number of rows of a sheet in Excel. */
export const maxLines = 1_048_576;

/** A column of a sheet. `width` is in characters. Days and times are texts such as `2026-11-15`, written as real dates. */
export type SheetColumn = { name: string; width: number; kind?: 'day' | 'time' };

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const relationships = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packaging = 'http://schemas.openxmlformats.org/package/2006';
const ofSpreadsheet = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** The positions of the formats in `styles`. */
const style = { header: 1, day: 2, time: 3 };

const styles =
  `${declaration}<styleSheet xmlns="${main}">` +
  '<numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>' +
  '<numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>' +
  '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>' +
  '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>' +
  '<fills count="3"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>' +
  '<fill><patternFill patternType="solid"><fgColor rgb="FFE7EAEE"/></patternFill></fill></fills>' +
  '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>' +
  '<cellXfs count="4"><xf/><xf fontId="1" fillId="2" applyFont="1" applyFill="1"/>' +
  '<xf numFmtId="164" applyNumberFormat="1"/><xf numFmtId="165" applyNumberFormat="1"/></cellXfs></styleSheet>';

/** Writes inline strings instead of shared strings, so that the sheet can be streamed. The header row is frozen. */
export const sheet = {
  open: (columns: readonly SheetColumn[]) =>
    `${declaration}<worksheet xmlns="${main}"><sheetViews><sheetView workbookViewId="0">` +
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>' +
    `<cols>${columns.map(({ width }, i) => `<col min="${i + 1}" max="${i + 1}" width="${width}" customWidth="1"/>`).join('')}</cols>` +
    `<sheetData><row r="1">${columns.map(({ name }, i) => textCell(`${columnName(i)}1`, name, style.header)).join('')}</row>`,
  row: (line: number, cells: readonly unknown[], columns: readonly SheetColumn[]) =>
    `<row r="${line}">${cells.map((cell, i) => cellXml(`${columnName(i)}${line}`, cell, columns[i]?.kind)).join('')}</row>`,
  close: (columns: readonly SheetColumn[], rows: number) =>
    `</sheetData><autoFilter ref="A1:${columnName(columns.length - 1)}${rows + 1}"/></worksheet>`,
};

/** A workbook with one sheet, which is written as a stream. */
export const packXlsx = (sheetXml: AsyncIterable<string>, name: string): AsyncGenerator<Uint8Array> =>
  zipped([
    ['[Content_Types].xml', [contentTypes]],
    ['_rels/.rels', [relations(['officeDocument', 'xl/workbook.xml'])]],
    [
      'xl/workbook.xml',
      [
        `${declaration}<workbook xmlns="${main}" xmlns:r="${relationships}"><sheets>` +
          `<sheet name="${escapeXml(name)}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
      ],
    ],
    [
      'xl/_rels/workbook.xml.rels',
      [relations(['worksheet', 'worksheets/sheet1.xml'], ['styles', 'styles.xml'])],
    ],
    ['xl/styles.xml', [styles]],
    ['xl/worksheets/sheet1.xml', sheetXml],
  ]);

const contentTypes =
  `${declaration}<Types xmlns="${packaging}/content-types">` +
  '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
  `<Override PartName="/xl/workbook.xml" ContentType="${ofSpreadsheet}.sheet.main+xml"/>` +
  `<Override PartName="/xl/styles.xml" ContentType="${ofSpreadsheet}.styles+xml"/>` +
  `<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${ofSpreadsheet}.worksheet+xml"/></Types>`;

const relations = (...targets: [type: string, target: string][]) =>
  `${declaration}<Relationships xmlns="${packaging}/relationships">${targets
    .map(
      ([type, target], i) =>
        `<Relationship Id="rId${i + 1}" Type="${relationships}/${type}" Target="${target}"/>`,
    )
    .join('')}</Relationships>`;

function cellXml(at: string, value: unknown, kind: SheetColumn['kind']): string {
  if (value === null || value === undefined || value === '') return '';
  if (typeof value === 'number') return `<c r="${at}"><v>${value}</v></c>`;
  if (typeof value === 'boolean') return `<c r="${at}" t="b"><v>${Number(value)}</v></c>`;
  const serial = kind && serialOf(String(value));
  return serial ? `<c r="${at}" s="${style[kind]}"><v>${serial}</v></c>` : textCell(at, String(value));
}

/** The maximum length of a text in a cell. Excel repairs a file with a longer one, and drops what is beyond. */
const maxTextLength = 32_767;

/**
 * A text in a workbook is no formula. One that has a quote gets another one, because the reader removes one. Instead of a
 * text that is too long, such as the members of a large group, the cell says where it is. An import rejects that.
 */
const textCell = (at: string, whole: string, styleIndex?: number) => {
  const text =
    whole.length <= maxTextLength
      ? whole
      : `[${whole.length} characters, more than a cell of a workbook can have: export CSV or NDJSON]`;
  return `<c r="${at}"${styleIndex ? ` s="${styleIndex}"` : ''} t="inlineStr"><is><t xml:space="preserve">${escaped(unescapeFormula(text) === text ? text : `'${text}`)}</t></is></c>`;
};

/** Spreadsheets count days from the end of 1899, but count a 29 February 1900 that did not exist. */
function serialOf(time: string): number | undefined {
  const serial = Date.parse(time) / 86_400_000 + 25_569;
  return serial > 60 ? serial : undefined;
}

/** Characters that XML does not allow are written as `_xFFFF_`, and so is text that looks like such an escape. */
const escaped = (text: string) =>
  escapeXml(text.replace(/_(?=x[0-9A-Fa-f]{4}_)|[\ufffe\uffff]/g, (special) => `_x${hexOf(special)}_`));

/** The text of a cell, with line feeds as line breaks: Excel writes `_x000D_` for a carriage return. */
export const unescaped = (text: string) =>
  withLineFeeds(
    text.includes('_x')
      ? text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
      : text,
  );

const hexOf = (character: string) => character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
