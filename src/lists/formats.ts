import type { TObject } from 'typebox';
import { preferredType } from '../core/accept.ts';
import { invalidParameter, Problem } from '../core/errors.ts';
import { limits } from '../core/schemas.ts';
import { joinWords } from '../core/text.ts';
import { writeCell } from '../formats/cells.ts';
import { csvLine } from '../formats/csv.ts';
import { maxLines, packXlsx, type SheetColumn, sheet, xlsxType } from '../formats/xlsx-write.ts';

export const formatNames = ['json', 'ndjson', 'csv', 'xlsx'] as const;
export type FormatName = (typeof formatNames)[number];

/** Serializes a list. `close` gets the values that are known only after the last row; `rows` is their number. */
export type Format = {
  type: string;
  /** Tells formats of one media type apart. */
  variant?: string;
  open(schema: TObject): string;
  /** `position` counts the rows of the response from 0. */
  row(json: string, position: number, schema: TObject): string;
  /** Writes several JSON lines at once, for formats that do not change them. */
  rows?(lines: string, isFirst: boolean): string;
  close(page: unknown, meta: unknown, rows: number, schema: TObject): string;
  /** For binary formats. */
  pack?(text: AsyncIterable<string>, schema: TObject): AsyncIterable<Uint8Array>;
  /** The maximum number of rows in a response. */
  maxRows?: number;
};

const fieldsOf = (schema: TObject) => Object.keys(schema.properties);

function cellsOf(json: string, schema: TObject) {
  const row = JSON.parse(json);
  return fieldsOf(schema).map((field) => writeCell(row[field]));
}

const sheetColumns = new WeakMap<TObject, SheetColumn[]>();

/** The columns of a sheet, as wide as the usual value of their type. */
function columnsOf(schema: TObject): SheetColumn[] {
  const columns =
    sheetColumns.get(schema) ??
    Object.entries(schema.properties).map(([name, property]) => {
      const { type, format, pattern, maxLength = 0 } = property as Property;
      const width = (characters: number) => Math.max(characters, name.length + 4);
      if (format === 'date') return { name, width: width(11), kind: 'day' as const };
      if (format === 'date-time') return { name, width: width(20), kind: 'time' as const };
      if ([type].flat().includes('integer') || [type].flat().includes('boolean'))
        return { name, width: width(6) };
      if (pattern?.includes('_')) return { name, width: width(32) };
      return { name, width: width(maxLength > limits.name_characters ? 50 : 24) };
    });
  sheetColumns.set(schema, columns);
  return columns;
}

type Property = { type?: unknown; format?: string; pattern?: string; maxLength?: number };

/** `RankedRisk` is in the sheet “Risks”. */
const sheetName = ({ $id = 'Rows' }: TObject & { $id?: string }) =>
  $id === 'Person'
    ? 'Personnel'
    : `${$id.replace(/^(Ranked|Listed)|Entry$/, '')}s`.replace('Historys', 'History');

const formats: Record<FormatName, Format> = {
  json: {
    type: 'application/json',
    open: () => '{"data":[',
    row: (json, position) => (position === 0 ? json : `,${json}`),
    rows: (lines, isFirst) => `${isFirst ? '' : ','}${lines.replaceAll('\n', ',')}`,
    close: (page, meta) => `],"page":${JSON.stringify(page)},"meta":${JSON.stringify(meta)}}`,
  },
  ndjson: {
    type: 'application/x-ndjson',
    open: () => '',
    row: (json) => `${json}\n`,
    rows: (lines) => `${lines}\n`,
    close: () => '',
  },
  csv: {
    type: 'text/csv',
    open: (schema) => csvLine(fieldsOf(schema)),
    row: (json, _, schema) => csvLine(cellsOf(json, schema)),
    close: () => '',
  },
  xlsx: {
    type: xlsxType,
    open: (schema) => sheet.open(columnsOf(schema)),
    row: (json, position, schema) => sheet.row(position + 2, cellsOf(json, schema), columnsOf(schema)),
    close: (_page, _meta, rows, schema) => sheet.close(columnsOf(schema), rows),
    pack: (text, schema) => packXlsx(text, sheetName(schema)),
    maxRows: maxLines - 1,
  },
};

export const listMediaTypes = formatNames.map((name) => formats[name].type);

/** CSV that Excel reads as UTF-8. */
const csvWithMark: Format = {
  ...formats.csv,
  open: (schema) => `\ufeff${formats.csv.open(schema)}`,
  variant: 'bom',
};

/** The format in the query, or else the one that `Accept` prefers. */
export function chooseFormat(accept?: string, name?: FormatName, hasMark = false): Format {
  const format = chooseByName(accept, name);
  if (!hasMark) return format;
  if (format === formats.csv) return csvWithMark;
  throw invalidParameter('bom', 'Only CSV has a byte order mark. Add `format=csv`, or remove `bom`.');
}

function chooseByName(accept?: string, name?: FormatName): Format {
  if (name) return formats[name];
  const type = preferredType(accept, listMediaTypes);
  const format = Object.values(formats).find((candidate) => candidate.type === type);
  if (format) return format;
  throw notAcceptable(
    `This list is not available in an accepted format. Accept one of ${joinWords(listMediaTypes)}.`,
  );
}

export const notAcceptable = (detail: string) =>
  new Problem('not_acceptable', detail, { extra: { available: listMediaTypes } });
