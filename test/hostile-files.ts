import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { columnName } from '../src/formats/rows.ts';
import { xlsxType } from '../src/formats/xlsx-write.ts';
import { zipped } from '../src/formats/zip.ts';

const mebibyte = 1024 * 1024;

export const fileTypesByFormat = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  xlsx: xlsxType,
};

/** Repeats a text up to a size. */
const repeatUpTo = (text: string, bytes: number) => text.repeat(Math.floor(bytes / Buffer.byteLength(text)));

async function workbook(parts: Record<string, Iterable<string>>): Promise<Buffer> {
  const all = {
    'xl/workbook.xml': ['<workbook><sheets><sheet r:id="a"/></sheets></workbook>'],
    ...parts,
  };
  const streams = Object.entries(all).map(
    ([name, content]) => [name, Readable.from(inChunks(content))] as const,
  );
  return Buffer.concat(await Array.fromAsync(zipped(streams)));
}

/** A stream takes longer for a chunk than for its text. */
function* inChunks(texts: Iterable<string>): Generator<string> {
  let chunk = '';
  for (const text of texts) {
    chunk += text;
    if (chunk.length < mebibyte) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}

/** Sheets whose names all lead to the same bytes of the file: one entry, or one for each name. */
export async function repeatedSheet(
  rows: Iterable<string>,
  isOneEntry: boolean,
  isLarge = false,
): Promise<Buffer> {
  const names = [...times(20, (i) => (isOneEntry ? 'sheet.xml' : `sheet${i}.xml`))];
  const parts: Record<string, Iterable<string>> = {
    'xl/workbook.xml': [
      `<workbook><sheets>${names.map((_, i) => `<sheet name="${i}" r:id="r${i}"/>`).join('')}</sheets></workbook>`,
    ],
    'xl/_rels/workbook.xml.rels': [
      `<Relationships>${names.map((name, i) => `<Relationship Id="r${i}" Target="${name}"/>`).join('')}</Relationships>`,
    ],
  };
  // Written last, because its record in the directory is repeated.
  const last = { [`xl/${names.at(-1)}`]: ['<worksheet><sheetData>', ...rows, '</sheetData></worksheet>'] };
  // Random bytes, so that the size of the file allows more work.
  if (isLarge) parts['xl/media/image.png'] = times(4000, () => randomBytes(250).toString('hex'));
  const file = await workbook({ ...parts, ...last });
  if (isOneEntry) return file;
  // Repeats the last record of the directory under the other names.
  const end = file.length - 22;
  const start = file.lastIndexOf('PK\u0001\u0002', end, 'latin1');
  const record = file.subarray(start, end);
  const others = names.slice(0, -1).map((name) => {
    const other = Buffer.concat([record.subarray(0, 46), Buffer.from(`xl/${name}`)]);
    other.writeUInt16LE(name.length + 3, 28);
    other.writeUInt16LE(0, 30);
    return other;
  });
  const tail = Buffer.from(file.subarray(end));
  const added = Buffer.concat(others).length;
  for (const at of [8, 10]) tail.writeUInt16LE(tail.readUInt16LE(at) + others.length, at);
  tail.writeUInt32LE(tail.readUInt32LE(12) + added, 12);
  return Buffer.concat([file.subarray(0, end), ...others, tail]);
}

/** Rows of cells that all refer to one text. */
const sharedTextBook = (text: string, rows: number) =>
  workbook({
    'xl/sharedStrings.xml': [`<sst><si><t xml:space="preserve">${text}</t></si></sst>`],
    'xl/worksheets/sheet1.xml': sheetOf(times(rows, () => '<row><c t="s"><v>0</v></c></row>')),
  });

/** Texts that nearly are dates. */
const almostDate = `1/1/20 0am${'t'.repeat(29)}!`;

/** As many short names as a table can have in each of the first rows. */
const rowOfNames = (row: number) => [...times(1000, (i) => `risk owner ${row} (${i}-5)`)];

const header = '<row><c t="inlineStr"><is><t>name</t></is></c></row>';

function* sheetOf(...content: Iterable<string>[]): Generator<string> {
  yield `<worksheet><sheetData>${header}`;
  for (const part of content) yield* part;
  yield '</sheetData></worksheet>';
}

const sheetBook = (...content: Iterable<string>[]) =>
  workbook({ 'xl/worksheets/sheet1.xml': sheetOf(...content) });

function* times(count: number, createText: (i: number) => string): Generator<string> {
  for (let i = 0; i < count; i++) yield createText(i);
}

/** A ZIP file whose directory repeats one entry up to the maximum count. */
function manyEntries(): Buffer {
  const entry = Buffer.alloc(46 + 300, 'a');
  entry.writeUInt32LE(0x02014b50, 0);
  entry.writeUInt16LE(300, 28);
  entry.writeUInt32LE(0, 30);
  entry.writeUInt32LE(0, 42);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(65_535, 10);
  end.writeUInt32LE(30, 16);
  const local = Buffer.alloc(30);
  local.writeUInt32LE(0x04034b50, 0);
  return Buffer.concat([local, ...Array(65_535).fill(entry), end]);
}

const marks = '\u0301\u0316';
const wide = `name,${Array.from({ length: 999 }, (_, i) => `attributes.a${i}`).join(',')}`;

/** The worst known files of each format. */
export const hostileFiles: Record<
  string,
  [format: keyof typeof fileTypesByFormat, create: () => Buffer | string | Promise<Buffer>]
> = {
  'a name of many words, in parts': [
    'csv',
    () => `First name,Last name\n${'a '.repeat(200_000)}${'b '.repeat(200_000)},x\n`,
  ],
  'a long column name above many rows': ['csv', () => `${'é'.repeat(400_000)},name\n${'1,x\n'.repeat(2000)}`],
  'long words in a column of choices': [
    'csv',
    () => `name,status\n${`x,${'é'.repeat(200_000)}\n`.repeat(10)}`,
  ],
  'unclosed CDATA sections': [
    'xlsx',
    () => sheetBook([`<row><c t="inlineStr"><is><t>${'<![CDATA['.repeat(100_000)}`]),
  ],
  'cells only in the last column of a sheet': [
    'xlsx',
    () => sheetBook(times(100_000, (i) => `<row r="${i + 2}"><c r="XFD${i + 2}"><v>1</v></c></row>`)),
  ],
  'blank rows that unpack to 480 MiB': [
    'xlsx',
    () => sheetBook(times(480, () => repeatUpTo('<row></row>', mebibyte))),
  ],
  'the maximum number of blank rows': [
    'xlsx',
    () => sheetBook(times(1_048_000, (i) => `<row r="${i + 2}" ht="${(i * 7919) % 1000}"/>`)),
  ],
  'merged cells of many columns and rows': [
    'xlsx',
    () => {
      const names = [...times(199, (i) => `<c t="inlineStr"><is><t>c${i}</t></is></c>`)].join('');
      const merges = times(199, (i) => `<mergeCell ref="${columnName(i + 1)}2:${columnName(i + 1)}900000"/>`);
      return workbook({
        'xl/worksheets/sheet1.xml': [
          `<worksheet><sheetData>${header.replace('</row>', `${names}</row>`)}`,
          `<row>${'<c><v>1</v></c>'.repeat(200)}</row>`,
          ...times(400_000, (i) => (i < 200_000 ? '<row/>' : '<row><c><v>1</v></c></row>')),
          `</sheetData><mergeCells>${[...merges].join('')}</mergeCells></worksheet>`,
        ],
      });
    },
  ],
  'rows of empty cells': [
    'xlsx',
    () => sheetBook(times(2000, (i) => `<row r="${i + 2}">${'<c/>'.repeat(16_000)}</row>`)),
  ],
  'unlimited attributes': ['xlsx', () => sheetBook(times(40_000, (i) => `<row a${i}="${i}" `))],
  'deeply nested elements': ['xlsx', () => sheetBook(times(500_000, () => '<a>'))],
  'an unterminated comment': [
    'xlsx',
    () =>
      sheetBook(
        ['<!--'],
        times(40_000, (i) => `${i * 7919} `.repeat(20)),
      ),
  ],
  'empty shared strings': [
    'xlsx',
    () =>
      workbook({
        'xl/sharedStrings.xml': ['<sst>', ...times(10, () => repeatUpTo('<si/>', mebibyte)), '</sst>'],
        'xl/worksheets/sheet1.xml': sheetOf(),
      }),
  ],
  'formats of brackets': [
    'xlsx',
    () =>
      workbook({
        'xl/styles.xml': [
          `<styleSheet><numFmt numFmtId="200" formatCode="${'['.repeat(1_000_000)}"/></styleSheet>`,
        ],
        'xl/worksheets/sheet1.xml': sheetOf(),
      }),
  ],
  'twenty sheets that are one entry': [
    'xlsx',
    () =>
      repeatedSheet(
        times(16, () => repeatUpTo('<c/>', mebibyte - 10)),
        true,
      ),
  ],
  'twenty sheets that are the same bytes': [
    'xlsx',
    () =>
      repeatedSheet(
        times(16, () => repeatUpTo('<c/>', mebibyte - 10)),
        false,
      ),
  ],
  'twenty sheets of names': [
    'xlsx',
    () =>
      repeatedSheet(
        times(
          30,
          (i) =>
            `<row>${rowOfNames(i)
              .map((name) => `<c t="str"><v>${name}</v></c>`)
              .join('')}</row>`,
        ),
        false,
        true,
      ),
  ],
  'a long shared text of quotes': ['xlsx', () => sharedTextBook("'".repeat(1_000_000), 10_000)],
  'a long shared text of blanks': ['xlsx', () => sharedTextBook(`${' '.repeat(1_000_000)}x`, 15)],
  'a long shared text of letters': ['xlsx', () => sharedTextBook('é'.repeat(500_000), 30)],
  'a shared text of many runs': [
    'xlsx',
    () =>
      workbook({
        'xl/sharedStrings.xml': [
          '<sst><si>',
          ...times(15, () => `<t>${repeatUpTo('_x0041_', mebibyte - 100)}</t>`),
          '</si></sst>',
        ],
        'xl/worksheets/sheet1.xml': sheetOf(),
      }),
  ],
  'nested entities': [
    'xlsx',
    () =>
      workbook({
        'xl/worksheets/sheet1.xml': [
          `<!DOCTYPE a [<!ENTITY a "aaaa">${[...times(20, (i) => `<!ENTITY a${i} "&a${i - 1};&a${i - 1};">`)].join('')}]>`,
          ...sheetOf(['<row><c t="inlineStr"><is><t>&a19;</t></is></c></row>']),
        ],
      }),
  ],
  'a directory of 65,535 parts': ['xlsx', manyEntries],
  'blank lines': ['csv', () => `name\n${repeatUpTo('\n', 30 * mebibyte)}`],
  'blank rows': ['csv', () => `name,title\n${repeatUpTo(',\r\n', 30 * mebibyte)}`],
  'an unterminated quoted cell': ['csv', () => `name\n"${repeatUpTo('x"" ', 30 * mebibyte)}`],
  'rows of quoted empty cells': [
    'csv',
    () => `name,title\n${repeatUpTo(`${'"",'.repeat(300_000)}\n`, 30 * mebibyte)}`,
  ],
  'rows of commas': ['csv', () => `name,title\n${repeatUpTo(`a${','.repeat(1_000_000)}\n`, 30 * mebibyte)}`],
  'a very long first line': ['csv', () => repeatUpTo('",', 30 * mebibyte)],
  'rows of a thousand long cells': [
    'csv',
    () => `${wide}\n${repeatUpTo(`${`"${'é'.repeat(500)}",`.repeat(999)}x\n`, 30 * mebibyte)}`,
  ],
  'a thousand unknown columns': [
    'csv',
    () => `${Array.from({ length: 1000 }, (_, i) => `manager e-mial ${i}`).join(',')}\n`,
  ],
  'rows of a thousand names': ['csv', () => [...times(30, (i) => `${rowOfNames(i).join(',')}\n`)].join('')],
  'columns of almost dates': [
    'csv',
    () => `name,start_on,end_on\n${repeatUpTo(`a,${almostDate},${almostDate}\n`, mebibyte)}`,
  ],
  'names with blanks after a comma': [
    'csv',
    () => `name,manager\n${repeatUpTo(`a,"b,${' '.repeat(900_000)}c,d"\n`, 10 * mebibyte)}`,
  ],
  'bytes of no encoding': [
    'csv',
    () => Buffer.concat([Buffer.from(`name\n${repeatUpTo('éa', 10 * mebibyte)}`), Buffer.from([0xff])]),
  ],
  'columns with long names': ['csv', () => `name,${'manager '.repeat(60_000)},${'x'.repeat(400_000)}\n`],
  'texts of combining marks': [
    'csv',
    () => `name,skills,title\n${repeatUpTo(`a${marks.repeat(100_000)},b,c\n`, 10 * mebibyte)}`,
  ],
  'lists of empty items': [
    'csv',
    () => `name,skills\n${repeatUpTo(`a,${';x'.repeat(400_000)}\n`, 10 * mebibyte)}`,
  ],
  'very long manager names': [
    'csv',
    () => `name,manager\n${repeatUpTo(`a,${'x'.repeat(900_000)}\n`, 10 * mebibyte)}`,
  ],
  'JSON cells of brackets': [
    'csv',
    () =>
      `name,attributes,skills\n${repeatUpTo(`a,${'['.repeat(400_000)},${'['.repeat(400_000)}\n`, 10 * mebibyte)}`,
  ],
  'lines of brackets': ['ndjson', () => repeatUpTo(`${'['.repeat(mebibyte - 10)}\n`, 30 * mebibyte)],
  'nested objects': [
    'ndjson',
    () => repeatUpTo(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}\n`, 10 * mebibyte),
  ],
  'lists of numbers': [
    'ndjson',
    () => repeatUpTo(`{"name":"a","skills":[${'1,'.repeat(9000)}1]}\n`, 10 * mebibyte),
  ],
  'objects with unknown members': [
    'ndjson',
    () =>
      repeatUpTo(`{${Array.from({ length: 900 }, (_, i) => `"manager_${i}":1`).join(',')}}\n`, 10 * mebibyte),
  ],
  'members with long names': [
    'ndjson',
    () =>
      repeatUpTo(
        `{"name":"a","${'x'.repeat(500_000)}":1,"manager_user_id":"${'y'.repeat(400_000)}"}\n`,
        10 * mebibyte,
      ),
  ],
  'names of combining marks': [
    'ndjson',
    () =>
      repeatUpTo(`{"name":"a${marks.repeat(100_000)}","${`b${marks.repeat(20_000)}`}":1}\n`, 10 * mebibyte),
  ],
  'a very long line': ['ndjson', () => repeatUpTo('{"a":1},', 30 * mebibyte)],
};
