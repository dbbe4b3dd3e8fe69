import { crc32, createDeflateRaw, deflateRawSync } from 'node:zlib';

type Part = { name: string; crc: number; size: number; packed: Buffer };

/** A workbook whose only sheet is `xml`, well-formed or not. */
export function workbook(xml: string): Buffer {
  const bytes = Buffer.from(xml);
  return zip([
    ...fixedParts,
    { name: sheetName, crc: crc32(bytes), size: bytes.length, packed: deflateRawSync(bytes) },
  ]);
}

/** A workbook whose sheet repeats a text: a small file with a very large uncompressed size. */
export async function repeatingWorkbook(repeated: string, times: number): Promise<Buffer> {
  const deflate = createDeflateRaw({ level: 1 });
  const pieces: Buffer[] = [];
  deflate.on('data', (piece) => pieces.push(piece));
  const end = new Promise((resolve) => deflate.on('end', resolve));
  let [crc, size] = [0, 0];
  const write = (bytes: Buffer) => {
    crc = crc32(bytes, crc);
    size += bytes.length;
    return deflate.write(bytes) || new Promise((resolve) => deflate.once('drain', resolve));
  };
  await write(Buffer.from(`${opening}${header}`));
  const perPiece = Math.max(1, Math.floor(1_000_000 / repeated.length));
  for (let done = 0; done < times; done += perPiece) {
    await write(Buffer.from(repeated.repeat(Math.min(perPiece, times - done))));
  }
  await write(Buffer.from(closing));
  deflate.end();
  await end;
  return zip([...fixedParts, { name: sheetName, crc, size, packed: Buffer.concat(pieces) }]);
}

const sheetName = 'xl/worksheets/sheet1.xml';
const spreadsheet = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const relationships = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packaging = 'http://schemas.openxmlformats.org/package/2006';
const contentType = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

const opening = `<worksheet xmlns="${spreadsheet}"><sheetData>`;
const closing = '</sheetData></worksheet>';
const header = '<row r="1"><c r="A1" t="inlineStr"><is><t>name</t></is></c></row>';

/** A sheet with a header row for people, then `rows`. */
export const sheet = (rows: string) => `${opening}${header}${rows}${closing}`;

const fixedParts = Object.entries({
  '[Content_Types].xml':
    `<Types xmlns="${packaging}/content-types">` +
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
    `<Override PartName="/xl/workbook.xml" ContentType="${contentType}.sheet.main+xml"/>` +
    `<Override PartName="/${sheetName}" ContentType="${contentType}.worksheet+xml"/></Types>`,
  '_rels/.rels':
    `<Relationships xmlns="${packaging}/relationships"><Relationship Id="rId1" ` +
    `Type="${relationships}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/workbook.xml':
    `<workbook xmlns="${spreadsheet}" xmlns:r="${relationships}"><sheets>` +
    '<sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>',
  'xl/_rels/workbook.xml.rels':
    `<Relationships xmlns="${packaging}/relationships"><Relationship Id="rId1" ` +
    `Type="${relationships}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
}).map(([name, xml]): Part => {
  const bytes = Buffer.from(xml);
  return { name, crc: crc32(bytes), size: bytes.length, packed: deflateRawSync(bytes) };
});

/** Creates a ZIP file from compressed parts. */
function zip(parts: Part[]): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, crc, size, packed } of parts) {
    // Version 2.0, deflated, names in UTF-8, no date.
    const shared = fields(
      [2, 20],
      [2, 0x0800],
      [2, 8],
      [2, 0],
      [2, 0x21],
      [4, crc],
      [4, packed.length],
      [4, size],
    );
    const names = fields([2, Buffer.byteLength(name)], [2, 0]);
    const body = [fields([4, 0x04034b50]), shared, names, Buffer.from(name), packed];
    const rest = fields([2, 0], [2, 0], [2, 0], [4, 0], [4, offset]);
    directory.push(fields([4, 0x02014b50], [2, 20]), shared, names, rest, Buffer.from(name));
    bodies.push(...body);
    offset += body.reduce((sum, { length }) => sum + length, 0);
  }
  const directoryBytes = Buffer.concat(directory);
  const count = parts.length;
  const end = fields(
    [4, 0x06054b50],
    [2, 0],
    [2, 0],
    [2, count],
    [2, count],
    [4, directoryBytes.length],
    [4, offset],
    [2, 0],
  );
  return Buffer.concat([...bodies, directoryBytes, end]);
}

function fields(...values: (readonly [bytes: 2 | 4, value: number])[]): Buffer {
  return Buffer.concat(
    values.map(([bytes, value]) => {
      const field = Buffer.alloc(bytes);
      field.writeUIntLE(value, 0, bytes);
      return field;
    }),
  );
}
