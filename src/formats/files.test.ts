import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import readExcelFile from 'read-excel-file/node';
import writeExcelFile from 'write-excel-file/node';
import { repeatedSheet } from '../../test/hostile-files.ts';
import { sheetRows, workbook, workbookOf } from '../../test/workbook.ts';
import { sourceOf } from '../import/source.ts';
import { cellReader, escapeFormula, unescapeFormulas, writeCell } from './cells.ts';
import { csvLine, readCsv } from './csv.ts';
import { repeatedMember } from './json.ts';
import { readNdjson } from './ndjson.ts';
import { plainLayout, type Row } from './rows.ts';
import { readXlsx } from './xlsx.ts';
import { packXlsx, sheet } from './xlsx-write.ts';
import { entriesOf, zipped } from './zip.ts';

const csv = (text: string | Uint8Array, charset?: string): Row[] =>
  [...readCsv(typeof text === 'string' ? Buffer.from(text) : text, charset)].flat().filter(isNoHeader);
const isNoHeader = ({ isHeader }: Row) => !isHeader;
const cells = (rows: Row[]) => rows.map((row) => row.cells);

test('reads CSV with any common delimiter and line ending', () => {
  for (const separator of [',', ';', '\t', '|']) {
    for (const newline of ['\n', '\r\n', '\r']) {
      const text = [
        ['name', 'title'],
        ['Ada', ''],
        ['Bob', 'x y'],
      ]
        .map((row) => row.join(separator) + newline)
        .join('');
      assert.deepEqual(csv(text), [
        { line: 2, names: ['name', 'title'], cells: ['Ada', ''] },
        { line: 3, names: ['name', 'title'], cells: ['Bob', 'x y'] },
      ]);
    }
  }
  assert.deepEqual(cells(csv('sep=;\r\na;b\r\n1,5;2')), [['1,5', '2']]);
  assert.deepEqual(csv('a,b'), []);
});

test('reads quoted line breaks and reports the line numbers of the file', () => {
  const rows = csv('\ufeffname,note\r\n\r\nAda,"one\r\ntwo, ""three"""\r\n,\r\nBob,5" pipe\r\n"Eve",x');
  assert.deepEqual(
    rows.map(({ line, cells }) => [line, ...cells]),
    [
      [3, 'Ada', 'one\ntwo, "three"'],
      [6, 'Bob', '5" pipe'],
      [7, 'Eve', 'x'],
    ],
  );
});

test('reports rows with too few or too many cells, or with invalid quotes', () => {
  const [short, long] = csv('a,b\n1\n1,2,3\n');
  assert.equal(
    short?.error,
    'This row has 1 cell, but the header has 2. If the last cells are empty, add their separators. If a text has a line break, put it in quotes.',
  );
  assert.match(long?.error ?? '', /has 3 cells, .* Put text with a comma/);
  assert.match(csv('a,b\n1,2,,\n')[0]?.error ?? '', /has 4 cells, .* Remove the empty cells at its end/);
  assert.throws(() => csv('a,b\n1,2\n3,"4\n5,6\n'), /row on line 3 cannot be read: a quote is never closed/);
  const [wide] = csv(`a,b\n"1"${',2'.repeat(400_000)}\n`);
  assert.match(wide?.error ?? '', /has 400001 cells/, 'in linear time');
  assert.throws(() => csv(`a${',b'.repeat(1000)}\n`), /line 1 cannot be read: it has more than 1000 columns/);
  assert.throws(() => csv('a,b\n"1"x,2\n'), /line 2 cannot be read: text follows a closing quote/);
  assert.throws(() => csv(`a,b\n1,"${'2\n'.repeat(1_000_000)}`), /line 2 .* longer than 1 MiB/);
});

test('reads UTF-8, UTF-16 with a byte order mark and a named charset, and reports invalid bytes', () => {
  const text = 'name;title\nZoë;Ingénieure\n';
  const expected = [['Zoë', 'Ingénieure']];
  assert.deepEqual(cells(csv(text)), expected);
  assert.deepEqual(cells(csv(Buffer.from(`\ufeff${text}`, 'utf16le'))), expected);
  assert.deepEqual(cells(csv(Buffer.from(text, 'latin1'), 'iso-8859-1')), expected);
  assert.deepEqual(cells(csv(Buffer.from(text, 'latin1'))), expected);
  // A damaged file in UTF-8 is not read as another encoding.
  const damaged = Buffer.concat([Buffer.from(`${text}Adé;`), Buffer.from([0xe9, 0x0a])]);
  assert.throws(() => csv(damaged), /not UTF-8: line 3 has invalid bytes.*`charset`/);
  assert.throws(() => csv(text, 'klingon'), /charset “klingon” is not supported/);
});

test('reads CSV the same way wherever a piece of the file ends', () => {
  const rest = 'a,"b\r\n""c"""\r\nd,"e"\r\n"f",g\r\nÄ,ö\r\n';
  for (let filled = 65_480; filled < 65_540; filled++) {
    const rows = csv(`x,y\r\n1,${'-'.repeat(filled)}\r\n${rest}`);
    assert.deepEqual(
      cells(rows).slice(1),
      [
        ['a', 'b\n"c"'],
        ['d', 'e'],
        ['f', 'g'],
        ['Ä', 'ö'],
      ],
      `${filled}`,
    );
  }
});

/** Texts as the service stores them: trimmed and without control characters. */
const text = fc
  .oneof(
    fc.string({ unit: 'grapheme', maxLength: 20 }),
    fc.constantFrom(
      '=1+1',
      "'=x",
      "''-1",
      '+44 20',
      '@a',
      '＝1+1',
      '＋44',
      "'－1",
      '＠a',
      'a;b',
      '[x',
      'a, "b"',
      'a\nb\tc',
      '_x000D_',
      '<&>',
      '\uffff',
    ),
  )
  // biome-ignore lint/suspicious/noControlCharactersInRegex: stored texts have none of these
  .map((value) => value.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '').trim())
  .filter((value) => value !== '');

const value = fc.oneof(
  text,
  fc.constant(null),
  fc.array(text, { maxLength: 4 }),
  fc.dictionary(text, text, { maxKeys: 3, noNullPrototype: true }),
);
const readers = {
  text: cellReader({ type: ['string', 'null'] }),
  list: cellReader({ type: 'array' }),
  map: cellReader({ type: 'object' }),
};
const readBack = (original: unknown, cell: unknown) =>
  (Array.isArray(original)
    ? readers.list
    : typeof original === 'object' && original
      ? readers.map
      : readers.text)(cell);

test('CSV round-trips, with formulas escaped in the file', () => {
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 5 }), (row) => {
      const names = row.map((_, i) => `c${i}`);
      for (const one of row) assert.doesNotMatch(csvLine([writeCell(one)]), /^"?[=+@＝＋＠－-]/);
      const [read] = csv(csvLine(['first', ...names]) + csvLine(['1', ...row.map(writeCell)]));
      assert.deepEqual(
        row.map((original, i) => readBack(original, read?.cells[i + 1])),
        row,
      );
    }),
    { numRuns: 1000 },
  );
});

const xlsx = async (file: Uint8Array) => (await Array.fromAsync(readXlsx(file))).flat().filter(isNoHeader);

test('a workbook round-trips with this reader and with another library', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 5 }), async (row) => {
      const file = await workbook([
        ['first', ...row.map((_, i) => `c${i}`)],
        [1, ...row.map(writeCell)],
      ]);
      const [read] = await xlsx(file);
      assert.equal(read?.line, 2);
      assert.deepEqual(
        row.map((original, i) => readBack(original, read?.cells[i + 1])),
        row,
      );
    }),
    { numRuns: 200 },
  );
  const file = await workbook([
    ['name', 'n', 'yes', 'none'],
    ['Zoë <&> "x"\ny', 4.5, true, null],
    ['𝒜', 0, false, 'z'],
  ]);
  const [read] = await readExcelFile(file);
  assert.deepEqual(read?.data, [
    ['name', 'n', 'yes', 'none'],
    ['Zoë <&> "x"\ny', 4.5, true, null],
    ['𝒜', 0, false, 'z'],
  ]);
});

test('reads workbooks of another library: shared strings, dates, numbers', async () => {
  const day = new Date('2026-11-15T00:00:00Z');
  const rows = [
    ['Name', 'Since', 'Badge', 'Is <in>'],
    ['Zoë & Co', { value: day, format: 'yyyy-mm-dd', type: Date }, 4711, true],
    ['Bob', null, null, false],
  ];
  const file = await writeExcelFile(rows as never).toBuffer();
  const [zoe, bob] = await xlsx(file);
  assert.deepEqual(zoe?.names, ['Name', 'Since', 'Badge', 'Is <in>']);
  assert.equal(zoe?.cells[0], 'Zoë & Co');
  assert.equal(zoe?.cells[1], '2026-11-15');
  assert.equal(cellReader({ type: ['string', 'null'] })(zoe?.cells[2]), '4711');
  assert.deepEqual([zoe?.cells[3], bob?.cells[0], bob?.cells[3]], [true, 'Bob', false]);
});

test('writes days and times as dates, and the sheet is named, filtered and frozen', async () => {
  const columns = [
    { name: 'due_on', width: 12, kind: 'day' as const },
    { name: 'created_at', width: 20, kind: 'time' as const },
  ];
  async function* xml() {
    yield sheet.open(columns);
    yield sheet.row(2, ['2026-11-15', '2026-11-15T12:00:00.000Z'], columns);
    yield sheet.row(3, ['1066-10-14', null], columns);
    yield sheet.close(columns, 2);
  }
  const file = Buffer.concat(await Array.fromAsync(packXlsx(xml(), 'R & D')));
  const [read] = await readExcelFile(file);
  assert.equal(read?.sheet, 'R & D');
  assert.deepEqual(read?.data, [
    ['due_on', 'created_at'],
    [new Date('2026-11-15T00:00:00Z'), new Date('2026-11-15T12:00:00Z')],
    ['1066-10-14', null],
  ]);
  const entry = (await entriesOf(file)).get('xl/worksheets/sheet1.xml');
  const sheetXml = Buffer.concat(await Array.fromAsync(entry?.content(10_000) ?? [])).toString();
  assert.match(sheetXml, /<pane ySplit="1"[^>]*state="frozen"/);
  assert.match(sheetXml, /<autoFilter ref="A1:B3"/);
  assert.match(sheetXml, /<col min="2" max="2" width="20"/);
});

test('a number is a date if its cell shows one, and in a column of dates if it is no year', async () => {
  const columns = [{ name: 'a', width: 9, kind: 'time' as const }];
  async function* xml() {
    yield sheet.open(columns);
    yield sheet.row(2, ['2026-11-15T23:59:59.000Z'], columns);
    yield sheet.row(3, [46_341.99999], columns);
    yield sheet.close(columns, 2);
  }
  const [shown, plain] = await xlsx(Buffer.concat(await Array.fromAsync(packXlsx(xml(), 'Sheet 1'))));
  assert.deepEqual([shown?.cells, plain?.cells], [['2026-11-15 23:59:59'], [46_341.99999]]);
  const readDay = cellReader({ type: ['string', 'null'], format: 'date' });
  assert.deepEqual([46_341.99999, 2026, 20_261_115, 46_097.333333333].map(readDay), [
    '2026-11-15',
    '2026',
    '20261115',
    '2026-03-16',
  ]);
});

test('rejects a row with a formula that has no result, which is not an empty cell', async () => {
  const file = await workbookOf([
    {
      name: 'Risks',
      rows:
        sheetRows(['name', 'title']) +
        '<row r="2"><c r="A2" t="str"><f>A1</f></c></row><row r="3"><c r="A3"><f>1+1</f><v/></c></row>' +
        '<row r="4"><c r="A4" t="str"><f>B1</f><v></v></c><c r="B4" t="str"><f>B1</f><v>x</v></c></row>',
    },
  ]);
  const [missing, empty, fine] = await xlsx(file);
  assert.match(missing?.error ?? '', /^The cell A2 of the sheet “Risks” has a formula without a result/);
  assert.match(empty?.error ?? '', /^The cell A3 .* formula without a result/);
  assert.deepEqual([fine?.error, fine?.cells[1]], [undefined, 'x']);
});

test('reads the cells of a workbook as they are shown', async () => {
  const book = (rows: string, date1904 = '') =>
    files({
      'xl/workbook.xml': `<workbook><workbookPr ${date1904}/><sheets><sheet name="s"/></sheets></workbook>`,
      'xl/styles.xml':
        '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="00000000"/></numFmts>' +
        '<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="14"/></cellXfs></styleSheet>',
      'xl/worksheets/sheet1.xml': `<worksheet><sheetData><row r="1"><c t="str"><v>id</v></c><c t="str"><v>name</v></c><c t="str"><v>day</v></c></row>${rows}</sheetData></worksheet>`,
    });
  const number = (value: number, style: number) => `<c s="${style}"><v>${value}</v></c>`;
  const name = '<c t="str"><v>Ada</v></c>';
  const rows = `<row r="2">${number(123, 1)}${name}${number(45_000, 2)}</row><row r="3">${number(123, 0)}${name}${number(45_000, 0)}</row>`;
  assert.deepEqual(cells(await xlsx(await book(rows))), [
    ['00000123', 'Ada', '2023-03-15'],
    [123, 'Ada', 45_000],
  ]);
  // Another date system: a number without the style of a date is no day of either of them.
  assert.deepEqual(cells(await xlsx(await book(rows, 'date1904="1"'))), [
    ['00000123', 'Ada', '2027-03-16'],
    ['123', 'Ada', '45000'],
  ]);
  const broken = '<c r="A2" t="e"><v>#N/A</v></c>';
  const [row] = await xlsx(await book(`<row r="2">${broken}${name}${number(45_000, 2)}</row>`));
  assert.deepEqual(row?.cells, ['#N/A', 'Ada', '2023-03-15']);
  assert.match(row?.error ?? '', /^The cell A2 of the sheet “s” contains an error/);
});

test('reads a number as a day only if it is one of this time', () => {
  const read = cellReader({ type: 'string', format: 'date' });
  assert.deepEqual([18_264, 45_000, 73_415, 18_263, 73_416, 151_000, 2026].map(read), [
    '1950-01-01',
    '2023-03-15',
    '2100-12-31',
    '18263',
    '73416',
    '151000',
    '2026',
  ]);
});

test('reads a text that keeps its zeros by a formula', () => {
  assert.deepEqual(cells(csv('id,name\r\n="00123",Ada\r\n"=""00124""",Grace\r\n="a"&"b",=x\r\n')), [
    ['00123', 'Ada'],
    ['00124', 'Grace'],
    ['="a"&"b"', '=x'],
  ]);
});

test('reads the first sheet that is not hidden, or the named one', async () => {
  const file = await workbookOf([
    { name: 'Lists', state: 'veryHidden', rows: sheetRows(['a', 'b'], ['1', '2']) },
    { name: 'Old', state: 'hidden', rows: sheetRows(['a', 'b'], ['3', '4']) },
    { name: 'Risks', rows: sheetRows(['a', 'b'], ['5', '6']) },
    { name: 'Notes', rows: sheetRows(['a', 'b'], ['7', '8']) },
  ]);
  const cellsOf = async (sheetName?: string) => {
    const [header, row] = (await Array.fromAsync(readXlsx(file, sheetName))).flat();
    return [row?.cells[0], header?.sheet];
  };
  assert.deepEqual(await cellsOf(), [
    '5',
    { name: 'Risks', visible: ['Risks', 'Notes'], others: ['Lists (hidden)', 'Old (hidden)', 'Notes'] },
  ]);
  assert.deepEqual(await cellsOf('old'), [
    '3',
    { name: 'Old', visible: ['Risks', 'Notes'], others: ['Lists (hidden)', 'Risks', 'Notes'] },
  ]);
  await assert.rejects(
    cellsOf('Issues'),
    /no sheet “Issues”. Its sheets are “Lists”, “Old”, “Risks” and “Notes”/,
  );
});

test('finds the header below titles', async () => {
  const titled = 'Risk register;;\r\n;;\r\nas of today;;\r\nID;Title;\r\n1;x;\r\n2;;\r\n';
  assert.deepEqual(cells(csv(titled)), [
    ['1', 'x', ''],
    ['2', '', ''],
  ]);
  const file = await workbookOf([
    { name: 's', rows: sheetRows(['Risk register'], ['ID', 'Title'], ['1'], ['2', 'y']) },
  ]);
  assert.deepEqual(cells(await xlsx(file)), [['1'], ['2', 'y']]);
  // A table of one column has no titles.
  assert.deepEqual(cells(csv(`name\n${'Ada\n'.repeat(30)}`)).length, 30);
  assert.deepEqual(cells(csv('name,\nAda,\n')), [['Ada', '']]);
});

const files = (parts: Record<string, string>) =>
  Array.fromAsync(zipped(Object.entries(parts).map(([name, content]) => [name, [content]] as const))).then(
    (pieces) => Buffer.concat(pieces),
  );
const bookOf = (sheetXml: string, strings?: string) =>
  files({
    'xl/workbook.xml': '<x:workbook><x:sheets><x:sheet name="s" r:id="rId7"/></x:sheets></x:workbook>',
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="rId7" Target="/xl/worksheets/other.xml"/></Relationships>',
    'xl/worksheets/other.xml': sheetXml,
    ...(strings && { 'xl/sharedStrings.xml': strings }),
  });

test('reads namespace prefixes, text runs, gaps between cells, and rows without numbers', async () => {
  const file = await bookOf(
    '<x:worksheet><x:sheetData><x:row><x:c t="s"><x:v>0</x:v></x:c><x:c r="C1" t="str"><x:v>note</x:v></x:c></x:row>' +
      '<x:row/><x:row r="5"><x:c r="A5" t="s"><x:v>1</x:v></x:c><x:c r="C5"><x:f>1+1</x:f><x:v>2</x:v></x:c></x:row></x:sheetData></x:worksheet>',
    '<sst><si><t>name</t></si><si><r><t>A</t></r><r><t xml:space="preserve"> b</t></r><rPh><t>x</t></rPh></si></sst>',
  );
  assert.deepEqual(await xlsx(file), [
    { line: 5, names: ['name', '', 'note'], cells: Object.assign(['A b'], { 2: 2 }) },
  ]);
});

test('rejects a file that is not a workbook, is damaged, or is a ZIP bomb', async () => {
  const rejects = async (file: Uint8Array, code: string, why: RegExp) =>
    assert.rejects(xlsx(file), (problem: Error & { code: string }) => {
      assert.match(problem.message, why);
      assert.equal(problem.code, code);
      return true;
    });
  await rejects(Buffer.from('PK\u0003\u0004 and no more'), 'malformed_request', /truncated or damaged/);
  const whole = await workbook([['name'], ['Ada']]);
  await rejects(whole.subarray(0, 200), 'malformed_request', /truncated or damaged/);
  await rejects(await files({ 'readme.txt': 'x' }), 'malformed_request', /contains no workbook/);
  await rejects(
    await bookOf(`<worksheet><sheetData><row r="1048577"><c t="n"><v>1</v></c></row>`),
    'malformed_request',
    /beyond the limit of a sheet/,
  );
  await rejects(
    await bookOf(`<worksheet><sheetData><row><c t="inlineStr"><is><t>${'x'.repeat(1_100_000)}`),
    'malformed_request',
    /longer than 1 MiB/,
  );

  // 600 MiB of spaces compress to less than a mebibyte.
  async function* blanks() {
    for (let i = 0; i < 600; i++) yield ' '.repeat(1024 * 1024);
  }
  const bomb = Buffer.concat(
    await Array.fromAsync(
      zipped([
        ['xl/workbook.xml', ['<workbook><sheets><sheet r:id="a"/></sheets></workbook>']],
        ['xl/worksheets/sheet1.xml', blanks()],
      ]),
    ),
  );
  await rejects(bomb, 'too_large', /sheet1\.xml would unpack to more than \d+ MiB/);
  // The same with a false size in the directory.
  const misstated = Buffer.from(bomb);
  misstated.writeUInt32LE(1000, directoryEntry(misstated, 'xl/worksheets/sheet1.xml') + 24);
  let unpacked = 0;
  await assert.rejects(async () => {
    const entry = (await entriesOf(misstated)).get('xl/worksheets/sheet1.xml');
    for await (const piece of entry?.content(1024 * 1024) ?? []) unpacked += piece.length;
  }, /truncated or damaged/);
  assert.ok(unpacked <= 1000);
});

/** The position of the last occurrence of a name in a ZIP file, which is in the central directory. */
const directoryEntry = (file: Buffer, name: string) => file.lastIndexOf(name) - 46;

test('rejects a workbook that is encrypted or compressed by another method', async () => {
  const whole = await workbook([['name'], ['Ada']]);
  const at = directoryEntry(whole, 'xl/workbook.xml');
  const changed = (offset: number, value: number) => {
    const copy = Buffer.from(whole);
    copy.writeUInt16LE(value, at + offset);
    return xlsx(copy);
  };
  await assert.rejects(changed(8, 0x0801), /it is encrypted/);
  await assert.rejects(changed(8, 0x0841), /it is encrypted/);
  await assert.rejects(changed(10, 12), /its compression method \(12\) is not supported/);
});

test('equal content produces equal workbooks', async (t) => {
  const rows = [['name'], ['Ada']];
  const first = await workbook(rows);
  t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2030, 1, 1) });
  assert.deepEqual(await workbook(rows), first);
});

test('an error in the content of a workbook reaches its reader, and a reader that stops ends the content', async () => {
  let isEnded = false;
  async function* content(error?: Error) {
    try {
      for (let i = 0; i < 1_000_000; i++) {
        if (error && i === 1000) throw error;
        yield `<row r="${i}">${Math.sin(i)}</row>`.repeat(10);
      }
    } finally {
      isEnded = true;
    }
  }
  await assert.rejects(Array.fromAsync(packXlsx(content(new Error('lost')), 's')), /lost/);
  isEnded = false;
  let bytes = 0;
  for await (const piece of packXlsx(content(), 's')) {
    bytes += piece.length;
    if (bytes > 100_000) break;
  }
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(isEnded);
});

test('rejects truncated XML, and a document type before any entity is expanded', async () => {
  const rejected = async (sheetXml: string, why: RegExp) =>
    assert.rejects(bookOf(sheetXml).then(xlsx), (problem: Error & { code: string }) => {
      assert.match(problem.message, why);
      assert.equal(problem.code, 'malformed_request');
      return true;
    });
  const cell = (content: string) =>
    `<worksheet><sheetData><row><c t="inlineStr"><is><t>${content}</t></is></c></row></sheetData></worksheet>`;
  await rejected(`<!DOCTYPE x [<!ENTITY a "aaaa">]>${cell('&a;')}`, /document type/);
  await rejected(cell('&a;'), /XML is broken/);
  await rejected(cell('<![CDATA['.repeat(250)), /XML is cut off/);
  await rejected(cell('x').slice(0, 60), /XML is cut off/);
  await rejected(cell('<b>'.repeat(200)), /nested too deep/);
  assert.deepEqual(
    cells(
      await xlsx(
        await bookOf(
          cell('name').replace(
            '</row>',
            '</row><row><c t="inlineStr"><is><t>a<![CDATA[<b>]]>&amp;c</t></is></c></row>',
          ),
        ),
      ),
    ),
    [['a<b>&c']],
  );
});

test('reports a cell far beyond the header without storing the cells before it', async () => {
  const file = await bookOf(
    '<worksheet><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>name</t></is></c></row>' +
      '<row r="2"><c r="XFD2"><v>1</v></c></row></sheetData></worksheet>',
  );
  const [row] = await xlsx(file);
  assert.match(row?.error ?? '', /^Column XFD has a value in this row/);
  assert.equal(row?.cells.length, 0);
});

test('reads rows that span many pieces of the file', () => {
  for (const cell of ['"x ""y"" z"', '""', 'plain'.repeat(20)]) {
    const row = ['x', ...Array(999).fill(cell)].join(',');
    const [read] = csv(`${Array.from({ length: 1000 }, (_, i) => `c${i}`).join(',')}\n${row}\n`);
    assert.deepEqual([read?.error, read?.cells.length], [undefined, 1000]);
  }
});

test('rejects more blank rows than a sheet has', () => {
  assert.throws(() => csv(`a\n${'\n'.repeat(1_048_577)}`), /more than 1048576 blank rows/);
  assert.throws(() => [...readNdjson(Buffer.from('\n'.repeat(1_048_578)))], /more than 1048576 blank rows/);
});

test('rejects JSON with too many values before parsing it', () => {
  const [nested, text] = [
    ...readNdjson(Buffer.from(`${'['.repeat(500_000)}\n{"a":"${'[,{'.repeat(100_000)}"}`)),
  ].flat();
  assert.match(nested?.error ?? '', /it has more than 10000 values/);
  assert.equal(text?.error, undefined);
});

test('finds a member that an object has twice, and only that', () => {
  const unlikely = fc.constantFrom('a', '"', '\\', ':', '{', '": "', '\\":', ' ', 'b');
  const name = fc.array(unlikely, { maxLength: 3 }).map((parts) => parts.join(''));
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      name,
      fc.integer(),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.array(fc.tuple(name, tie('value')), { maxLength: 3 }).map((members) => ({ members })),
    ),
  }));
  type Node = { members: [string, Node][] } | Node[] | string | number;
  const write = (node: Node): string =>
    typeof node !== 'object'
      ? JSON.stringify(node)
      : Array.isArray(node)
        ? `[${node.map(write)}]`
        : `{${node.members.map(([key, item]) => `${JSON.stringify(key)} :${write(item)}`)}}`;
  const isRepeated = (node: Node): boolean =>
    typeof node !== 'object'
      ? false
      : Array.isArray(node)
        ? node.some(isRepeated)
        : new Set(node.members.map(([key]) => key)).size < node.members.length ||
          node.members.some(([, item]) => isRepeated(item));
  fc.assert(
    fc.property(value, (node) => {
      const text = write(node as Node);
      assert.equal(repeatedMember(text, JSON.parse(text)) !== undefined, isRepeated(node as Node), text);
    }),
    { numRuns: 2000 },
  );
  const [row] = [...readNdjson(Buffer.from('{"name":"x","attributes":{"a":1,"a":2}}'))].flat();
  assert.match(row?.error ?? '', /the member “a” twice/);
  assert.equal(readers.map('{"a":"1","a":"2"}'), '{"a":"1","a":"2"}', 'it is no map');
});

test('no cell begins with a formula where semicolons, tabs or line breaks separate cells', () => {
  const part = fc.constantFrom('=', '+', '-', '@', '＝', "'", ';', '\t', '\n', '\r', ' ', 'a', '- ', '"');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const text = parts.join('');
      const escaped = escapeFormula(text);
      assert.doesNotMatch(escaped, /(^|[;\t])[=+\-@＝]|\n([=@＝]|[+-](?! ))/);
      assert.equal(unescapeFormulas(escaped), text);
    }),
    { numRuns: 5000 },
  );
  assert.equal(csvLine(['a;=1']), "a;'=1\r\n");
  // Only an export of Muster has such quotes within a text.
  assert.deepEqual(cells(csv("a,b\n'=1,x;'=1\n")), [['=1', "x;'=1"]]);
  assert.deepEqual(cells(csv("a,version,created_at,updated_at\nx;'=1,1,2,3\n")), [['x;=1', '1', '2', '3']]);
  assert.equal(csvLine(['Steps:\n- one; two\n- three']), '"Steps:\n- one; two\n- three"\r\n');
});

test('takes each of LF, CRLF and CR for a line break, between rows and within texts of any format', async () => {
  for (const text of [
    'a,b\r1,x\r2,y\n',
    'a,b\r1,x\n2,y\r',
    'a,b\r\r\n1,x\r\r\n2,y\r\r\n',
    'a,b\n1,x\r2,y',
    `a,b\r\n1,x\r\n${'\r\n'.repeat(20_000)}2,y`,
  ])
    assert.deepEqual(
      cells(csv(text)),
      [
        ['1', 'x'],
        ['2', 'y'],
      ],
      JSON.stringify(text.slice(0, 40)),
    );
  assert.deepEqual(cells(csv('a,b\r\n1,"x\r\ny\rz"')), [['1', 'x\ny\nz']]);
  const object = { a: 'x\r\ny\rz', list: ['x\r\ny'], map: { key: 'x\ry' } };
  const [row] = [...readNdjson(Buffer.from(JSON.stringify(object)))].flat();
  assert.deepEqual(row?.cells, ['x\ny\nz', ['x\ny'], { key: 'x\ny' }]);
  const rows = sheetRows(['a'], ['x_x000D_\ny&#13;z']);
  assert.deepEqual(cells(await xlsx(await workbookOf([{ name: 's', rows }]))), [['x\ny\nz']]);
});

test('warns of a cell with lines that look like rows', () => {
  const codes = (text: string) => csv(text).map(({ warning }) => warning?.code);
  assert.deepEqual(codes('a,b,c\n1,x,"y\n2,x,y\n3,x,y"\n4,x,y\n'), ['rows_in_cell', undefined]);
  assert.deepEqual(codes('a,b,c\n1,x,"y\n2,x,z"\n'), ['rows_in_cell']);
  assert.deepEqual(codes('a,b,c\n1,x,"One, two,\nthree.\n\nFour, five, six."\n'), [undefined]);
});

test('a merged cell is the value of all its rows, and a hidden row has a warning', async () => {
  let line = 0;
  const texts = sheetRows(['id', 'group'], ['1', 'Ops'], ['2', ''], ['3', ''], ['4', ''], ['5', 'Dev']);
  const rows =
    texts.replaceAll(/<row>/g, () => `<row r="${++line}"${line === 4 ? ' hidden="1"' : ''}>`) +
    '</sheetData><mergeCells count="2"><mergeCell ref="B2:B4"/><mergeCell ref="A1:B1"/></mergeCells><sheetData>';
  const found = await xlsx(await workbookOf([{ name: 's', rows }]));
  assert.deepEqual(
    found.map(({ cells }) => [...cells]),
    [['1', 'Ops'], ['2', 'Ops'], ['3', 'Ops'], ['4'], ['5', 'Dev']],
  );
  assert.deepEqual(
    found.map(({ warning }) => warning?.code),
    [undefined, undefined, 'hidden_row', undefined, undefined],
  );
});

test('a text that no cell of a workbook can have is replaced by where it is', async () => {
  const file = await workbook([['members'], ['x'.repeat(32_767)], ['x'.repeat(32_768)]]);
  const [fits, long] = cells(await xlsx(file)).map(([cell]) => String(cell));
  assert.equal(fits?.length, 32_767);
  assert.equal(long, '[32768 characters, more than a cell of a workbook can have: export CSV or NDJSON]');
});

test('reads one JSON object per line; any other line is a row with an error', () => {
  const rows = [...readNdjson(Buffer.from('{"name":"Ada","skills":["x"]}\n\n[1]\r\n{"name":\n{}'))].flat();
  assert.deepEqual(rows[0], { line: 1, names: ['name', 'skills'], cells: ['Ada', ['x']] });
  assert.deepEqual(
    rows.map(({ line, error }) => [line, error?.slice(0, 30)]),
    [
      [1, undefined],
      [3, 'This line is not a JSON object'],
      [4, 'This line is not a JSON object'],
      [5, undefined],
    ],
  );
});

test('a number format longer than the 255 characters of Excel is ignored', async () => {
  const dateIn = async (formatCode: string) => {
    const file = await files({
      'xl/workbook.xml': '<workbook><sheets><sheet name="s"/></sheets></workbook>',
      'xl/styles.xml': `<styleSheet><numFmt numFmtId="200" formatCode="${formatCode}"/><cellXfs><xf numFmtId="200"/></cellXfs></styleSheet>`,
      'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${sheetRows(['on', 'x'])}<row><c s="0"><v>46000</v></c></row></sheetData></worksheet>`,
    });
    return (await xlsx(file))[0]?.cells[0];
  };
  assert.equal(await dateIn(`${'['.repeat(251)}yyyy`), '2025-12-09');
  assert.equal(await dateIn(`${'['.repeat(252)}yyyy`), 46_000);
  assert.equal(await dateIn('['.repeat(900_000)), 46_000);
});

/** The number of pieces of a file that a reader unpacks. */
async function countPieces(file: Uint8Array): Promise<number> {
  const layout = { ...plainLayout, chooseSheet: () => 0, countColumns: () => 0 };
  return (await Array.fromAsync(readXlsx(file, undefined, layout))).length;
}

test('unpacks an entry once, however many sheets it is', async () => {
  const blank = () => [sheetRows(['name', 'x']), '<row></row>'.repeat(100_000)];
  const one = await countPieces(await workbookOf([{ name: 'a', rows: blank().join('') }]));
  const twenty = await countPieces(await repeatedSheet(blank(), true));
  assert.ok(twenty <= 2 * one + 10, `${twenty} pieces instead of ${one}`);
});

test('limits all that is read from a workbook: bytes under several names, elements, and shared texts', async () => {
  const tooLarge = { code: 'too_large', message: /it would unpack to more than \d+ MiB/ };
  const sheets = await repeatedSheet([...Array(20).fill('<a/>'.repeat(200_000))], false);
  await assert.rejects(countPieces(sheets), tooLarge);
  const elements = await workbookOf([{ name: 'a', rows: '<a/>'.repeat(1_500_000) }]);
  await assert.rejects(countPieces(elements), tooLarge);
  const shared = (rows: string) =>
    bookOf(
      `<worksheet><sheetData>${sheetRows(['name', 'x'])}${rows}</sheetData></worksheet>`,
      `<sst><si><t>${"'".repeat(900_000)}=</t></si></sst>`,
    );
  const [row] = await xlsx(await shared('<row><c t="s"><v>0</v></c></row>'));
  assert.equal(String(row?.cells[0]).length, 900_000);
  await assert.rejects(xlsx(await shared('<row><c t="s"><v>0</v></c></row>'.repeat(30))), tooLarge);
  await assert.rejects(
    xlsx(await shared(`<row>${'<c t="s"><v>0</v></c>'.repeat(2)}</row>`)),
    /a row is longer than 1 MiB/,
  );
  await assert.rejects(
    xlsx(await bookOf('<worksheet/>', `<sst><si>${`<t>${'x'.repeat(600_000)}</t>`.repeat(2)}</si></sst>`)),
    /a text is longer than 1 MiB/,
  );
});

test('reading a file ends when nobody waits for it', async () => {
  const blank = await workbookOf([
    { name: 'a', rows: sheetRows(['name', 'x']) + '<row></row>'.repeat(500_000) },
  ]);
  const text = Buffer.from(`name\n${'\n'.repeat(1_000_000)}`);
  for (const source of [
    sourceOf('xlsx', blank, {}),
    sourceOf('csv', text, {}),
    sourceOf('ndjson', text, {}),
  ]) {
    let pieces = 0;
    const assertWanted = () => {
      if (++pieces === 3) throw new Error('gone');
    };
    await assert.rejects(Array.fromAsync(source.rows(assertWanted)), /gone/);
    assert.equal(pieces, 3);
  }
});
