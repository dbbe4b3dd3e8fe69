import { extname } from 'node:path';
import { invalidParameter, Problem, UsageError } from '../core/errors.ts';
import { joinWords, shortened } from '../core/text.ts';
import { readCsv } from '../formats/csv.ts';
import { detectCharset } from '../formats/decoding.ts';
import { readForm } from '../formats/multipart.ts';
import { readNdjson } from '../formats/ndjson.ts';
import { createPacer } from '../formats/pace.ts';
import { maxFileCells, type Row } from '../formats/rows.ts';
import { readXlsx } from '../formats/xlsx.ts';
import { xlsxType } from '../formats/xlsx-write.ts';
import { charsetOf, isUtf8 } from '../http/request/body-parsers.ts';
import type { createLayout } from './layout/layout.ts';
import type { Source } from './scan.ts';

type FileFormat = 'csv' | 'ndjson' | 'xlsx';

/** The supported file formats, by media type and file extension. */
const formats: Record<FileFormat, { types: readonly string[]; extensions: readonly string[] }> = {
  csv: { types: ['text/csv', 'text/tab-separated-values'], extensions: ['csv', 'tsv', 'txt'] },
  ndjson: {
    types: ['application/x-ndjson', 'application/ndjson', 'application/jsonl'],
    extensions: ['ndjson', 'jsonl'],
  },
  xlsx: { types: [xlsxType], extensions: ['xlsx', 'xlsm'] },
};

const formType = 'multipart/form-data';

export const fileTypes = [...Object.values(formats).flatMap(({ types }) => types), formType];

/** The file in the body of a request, with its format and charset: the body itself, or the only file of a form. */
export function fileIn(body: Buffer, header: string | undefined) {
  if (!isForm(header)) return { file: body, ...formatOfType(header) };
  const { name, type, content } = readForm(body, header ?? '');
  const charset = charsetOf(type);
  return { file: content, format: formatOfUpload(name, type, content), ...(charset && { charset }) };
}

const isForm = (header: string | undefined) => /^\s*multipart\/form-data\s*(;|$)/i.test(header ?? '');

/** Rejects a request whose media type is not supported, before its body is sent. */
export function rejectOtherTypes(header: string | undefined): void {
  if (!isForm(header)) formatOfType(header);
}

/**
 * The name of a file tells its format: browsers send CSV as `application/vnd.ms-excel`, or as no type at all. No text starts
 * like a ZIP file.
 */
function formatOfUpload(name: string, type: string, content: Uint8Array): FileFormat {
  const extension = extname(name).slice(1).toLowerCase();
  const [mediaType = ''] = type.split(';').map((part) => part.trim().toLowerCase());
  if (isZip(content)) return 'xlsx';
  return (
    findFormat(({ extensions }) => extensions.includes(extension)) ??
    findFormat(({ types }) => types.includes(mediaType)) ??
    formatOf('', content)
  );
}

/** The format and charset in a `Content-Type` header. */
function formatOfType(header: string | undefined): { format: FileFormat; charset?: string } {
  const [type = ''] = (header ?? '').split(';').map((part) => part.trim().toLowerCase());
  const format = findFormat(({ types }) => types.includes(type));
  if (!format) {
    throw new Problem(
      'unsupported_media_type',
      `Send the file as a form (\`${formType}\`), or itself as the body, with \`Content-Type: text/csv\`, \`application/x-ndjson\` or \`${xlsxType}\`.`,
    );
  }
  const charset = charsetOf(header);
  return { format, ...(charset && { charset }) };
}

/** The format of a file by its extension. Without an extension, and for standard input, by its first bytes. */
export function formatOf(path: string, file: Uint8Array): FileFormat {
  const extension = extname(path).slice(1).toLowerCase();
  if (extension === '') {
    const [first] = Buffer.from(file.subarray(0, 1000)).toString().trimStart();
    return isZip(file) ? 'xlsx' : first === '{' ? 'ndjson' : 'csv';
  }
  const format = findFormat(({ extensions }) => extensions.includes(extension));
  if (format) return format;
  const known = Object.values(formats).flatMap(({ extensions }) => extensions.map((one) => `.${one}`));
  throw new UsageError(`The extension .${extension} is not known. Known are ${joinWords(known)}.`);
}

const isZip = ([first, second, third, fourth]: Uint8Array) =>
  first === 0x50 && second === 0x4b && third === 0x03 && fourth === 0x04;

const findFormat = (matches: (format: (typeof formats)[FileFormat]) => boolean) =>
  (Object.keys(formats) as FileFormat[]).find((format) => matches(formats[format]));

type SourceOptions = {
  /** The encoding of a CSV file. */
  charset?: string | undefined;
  /** The name of a sheet. */
  sheet?: string | undefined;
  layout?: ReturnType<typeof createLayout>;
};

export function sourceOf(
  format: FileFormat,
  file: Uint8Array,
  { charset, sheet, layout }: SourceOptions,
): Source {
  rejectOtherFormat(format, file);
  if (format === 'ndjson' && charset !== undefined && !isUtf8(charset))
    throw new Problem(
      'unsupported_media_type',
      `The charset “${shortened(charset, 40)}” is not supported. Send NDJSON encoded as UTF-8.`,
    );
  if (sheet !== undefined && format !== 'xlsx')
    throw invalidParameter('sheet', 'Only a workbook (.xlsx) has sheets. Remove `sheet`.');
  if (layout?.headerRow !== undefined && format === 'ndjson')
    throw invalidParameter('header_row', 'Only CSV and XLSX have a header. Remove `header_row`.');
  const encoding = format === 'csv' ? (charset ?? detectCharset(file)) : undefined;
  const read = {
    csv: () => readCsv(file, encoding, layout),
    ndjson: () => readNdjson(file),
    xlsx: () => readXlsx(file, sheet, layout),
  }[format];
  return {
    isTable: format !== 'ndjson',
    rows: (assertWanted) => boundedRows(read(), assertWanted),
    ...(encoding && { charset: encoding.toLowerCase() }),
    ...(format === 'csv' &&
      !/[\r\n]\0?$/.test(Buffer.from(file.subarray(-2)).toString('latin1')) && { endsOpen: true }),
  };
}

/** The largest accepted workbook takes half of this time. */
const maxReadMs = 60_000;

/** Reads the rows of a file without blocking the event loop. Rejects a file with too many cells or too slow to read. */
async function* boundedRows(file: AsyncIterable<Row[]> | Iterable<Row[]>, assertWanted?: () => void) {
  const pause = createPacer();
  let cells = 0;
  let readMs = 0;
  let start = performance.now();
  for await (const rows of file) {
    for (const row of rows) cells += row.cells.length;
    if (cells > maxFileCells) throw tooLarge(`has more than ${maxFileCells} cells`);
    readMs += performance.now() - start;
    await pause();
    assertWanted?.();
    if (readMs > maxReadMs) throw tooLarge(`takes more than ${maxReadMs / 1000} seconds to read`);
    yield rows;
    start = performance.now();
  }
}

const tooLarge = (what: string) =>
  new Problem('too_large', `The file ${what}. Nothing was imported. Split the file.`);

/** Checks the first bytes of the file, because its name or media type can be wrong. */
function rejectOtherFormat(format: FileFormat, file: Uint8Array): void {
  const startsWith = (...bytes: number[]) => bytes.every((byte, i) => file[i] === byte);
  if (startsWith(0xd0, 0xcf, 0x11, 0xe0)) {
    throw unreadable(
      'an old (.xls) or password-protected workbook. Save it as .xlsx without a password, or as CSV',
    );
  }
  if (isZip(file) && format !== 'xlsx')
    throw unreadable(
      `a workbook or another ZIP file, but it was sent as ${format.toUpperCase()}. Save it as .xlsx, and send it as that`,
    );
  if (!isZip(file) && format === 'xlsx')
    throw unreadable('not a workbook, but it was sent as one. Save it as .xlsx, or send it as CSV');
  if (
    format === 'csv' &&
    file.subarray(0, 1000).includes(0) &&
    !detectCharset(file.subarray(0, 2)).startsWith('utf-16')
  ) {
    throw unreadable('not text. Save it as “CSV UTF-8”');
  }
}

const unreadable = (what: string) => new Problem('malformed_request', `The file is ${what}.`);
