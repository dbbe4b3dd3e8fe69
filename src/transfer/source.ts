import { Problem } from '../core/errors.ts';
import { joinWords } from '../core/text.ts';
import { boundedRows } from '../formats/bounded.ts';
import { readCsv } from '../formats/csv.ts';
import { readNdjson } from '../formats/ndjson.ts';
import { readXlsx, xlsxType } from '../formats/xlsx.ts';
import type { Source } from './run.ts';

type FileFormat = 'csv' | 'ndjson' | 'xlsx';

/** What files may be, by the types they are sent as and the names they are kept under. */
const formats: Record<FileFormat, { types: readonly string[]; endings: readonly string[] }> = {
  csv: { types: ['text/csv', 'text/tab-separated-values'], endings: ['csv', 'tsv', 'txt'] },
  ndjson: {
    types: ['application/x-ndjson', 'application/ndjson', 'application/jsonl'],
    endings: ['ndjson', 'jsonl'],
  },
  xlsx: { types: [xlsxType], endings: ['xlsx'] },
};

export const fileTypes = Object.values(formats).flatMap(({ types }) => types);

/** The format of a file that is sent with this type, and the charset it names. */
export function formatOfType(header: string | undefined): { format: FileFormat; charset?: string } {
  const [type = '', ...parameters] = (header ?? '').split(';').map((part) => part.trim().toLowerCase());
  const format = formatWith(({ types }) => types.includes(type));
  if (!format) {
    throw new Problem(
      'unsupported_media_type',
      `Send the file itself as the body, with \`Content-Type: text/csv\`, \`application/x-ndjson\` or \`${xlsxType}\`.`,
    );
  }
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  return { format, ...(charset && { charset: charset.replaceAll('"', '') }) };
}

/** The format of a file by its name, or, when that does not tell, by how it begins. */
export function formatOf(name: string, file: Uint8Array): FileFormat {
  const named = formatWith(({ endings }) =>
    endings.some((ending) => name.toLowerCase().endsWith(`.${ending}`)),
  );
  if (named) return named;
  const [first = ''] = Buffer.from(file.subarray(0, 1000)).toString().trimStart();
  if (isZip(file)) return 'xlsx';
  return first === '{' ? 'ndjson' : 'csv';
}

const isZip = ([first, second, third, fourth]: Uint8Array) =>
  first === 0x50 && second === 0x4b && third === 0x03 && fourth === 0x04;

const formatWith = (suits: (format: (typeof formats)[FileFormat]) => boolean) =>
  (Object.keys(formats) as FileFormat[]).find((format) => suits(formats[format]));

export function sourceOf(format: FileFormat, file: Uint8Array, charset?: string): Source {
  rejectOtherFormat(format, file);
  const read = {
    csv: () => readCsv(file, charset),
    ndjson: () => readNdjson(file),
    xlsx: () => readXlsx(file),
  }[format];
  return { isTable: format !== 'ndjson', rows: () => boundedRows(read()) };
}

/** Files of these kinds are told by their first bytes; a name or a type may be wrong. */
function rejectOtherFormat(format: FileFormat, file: Uint8Array): void {
  const begins = (...bytes: number[]) => bytes.every((byte, i) => file[i] === byte);
  if (begins(0xd0, 0xcf, 0x11, 0xe0)) {
    throw unreadable(
      'an old workbook (.xls) or one with a password. Save it as .xlsx without a password, or as CSV',
    );
  }
  if (isZip(file) && format !== 'xlsx')
    throw unreadable(`a workbook or a ZIP file, not ${joinWords(formats[format].types)}`);
  if (!isZip(file) && format === 'xlsx')
    throw unreadable('no workbook (.xlsx); it may be CSV under another name');
  if (format === 'csv' && !begins(0xff, 0xfe) && !begins(0xfe, 0xff) && file.subarray(0, 1000).includes(0)) {
    throw unreadable('no text. Save it as “CSV UTF-8”');
  }
}

const unreadable = (what: string) => new Problem('malformed_request', `The file is ${what}.`);
