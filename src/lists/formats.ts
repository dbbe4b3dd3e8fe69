import type { TObject } from 'typebox';
import { Problem } from '../errors.ts';

/** How the pieces of a list become bytes. `close` is the place for what is known only after the last row. */
export type Format = {
  type: string;
  open(schema: TObject): string;
  row(json: string, isFirst: boolean, schema: TObject): string;
  close(page: unknown, meta: unknown): string;
};

const formats: Format[] = [
  {
    type: 'application/json',
    open: () => '{"data":[',
    row: (json, isFirst) => (isFirst ? json : `,${json}`),
    close: (page, meta) => `],"page":${JSON.stringify(page)},"meta":${JSON.stringify(meta)}}`,
  },
  {
    type: 'application/x-ndjson',
    open: () => '',
    row: (json) => `${json}\n`,
    close: () => '',
  },
  {
    type: 'text/csv',
    open: (schema) => csvLine(Object.keys(schema.properties)),
    row: (json, _, schema) => {
      const row = JSON.parse(json);
      return csvLine(Object.keys(schema.properties).map((field) => row[field]));
    },
    close: () => '',
  },
];

export const listMediaTypes = formats.map(({ type }) => type);

/** The format the client likes best. */
export function chooseFormat(accept?: string): Format {
  const wishes = (accept?.trim() || '*/*')
    .split(',')
    .map((wish) => {
      const [range = '', ...parameters] = wish.split(';').map((part) => part.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
      return { range, weight: Number(weight) };
    })
    .sort((a, b) => b.weight - a.weight);
  const unwanted = wishes.filter(({ weight }) => !(weight > 0)).map(({ range }) => range);
  for (const { range } of wishes.filter(({ weight }) => weight > 0)) {
    const format = formats.find(
      ({ type }) => !unwanted.includes(type) && [type, `${type.split('/')[0]}/*`, '*/*'].includes(range),
    );
    if (format) return format;
  }
  throw new Problem(
    'not_acceptable',
    `No format of this list is acceptable to you. Accept one of ${listMediaTypes.join(', ')}.`,
    { extra: { available: listMediaTypes } },
  );
}

const csvLine = (values: unknown[]) => `${values.map(csvCell).join(',')}\r\n`;

/** RFC 4180. A text that a spreadsheet would run as a formula is made a plain text by a quote before it. */
function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? listOrMap(value) : String(value);
  const harmless = typeof value !== 'number' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

const listOrMap = (value: object) =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')
    ? value.join('; ')
    : JSON.stringify(value);
