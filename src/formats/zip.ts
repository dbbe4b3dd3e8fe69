import { Readable } from 'node:stream';
import { type Entry as FileEntry, type ZipFile as FileReader, fromBufferPromise } from 'yauzl';
import { ZipFile as FileWriter } from 'yazl';

/**
 * A file in a ZIP file. `content` decompresses it piece by piece, up to `maxBytes`; `spend` counts other work as bytes. Bytes
 * that are not parsed count as a `share` of themselves.
 */
export type Entry = {
  content: (maxBytes: number, share?: number) => AsyncGenerator<Uint8Array>;
  spend(bytes: number): void;
};

/** An invalid ZIP file. The message completes a sentence about the file. */
export class ZipError extends Error {
  readonly isTooLarge: boolean;

  constructor(message: string, options: { cause?: unknown; isTooLarge?: boolean } = {}) {
    super(message, options);
    this.isTooLarge = options.isTooLarge ?? false;
  }
}

/** A workbook has a few dozen entries. */
const maxEntries = 10_000;

/**
 * The maximum compression ratio. Sheets reach 10, sheets of mostly empty cells 100; a higher ratio indicates a ZIP
 * bomb.
 */
const maxRatio = 200;
const alwaysAllowedBytes = 16 * 1024 * 1024;

/** The maximum for all that is read from one ZIP file: several names can lead to the same bytes. */
const maxTotalBytes = 768 * 1024 * 1024;

/** Reads the central directory. Nothing is decompressed. */
export async function entriesOf(file: Uint8Array): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>();
  const total = Math.min(maxTotalBytes, Math.max(alwaysAllowedBytes, file.length * maxRatio));
  let left = total;
  const spend = (bytes: number) => {
    left -= bytes;
    if (left < 0) throw tooLarge('it', total);
  };
  try {
    const reader = await fromBufferPromise(Buffer.from(file.buffer, file.byteOffset, file.byteLength));
    if (reader.entryCount > maxEntries)
      throw new ZipError(`it has more than ${maxEntries} entries`, { isTooLarge: true });
    for await (const entry of reader.eachEntry())
      entries.set(entry.fileName, {
        content: (maxBytes, share = 1) => contentOf(reader, entry, maxBytes, (bytes) => spend(bytes * share)),
        spend,
      });
  } catch (error) {
    throw unreadable(error);
  }
  return entries;
}

/** The reader ends with an error if the actual size is not that in the directory, which is checked first. */
async function* contentOf(
  reader: FileReader,
  entry: FileEntry,
  maxBytes: number,
  spend: Entry['spend'],
): AsyncGenerator<Uint8Array> {
  const { fileName, compressedSize, uncompressedSize, compressionMethod } = entry;
  if (entry.isEncrypted()) throw new ZipError('it is encrypted');
  const limit = Math.min(maxBytes, Math.max(alwaysAllowedBytes, compressedSize * maxRatio));
  if (uncompressedSize > limit) throw tooLarge(fileName, limit);
  if (!entry.canDecodeFileData())
    throw new ZipError(`its compression method (${compressionMethod}) is not supported`);
  try {
    for await (const piece of (await reader.openReadStreamPromise(entry)) as Readable) {
      spend(piece.length);
      yield piece;
    }
  } catch (error) {
    throw unreadable(error);
  }
}

const tooLarge = (what: string, bytes: number) =>
  new ZipError(`${what} would unpack to more than ${Math.ceil(bytes / 1024 / 1024)} MiB`, {
    isTooLarge: true,
  });

function unreadable(error: unknown): ZipError {
  if (error instanceof ZipError) return error;
  const isEncrypted = error instanceof Error && error.message.includes('encryption');
  return new ZipError(isEncrypted ? 'it is encrypted' : 'it is truncated or damaged', { cause: error });
}

/** Equal content produces equal files: the date is fixed, the earliest one of the format. */
const writeOptions = { mtime: new Date(1980, 0, 1), forceDosTimestamp: true, compressionLevel: 3 };

/** Writes a ZIP file as a stream. No entry is held in memory. */
export async function* zipped(
  parts: readonly (readonly [name: string, content: AsyncIterable<string> | readonly string[]])[],
): AsyncGenerator<Uint8Array> {
  const writer = new FileWriter();
  const output = writer.outputStream as Readable;
  let source: Readable | undefined;
  for (const [name, content] of parts)
    writer.addReadStreamLazy(name, writeOptions, (start) => {
      source = Readable.from(content);
      source.once('error', (error) => output.destroy(error));
      start(null, source);
    });
  writer.end();
  try {
    yield* output;
  } finally {
    source?.destroy();
  }
}
