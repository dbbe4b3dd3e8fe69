import { pipeline, Readable } from 'node:stream';
import { crc32, createDeflateRaw, createInflateRaw } from 'node:zlib';

/** An entry in the central directory of a ZIP file. */
export type Entry = { name: string; method: number; isEncrypted: boolean; size: number; data: Uint8Array };

/** An invalid ZIP file. The message completes a sentence about the file. */
export class ZipError extends Error {
  readonly isTooLarge: boolean;

  constructor(message: string, options: { cause?: unknown; isTooLarge?: boolean } = {}) {
    super(message, options);
    this.isTooLarge = options.isTooLarge ?? false;
  }
}

const signatures = {
  local: 0x04034b50,
  descriptor: 0x08074b50,
  directory: 0x02014b50,
  end: 0x06054b50,
};
const endLength = 22;
const maxCommentBytes = 0xffff;
const deflate = 8;

/** A workbook has a few dozen entries. */
const maxEntries = 10_000;
const maxNameBytes = 1000;

/** Small, so that the caller can run other work between two pieces. */
const pieceBytes = 16 * 1024;

/**
 * The maximum compression ratio. Sheets reach 10, sheets of mostly empty cells 100; a higher ratio indicates a ZIP
 * bomb.
 */
const maxRatio = 200;
const alwaysAllowedBytes = 16 * 1024 * 1024;

/** Reads the central directory. Nothing is decompressed. */
export function entriesOf(file: Uint8Array): Map<string, Entry> {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  try {
    const end = findEndRecord(bytes);
    const entries = new Map<string, Entry>();
    let at = bytes.readUInt32LE(end + 16);
    const count = bytes.readUInt16LE(end + 10);
    if (count > maxEntries)
      throw new ZipError(`it has more than ${maxEntries} entries`, { isTooLarge: true });
    for (let remaining = count; remaining > 0; remaining--) {
      if (bytes.readUInt32LE(at) !== signatures.directory) throw new ZipError('its directory is damaged');
      const nameLength = bytes.readUInt16LE(at + 28);
      if (nameLength > maxNameBytes) throw new ZipError('its directory is damaged');
      const name = bytes.toString('utf8', at + 46, at + 46 + nameLength);
      const start = bytes.readUInt32LE(at + 42);
      const dataStart = start + 30 + bytes.readUInt16LE(start + 26) + bytes.readUInt16LE(start + 28);
      entries.set(name, {
        name,
        method: bytes.readUInt16LE(at + 10),
        isEncrypted: (bytes.readUInt16LE(at + 8) & 1) === 1,
        size: bytes.readUInt32LE(at + 24),
        data: bytes.subarray(dataStart, dataStart + bytes.readUInt32LE(at + 20)),
      });
      at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
    }
    return entries;
  } catch (error) {
    if (error instanceof RangeError) throw new ZipError('it is truncated or damaged', { cause: error });
    throw error;
  }
}

function findEndRecord(bytes: Buffer): number {
  const last = bytes.length - endLength;
  for (let at = last; at >= 0 && at >= last - maxCommentBytes; at--) {
    if (bytes.readUInt32LE(at) === signatures.end) return at;
  }
  throw new ZipError('it has no directory at its end');
}

/**
 * Decompresses an entry piece by piece, up to `maxBytes`: a small file can expand to a thousand times its size. The
 * size in the directory is checked first, but the actual size is counted as well.
 */
export async function* contentOf(entry: Entry, maxBytes: number): AsyncGenerator<Uint8Array> {
  if (entry.isEncrypted) throw new ZipError('it is encrypted');
  const { data, method } = entry;
  const limit = Math.min(maxBytes, Math.max(alwaysAllowedBytes, data.length * maxRatio));
  if (entry.size > limit) throw tooLarge(entry, limit);
  if (method !== 0 && method !== deflate) throw new ZipError('its compression method is not supported');
  let size = 0;
  for await (const piece of method === 0 ? slices(data) : inflated(data)) {
    size += piece.length;
    if (size > limit) throw tooLarge(entry, limit);
    yield piece;
  }
}

function* slices(data: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < data.length; at += pieceBytes) yield data.subarray(at, at + pieceBytes);
}

/** Decompresses in the thread pool. */
async function* inflated(data: Uint8Array): AsyncGenerator<Uint8Array> {
  const inflate = createInflateRaw({ chunkSize: pieceBytes });
  inflate.end(data);
  try {
    yield* inflate as AsyncIterable<Buffer>;
  } catch (error) {
    throw new ZipError('it is truncated or damaged', { cause: error });
  }
}

const tooLarge = ({ name }: Entry, limit: number) =>
  new ZipError(`${name} would unpack to more than ${Math.ceil(limit / 1024 / 1024)} MiB`, {
    isTooLarge: true,
  });

/** Writes a ZIP file as a stream. No entry is held in memory. */
export async function* zipped(
  parts: readonly (readonly [name: string, content: AsyncIterable<string> | readonly string[]])[],
): AsyncGenerator<Uint8Array> {
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of parts) {
    const start = offset;
    const local = Buffer.concat([record([4, signatures.local], ...headerFields(name)), Buffer.from(name)]);
    yield local;
    const measured = { crc: 0, size: 0, packed: 0 };
    for await (const piece of deflated(content, measured)) {
      measured.packed += piece.length;
      yield piece;
    }
    const { crc, size, packed } = measured;
    const descriptor = record([4, signatures.descriptor], [4, crc], [4, packed], [4, size]);
    yield descriptor;
    offset += local.length + packed + descriptor.length;
    const attributes: Field[] = [
      [2, 0],
      [2, 0],
      [2, 0],
      [4, 0],
      [4, start],
    ];
    directory.push(
      record([4, signatures.directory], [2, version], ...headerFields(name, measured), ...attributes),
      Buffer.from(name),
    );
  }
  const directoryBytes = Buffer.concat(directory);
  const count: Field = [2, parts.length];
  yield directoryBytes;
  yield record(
    [4, signatures.end],
    [2, 0],
    [2, 0],
    count,
    count,
    [4, directoryBytes.length],
    [4, offset],
    [2, 0],
  );
}

const version = 20;
/** Sizes follow the content in a data descriptor; names are UTF-8. */
const flags = 0x0808;
/** 1980-01-01, the earliest date of the format. A fixed date makes equal content produce equal files. */
const date = 0x0021;

type Measured = { crc: number; size: number; packed: number };

/** The fields that the local header and the directory have in common. */
const headerFields = (
  name: string,
  { crc, size, packed }: Measured = { crc: 0, size: 0, packed: 0 },
): Field[] => [
  [2, version],
  [2, flags],
  [2, deflate],
  [2, 0],
  [2, date],
  [4, crc],
  [4, packed],
  [4, size],
  [2, Buffer.byteLength(name)],
  [2, 0],
];

async function* deflated(content: AsyncIterable<string> | readonly string[], measured: Measured) {
  async function* bytes() {
    for await (const text of content) {
      const piece = Buffer.from(text);
      measured.crc = crc32(piece, measured.crc);
      measured.size += piece.length;
      yield piece;
    }
  }
  const packed = createDeflateRaw({ level: 3 });
  // An error on either side ends the other side and is thrown to the reader of the packed pieces.
  pipeline(Readable.from(bytes()), packed, () => {});
  yield* packed as AsyncIterable<Buffer>;
}

type Field = readonly [bytes: 2 | 4, value: number];

function record(...fields: Field[]): Buffer {
  const bytes = Buffer.alloc(fields.reduce((sum, [size]) => sum + size, 0));
  let at = 0;
  for (const [size, value] of fields) at = bytes.writeUIntLE(value, at, size);
  return bytes;
}
