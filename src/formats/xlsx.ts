import { invalidParameter, Problem } from '../core/errors.ts';
import { joinWords, shortened } from '../core/text.ts';
import { createTable, firstRows, maxColumns, type Row, type TableLayout, type TableRow } from './rows.ts';
import { type CellValues, rowCollector, styleCollector, textCollector } from './xlsx/cells.ts';
import { type Merges, mergesIn } from './xlsx/merges.ts';
import { parseXml, type XmlHandler } from './xml.ts';
import { type Entry, entriesOf, ZipError } from './zip.ts';

const mebibyte = 1024 * 1024;

/** The maximum unpacked sizes. A sheet is read row by row; shared strings are held in memory. */
const maxBytes = { sheet: 512 * mebibyte, texts: 64 * mebibyte, other: mebibyte };

/** Chooses one of several sheets by their names, and by the columns that their first rows name. */
type SheetChoice = {
  chooseSheet?: (sheets: readonly { name: string; columns: number }[]) => number;
  countColumns?: (rows: readonly TableRow[]) => number;
};

/**
 * Reads the rows of one sheet of a workbook: the named one; or else the one that `choose` prefers; or else the first that
 * is not hidden.
 */
export async function* readXlsx(
  file: Uint8Array,
  sheetName?: string,
  layout?: TableLayout & SheetChoice,
): AsyncGenerator<Row[]> {
  try {
    const entries = await entriesOf(file);
    const texts = textCollector();
    const styles = styleCollector();
    for (const [path, { handler }] of [
      ['sharedStrings', texts],
      ['styles', styles],
    ] as const) {
      const part = entries.get(`xl/${path}.xml`);
      if (part) for await (const _ of parseXml(part, maxBytes.texts, handler)) yield [];
    }
    const { visible, epoch, ...found } = await findSheets(entries, sheetName);
    const values: CellValues = { texts: texts.texts, formats: styles.formats, epoch };
    let { chosen } = found;
    if (sheetName === undefined && layout?.chooseSheet && visible.length > 1) {
      const sheets = [];
      const columnsOf = new Map<Entry, number>();
      for (const { name, entry } of visible.slice(0, maxChoices)) {
        const rows: TableRow[] = [];
        const collector = rowCollector(values, name, () => maxColumns, entry.spend);
        // Several sheets can be one entry.
        if (!columnsOf.has(entry))
          for await (const _ of parseXml(entry, maxBytes.sheet, collector.handler)) {
            yield [];
            rows.push(...collector.take().slice(0, firstRows - rows.length));
            if (collector.isAtEnd() || rows.length >= firstRows) break;
          }
        const columns = columnsOf.get(entry) ?? layout.countColumns?.(rows) ?? 0;
        columnsOf.set(entry, columns);
        sheets.push({ name, columns });
      }
      chosen = visible[layout.chooseSheet(sheets)] ?? chosen;
    }
    const sheet = {
      name: chosen.name,
      others: found.othersOf(chosen.name),
      visible: visible.map(({ name }) => name),
    };
    const table = createTable(layout);
    const merges: Merges = new Map();
    for await (const _ of mergesIn(chosen.entry, maxBytes.sheet, merges)) yield [];
    const collector = rowCollector(values, chosen.name, table.width, chosen.entry.spend, merges);
    const rows: Row[] = [];
    const take = () => rows.splice(0).map((row) => (row.isHeader ? { ...row, sheet } : row));
    for await (const _ of parseXml(chosen.entry, maxBytes.sheet, collector.handler)) {
      // One by one, because the rows of a small piece can repeat a long text.
      for (const row of collector.take()) {
        table.add(row, rows);
        yield take();
      }
      yield [];
      if (collector.isAtEnd()) break;
    }
    table.end(rows);
    yield take();
  } catch (error) {
    if (error instanceof ZipError) throw unreadable(error);
    throw error;
  }
}

/** The number of sheets among which one is chosen. */
const maxChoices = 20;

type Sheet = { name: string; relation: string; isHidden: boolean };

async function findSheets(entries: Map<string, Entry>, wanted: string | undefined) {
  const sheets: Sheet[] = [];
  let epoch = 0;
  await parseWhole(entries.get('xl/workbook.xml'), {
    open(element, attributes) {
      if (element === 'workbookPr' && /^(1|true)$/.test(attributes.date1904 ?? '')) epoch = epoch1904;
      if (element !== 'sheet') return;
      const id = Object.keys(attributes).find((attribute) => attribute.endsWith(':id'));
      const { name = '', state = 'visible' } = attributes;
      sheets.push({ name, relation: attributes[id ?? ''] ?? '', isHidden: state !== 'visible' });
    },
  });
  const chosen = wanted === undefined ? sheets.find(({ isHidden }) => !isHidden) : named(sheets, wanted);
  if (!chosen && sheets.length > 0) throw noSuchSheet(sheets, wanted);
  const paths = new Map<string, string>();
  const relations = entries.get('xl/_rels/workbook.xml.rels');
  if (relations) {
    await parseWhole(relations, {
      open(name, { Id = '', Target = '' }) {
        if (name === 'Relationship' && !paths.has(Id)) paths.set(Id, Target);
      },
    });
  }
  const entryOf = (sheet: Sheet | undefined) => {
    const path = paths.get(sheet?.relation ?? '') ?? 'worksheets/sheet1.xml';
    return entries.get(path.startsWith('/') ? path.slice(1) : `xl/${path}`);
  };
  const entry = entryOf(chosen);
  if (!entry) throw new ZipError('it contains no sheet');
  const visible = sheets.flatMap((sheet) => {
    const entry = sheet.isHidden ? undefined : entryOf(sheet);
    return entry ? [{ name: sheet.name, entry }] : [];
  });
  const othersOf = (name: string) =>
    sheets
      .filter((sheet) => sheet.name !== name)
      .map(({ name, isHidden }) => (isHidden ? `${name} (hidden)` : name));
  return { chosen: { name: chosen?.name ?? '', entry }, visible, othersOf, epoch };
}

/** The days between the epochs of the two date systems: workbooks of old versions for the Mac count from 1904. */
const epoch1904 = 1462;

/** Spreadsheets ignore the case of sheet names. */
const named = (sheets: Sheet[], wanted: string) =>
  sheets.find(({ name }) => name.trim().toLowerCase() === wanted.trim().toLowerCase());

function noSuchSheet(sheets: Sheet[], wanted: string | undefined): Problem {
  const names = joinWords(sheets.slice(0, 50).map(({ name }) => `“${shortened(name)}”`));
  return invalidParameter(
    'sheet',
    wanted === undefined
      ? `All sheets of the workbook are hidden. Name the one to import with \`sheet\`: ${names}.`
      : `The workbook has no sheet “${shortened(wanted)}”. Its sheets are ${names}.`,
  );
}

async function parseWhole(entry: Entry | undefined, handler: XmlHandler): Promise<void> {
  if (!entry) throw new ZipError('it contains no workbook');
  for await (const _ of parseXml(entry, maxBytes.other, handler));
}

const unreadable = (error: ZipError) =>
  new Problem(
    error.isTooLarge ? 'too_large' : 'malformed_request',
    `The file cannot be read as a workbook (.xlsx): ${error.message}. Save it again as .xlsx or as CSV.`,
    { cause: error },
  );
