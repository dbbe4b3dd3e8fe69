import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { UsageError } from '../../core/errors.ts';
import { shortened } from '../../core/text.ts';

/**
 * A backup is a Zstandard stream of lines. The first line is the manifest. Each table starts with a line that has its name
 * and columns, followed by one JSON array per row. The last line is the trailer, with the number of rows of each table and
 * the SHA-256 of all lines before it. So rows start with `[` and all other lines with `{`.
 */
export type Manifest = {
  muster_backup: typeof formatVersion;
  /** The version of Muster that wrote the file. */
  version: string;
  created_at: string;
  /** The migrations of the database, in order. They define its tables and columns. */
  migrations: string[];
};

export type Section = { table: string; columns: string[] };
export type Trailer = { rows: Record<string, number>; sha256: string };

/** Rows of one table, as JSON arrays separated by commas and as values. `line` is that of the first one. */
export type Rows = Section & { rows: string; values: unknown[][]; line: number };

const formatVersion = 1;

/** A longer line is damage: the longest values are stored responses of imports. */
const maxLineBytes = 256 * 1024 * 1024;

/** Rows are passed on in pieces of up to about this size. */
const maxRowsBytes = 256 * 1024;

/** Compresses a backup. `tables` yields sections and the lines of their rows. `onEnd` receives the trailer. */
export function encodeBackup(
  manifest: Omit<Manifest, 'muster_backup'>,
  tables: AsyncIterable<Section | { lines: string; count: number }>,
  onEnd: (trailer: Trailer) => void,
): Readable {
  const compressed = createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } });
  // An error destroys both streams, so the reader of the compressed stream gets it.
  pipeline(Readable.from(encodeLines(manifest, tables, onEnd)), compressed).catch(() => {});
  return compressed;
}

async function* encodeLines(
  manifest: Omit<Manifest, 'muster_backup'>,
  tables: AsyncIterable<Section | { lines: string; count: number }>,
  onEnd: (trailer: Trailer) => void,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  const encode = (text: string) => {
    const bytes = Buffer.from(`${text}\n`);
    hash.update(bytes);
    return bytes;
  };
  yield encode(JSON.stringify({ muster_backup: formatVersion, ...manifest }));
  const rows: Trailer['rows'] = {};
  let table = '';
  for await (const part of tables) {
    if ('table' in part) {
      table = part.table;
      rows[table] = 0;
      yield encode(JSON.stringify({ table, columns: part.columns }));
    } else {
      rows[table] = (rows[table] ?? 0) + part.count;
      yield encode(part.lines);
    }
  }
  const trailer = { rows, sha256: hash.digest('hex') };
  yield Buffer.from(`${JSON.stringify(trailer)}\n`);
  onEnd(trailer);
}

/**
 * Reads the manifest. `tables` then yields the rows in order, and each table once without rows before its first ones. It
 * throws at its end if the file is damaged or incomplete.
 */
export async function decodeBackup(source: Readable, name: string) {
  const decoder = new Decoder(name);
  const blocks = decoder.readBlocks(source);
  const first = await blocks.next();
  const [line = '', ...rest] = first.done ? [] : first.value.split('\n');
  return {
    manifest: decoder.readManifest(line),
    tables: () => decoder.readTables(rest, blocks),
    damaged: (why: string, cause?: unknown) => decoder.damaged(why, cause),
    close: () => blocks.return(undefined),
  };
}

class Decoder {
  readonly #name: string;
  readonly #hash = createHash('sha256');
  readonly #rows: Trailer['rows'] = Object.create(null);
  /** The number of lines that were read. The first one is the manifest. */
  #line = 1;
  #section: Section | undefined;
  #trailer: Trailer | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  /** Yields complete lines, many at once. All bytes before the trailer are hashed. */
  async *readBlocks(source: Readable): AsyncGenerator<string, undefined> {
    const text = createZstdDecompress({ chunkSize: maxRowsBytes });
    // An error of either stream is thrown where `text` is read.
    pipeline(source, text).catch(() => {});
    let incomplete: Buffer[] = [];
    let incompleteBytes = 0;
    try {
      for await (const chunk of text as AsyncIterable<Buffer>) {
        const end = chunk.lastIndexOf(10) + 1;
        incompleteBytes += chunk.length;
        if (incompleteBytes > maxLineBytes) throw this.damaged('it has a line that is too long');
        if (end === 0) {
          incomplete.push(chunk);
          continue;
        }
        const block = Buffer.concat([...incomplete, chunk.subarray(0, end)]);
        incomplete = [chunk.subarray(end)];
        incompleteBytes = chunk.length - end;
        if (!isUtf8(block)) throw this.damaged('it has text that is not UTF-8');
        this.#hash.update(block.subarray(0, trailerStart(block)));
        yield block.toString('utf8', 0, block.length - 1);
      }
    } catch (error) {
      throw this.#explain(error);
    }
    if (incompleteBytes > 0) throw this.#incomplete();
    return undefined;
  }

  async *readTables(first: string[], blocks: AsyncIterable<string>): AsyncGenerator<Rows> {
    yield* this.#readLines(first);
    for await (const block of blocks) yield* this.#readLines(block.split('\n'));
    if (!this.#trailer) throw this.#incomplete();
    if (this.#trailer.sha256 !== this.#hash.digest('hex'))
      throw this.damaged('its checksum does not match its content');
    if (JSON.stringify(this.#trailer.rows) !== JSON.stringify(this.#rows))
      throw this.damaged('it does not have the number of rows that it should have');
  }

  *#readLines(lines: string[]): Generator<Rows> {
    let from = 0;
    let bytes = 0;
    for (const [i, line] of lines.entries()) {
      const isRow = line.startsWith('[');
      if (isRow && bytes + line.length <= maxRowsBytes) {
        bytes += line.length;
        continue;
      }
      yield* this.#rowsOf(lines.slice(from, i));
      from = isRow ? i : i + 1;
      bytes = isRow ? line.length : 0;
      if (!isRow) yield* this.#readHeader(line);
    }
    yield* this.#rowsOf(lines.slice(from));
  }

  *#rowsOf(lines: string[]): Generator<Rows> {
    if (lines.length === 0) return;
    const line = this.#line + 1;
    if (!this.#section || this.#trailer) throw this.damaged(`line ${line} is a row that belongs to no table`);
    const { table } = this.#section;
    this.#rows[table] = (this.#rows[table] ?? 0) + lines.length;
    this.#line += lines.length;
    const rows = lines.join(',');
    const values = parse(`[${rows}]`);
    if (!isListOfLists(values) || values.length !== lines.length) {
      const wrong = lines.findIndex((text) => !Array.isArray(parse(text)));
      throw this.damaged(`line ${line + wrong} (${table}) is not a list of values`);
    }
    yield { ...this.#section, rows, values, line };
  }

  *#readHeader(text: string): Generator<Rows> {
    const line = ++this.#line;
    const header = parse(text) as Partial<Section & Trailer> | null | undefined;
    if (this.#trailer) throw this.damaged(`it continues after its end, in line ${line}`);
    if (typeof header?.table === 'string' && isListOfTexts(header.columns)) {
      const { table, columns } = header;
      if (Object.hasOwn(this.#rows, table))
        throw this.damaged(`line ${line} starts the table ${shortened(table)} again`);
      this.#rows[table] = 0;
      this.#section = { table, columns };
      yield { ...this.#section, rows: '', values: [], line };
    } else if (typeof header?.sha256 === 'string' && header.rows) {
      this.#trailer = { rows: header.rows, sha256: header.sha256 };
    } else throw this.damaged(`line ${line} is not part of a backup`);
  }

  readManifest(line: string): Manifest {
    const manifest = parse(line) as Partial<Manifest> | null | undefined;
    const format: number | undefined = manifest?.muster_backup;
    if (typeof format !== 'number') throw notBackup(this.#name);
    if (format !== formatVersion)
      throw new UsageError(
        `The backup ${this.#name} was written by a newer version of Muster (${shortened(String(manifest?.version))}). ` +
          'Install that version to restore it.',
      );
    if (!isListOfTexts(manifest?.migrations) || typeof manifest.version !== 'string')
      throw this.damaged('its first line does not have the version and the migrations of a database');
    return manifest as Manifest;
  }

  #explain(error: unknown): unknown {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    // Reported by the decompressor when the input ends within a frame.
    if (code === 'Z_BUF_ERROR') return this.#incomplete();
    if (code === 'ZSTD_error_prefix_unknown') return notBackup(this.#name);
    if (code.startsWith('ZSTD_')) return this.damaged('it cannot be decompressed');
    if (error instanceof UsageError) return error;
    const why = error instanceof Error ? error.message : String(error);
    return new UsageError(`The file ${this.#name} cannot be read (${why}).`, { cause: error });
  }

  damaged(why: string, cause?: unknown): UsageError {
    return new UsageError(`The backup ${this.#name} is damaged: ${why}. Nothing was restored.`, { cause });
  }

  #incomplete(): UsageError {
    return new UsageError(
      `The backup ${this.#name} is incomplete: it ends before its last line. Nothing was restored.`,
    );
  }
}

/** Where the trailer starts in a block of whole lines; the end of the block if it is not there. Rows never start with `{`. */
function trailerStart(block: Buffer): number {
  const start = block.lastIndexOf(10, block.length - 2) + 1;
  return block.toString('latin1', start, start + trailerPrefix.length) === trailerPrefix
    ? start
    : block.length;
}

const trailerPrefix = '{"rows":';

const notBackup = (name: string) =>
  new UsageError(`The file ${name} is not a backup of Muster. Nothing was restored.`);

const isListOfTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

const isListOfLists = (value: unknown): value is unknown[][] =>
  Array.isArray(value) && value.every((item) => Array.isArray(item));

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
