import type { TObject } from 'typebox';
import { preferredType } from '../core/accept.ts';
import { invalidParameter, Problem } from '../core/errors.ts';
import { limits } from '../core/schemas.ts';
import { joinWords, nearest, shortened } from '../core/text.ts';
import { wordWriter, writeCell } from '../formats/cells.ts';
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

/** A column of CSV or XLSX. */
type TableColumn = SheetColumn & { field: string; write(value: unknown): Cell };
type Cell = ReturnType<typeof writeCell>;
type ColumnsOf = (schema: TObject) => readonly TableColumn[];

const tableColumns = new WeakMap<TObject, TableColumn[]>();

/** A column for each field, under its name. */
function allColumns(schema: TObject): TableColumn[] {
  const columns =
    tableColumns.get(schema) ??
    Object.entries(schema.properties).map(([field, property]) => columnOf(field, property as Property));
  tableColumns.set(schema, columns);
  return columns;
}

/** A column as wide as the usual value of its type. */
function columnOf(field: string, property: Property, name = field, write = writeCell): TableColumn {
  const { type, format, pattern, maxLength = 0 } = property;
  const width = (characters: number) => Math.max(characters, name.length + 4);
  const column = { name, field, write };
  if (format === 'date') return { ...column, width: width(11), kind: 'day' };
  if (format === 'date-time') return { ...column, width: width(20), kind: 'time' };
  if ([type].flat().includes('integer') || [type].flat().includes('boolean'))
    return { ...column, width: width(6) };
  if (pattern?.includes('_')) return { ...column, width: width(32) };
  return { ...column, width: width(maxLength > limits.name_characters ? 50 : 24) };
}

type Property = {
  type?: unknown;
  format?: string;
  pattern?: string;
  maxLength?: number;
  enum?: readonly unknown[];
  items?: { enum?: readonly unknown[] };
};

function cellsOf(json: string, columns: readonly TableColumn[]) {
  const row = JSON.parse(json);
  return columns.map(({ field, write }) => write(row[field]));
}

/** `RankedRisk` is in the sheet “Risks”. */
const sheetName = ({ $id = 'Rows' }: TObject & { $id?: string }) =>
  $id === 'Person'
    ? 'Personnel'
    : `${$id.replace(/^(Ranked|Listed)|Entry$/, '')}s`.replace('Historys', 'History');

const csvOf = (columnsOf: ColumnsOf): Format => ({
  type: 'text/csv',
  open: (schema) => csvLine(columnsOf(schema).map(({ name }) => name)),
  row: (json, _, schema) => csvLine(cellsOf(json, columnsOf(schema))),
  close: () => '',
});

const xlsxOf = (columnsOf: ColumnsOf): Format => ({
  type: xlsxType,
  open: (schema) => sheet.open(columnsOf(schema)),
  row: (json, position, schema) =>
    sheet.row(position + 2, cellsOf(json, columnsOf(schema)), columnsOf(schema)),
  close: (_page, _meta, rows, schema) => sheet.close(columnsOf(schema), rows),
  pack: (text, schema) => packXlsx(text, sheetName(schema)),
  maxRows: maxLines - 1,
});

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
  csv: csvOf(allColumns),
  xlsx: xlsxOf(allColumns),
};

export const listMediaTypes = formatNames.map((name) => formats[name].type);

/** CSV that Excel reads as UTF-8. */
const withMark = (csv: Format): Format => ({
  ...csv,
  open: (schema) => `\ufeff${csv.open(schema)}`,
  variant: `bom ${csv.variant ?? ''}`,
});

type TableOptions = {
  bom?: boolean | undefined;
  columns?: readonly string[] | undefined;
  words?: boolean | undefined;
};

/** The format in the query, or else the one that `Accept` prefers. */
export function chooseFormat(
  accept: string | undefined,
  name: FormatName | undefined,
  schema: TObject,
  { bom = false, columns, words = false }: TableOptions = {},
): Format {
  const whole = chooseByName(accept, name);
  const format = columns || words ? withColumns(whole, schema, columns, words) : whole;
  if (!bom) return format;
  if (whole === formats.csv) return withMark(format);
  throw invalidParameter('bom', 'Only CSV has a byte order mark. Add `format=csv`, or remove `bom`.');
}

/** A table with the columns that the request names, or with its values in words. */
function withColumns(
  format: Format,
  schema: TObject,
  columns: readonly string[] | undefined,
  hasWords: boolean,
): Format {
  const build = format === formats.csv ? csvOf : format === formats.xlsx ? xlsxOf : undefined;
  if (!build) {
    const parameter = columns ? 'columns' : 'words';
    const detail = `Only CSV and XLSX have columns. Add \`format=csv\` or \`format=xlsx\`, or remove \`${parameter}\`.`;
    throw invalidParameter(parameter, detail);
  }
  const properties = schema.properties as Record<string, Property>;
  const chosen = (columns ?? Object.keys(properties)).map((column) => {
    const at = column.indexOf('=');
    const field = (at === -1 ? column : column.slice(0, at)).trim();
    const name = at === -1 ? field : column.slice(at + 1).trim();
    const property = Object.hasOwn(properties, field) ? properties[field] : undefined;
    if (!property) throw unknownColumn(field, Object.keys(properties));
    return columnOf(field, property, name, hasWords ? wordWriter(property) : writeCell);
  });
  return { ...build(() => chosen), variant: JSON.stringify([columns, hasWords]) };
}

function unknownColumn(field: string, fields: readonly string[]): Problem {
  const near = nearest(field.slice(0, 100), fields);
  const hint = near ? `Did you mean \`${near}\`?` : `Fields are ${joinWords([...fields])}.`;
  return invalidParameter('columns', `\`${shortened(field)}\` is not a field of this list. ${hint}`);
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
