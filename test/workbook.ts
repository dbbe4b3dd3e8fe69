import { packXlsx, sheet } from '../src/formats/xlsx-write.ts';
import { zipped } from '../src/formats/zip.ts';

/** A workbook whose first row names the columns. */
export async function workbook([names = [], ...rows]: readonly (readonly unknown[])[]): Promise<Buffer> {
  const columns = names.map((name) => ({ name: String(name), width: 10 }));
  async function* xml() {
    yield sheet.open(columns);
    for (const [i, row] of rows.entries()) yield sheet.row(i + 2, row, columns);
    yield sheet.close(columns, rows.length);
  }
  return Buffer.concat(await Array.fromAsync(packXlsx(xml(), 'Sheet 1')));
}

/** A workbook with several sheets, given as the XML of their rows. */
export async function workbookOf(
  sheets: readonly { name: string; state?: 'hidden' | 'veryHidden'; rows: string }[],
): Promise<Buffer> {
  const entries = sheets.map(
    ({ rows }, i) =>
      [`xl/worksheets/s${i}.xml`, [`<worksheet><sheetData>${rows}</sheetData></worksheet>`]] as const,
  );
  const list = sheets.map(
    ({ name, state }, i) => `<sheet name="${name}"${state ? ` state="${state}"` : ''} r:id="r${i}"/>`,
  );
  const relations = sheets.map((_, i) => `<Relationship Id="r${i}" Target="worksheets/s${i}.xml"/>`);
  const pieces = zipped([
    ['xl/workbook.xml', [`<workbook><sheets>${list.join('')}</sheets></workbook>`]],
    ['xl/_rels/workbook.xml.rels', [`<Relationships>${relations.join('')}</Relationships>`]],
    ...entries,
  ]);
  return Buffer.concat(await Array.fromAsync(pieces));
}

/** The XML of rows of texts. */
export const sheetRows = (...rows: string[][]) =>
  rows
    .map(
      (cells) => `<row>${cells.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join('')}</row>`,
    )
    .join('');
