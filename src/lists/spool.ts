import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Snapshot } from '../database/open.ts';

/**
 * The temporary files of slow readers. An open snapshot keeps the database from removing old row versions, so the list
 * of a slow reader moves to a file, and the reader continues from the file.
 */
export const createSpool = () => ({
  /** How long a snapshot can stay open before the rest of its list moves to a file. */
  maxSnapshotMs: 2000,
  /** The total size of all files. Above it the slowest reader is dropped. */
  maxBytes: 1024 ** 3,
  maxFiles: 256,
  /** All readers of a whole list, from a snapshot or from a file. */
  readers: new Set<Reader>(),
});

type Spool = ReturnType<typeof createSpool>;

declare module 'fastify' {
  interface FastifyInstance {
    listSpool: Spool;
  }
}

type Source = {
  /** The part of the list that is already read. */
  start: string;
  rest: AsyncGenerator<string, void>;
  snapshot: Snapshot;
  /** When the snapshot was opened, by `performance.now()`. */
  openedAt: number;
  /** Logs an error on closing the snapshot. The list itself is complete. */
  onEndError?(error: unknown): void;
};

type Pack = (text: AsyncIterable<string>) => AsyncIterable<Uint8Array>;

/** Streams a whole list and ends its snapshot, at the latest when the stream closes. */
export function streamList(spool: Spool, source: Source, pack?: Pack): Readable {
  const reader = new Reader(spool, source, (error) => stream.destroy(error));
  const text = reader.read();
  const stream = Readable.from(pack?.(text) ?? text, { objectMode: false });
  return stream.once('close', () => reader.close());
}

class Reader {
  readonly #spool: Spool;
  readonly #source: Source;
  /** Aborts the stream. The client sees from the framing that the list is incomplete. */
  readonly #cut: (error: Error) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #startedAt = performance.now();
  #sentCharacters = 0;
  #released: Promise<void> | undefined;
  #isClosed = false;

  /** Set when the rest of the list moves to a file. */
  #draining: Promise<void> | undefined;
  #file: FileHandle | undefined;
  /** Bytes of each piece in the file. */
  readonly #lengths: number[] = [];
  #isDrained = false;
  #more = Promise.withResolvers<void>();
  bytes = 0;

  constructor(spool: Spool, source: Source, cut: (error: Error) => void) {
    this.#spool = spool;
    this.#source = source;
    this.#cut = cut;
    const remainingMs = source.openedAt + spool.maxSnapshotMs - performance.now();
    this.#timer = setTimeout(() => this.#startDraining(), Math.max(0, remainingMs)).unref();
    spool.readers.add(this);
  }

  get isSpooled(): boolean {
    return this.#file !== undefined;
  }

  get charactersPerMs(): number {
    return this.#sentCharacters / (performance.now() - this.#startedAt);
  }

  async *read(): AsyncGenerator<string, void> {
    for await (const piece of this.#pieces()) {
      this.#sentCharacters += piece.length;
      yield piece;
    }
  }

  async *#pieces(): AsyncGenerator<string, void> {
    const { start, rest } = this.#source;
    if (start !== '') yield start;
    while (!this.#draining) {
      const piece = await rest.next();
      if (piece.done) return this.#release();
      yield piece.value;
    }
    yield* this.#readFile();
  }

  async *#readFile(): AsyncGenerator<string, void> {
    let position = 0;
    for (let i = 0; ; i++) {
      while (i === this.#lengths.length && !this.#isDrained && !this.#isClosed) await this.#more.promise;
      const length = this.#lengths[i];
      if (length === undefined || !this.#file) return;
      const bytes = Buffer.allocUnsafe(length);
      await readAll(this.#file, bytes, position);
      position += length;
      yield bytes.toString();
    }
  }

  async close(): Promise<void> {
    this.#stop();
    await this.#release();
    await this.#draining;
    await this.#file?.close();
    this.#file = undefined;
  }

  /** Releases the file and the connection at once, even if the client reads nothing. */
  fail(error: Error): void {
    this.#stop();
    this.#cut(error);
  }

  /** Wakes a pending read, because a stream closes only after its last read settles. */
  #stop(): void {
    this.#isClosed = true;
    this.#spool.readers.delete(this);
    this.#wake();
  }

  /** A piece that is already requested still goes to the reader; all later pieces go to the file. */
  #startDraining(): void {
    if (this.#isClosed || this.#released) return;
    this.#draining = this.#drain().catch((cause) =>
      this.fail(
        new Error(`The rest of a list could not be written to a temporary file in ${tmpdir()}.`, { cause }),
      ),
    );
  }

  async #drain(): Promise<void> {
    try {
      const file = await openTemporaryFile();
      this.#file = file;
      while (!this.#isClosed) {
        const piece = await this.#source.rest.next();
        if (piece.done) break;
        const bytes = Buffer.from(piece.value);
        await writeAll(file, bytes, this.bytes);
        this.bytes += bytes.length;
        this.#lengths.push(bytes.length);
        this.#wake();
        dropSlowest(this.#spool);
      }
      this.#isDrained = true;
    } finally {
      this.#wake();
      await this.#release();
    }
  }

  #wake(): void {
    this.#more.resolve();
    this.#more = Promise.withResolvers();
  }

  #release(): Promise<void> {
    clearTimeout(this.#timer);
    const { rest, snapshot, onEndError } = this.#source;
    this.#released ??= rest
      .return()
      .then(() => snapshot.end())
      .catch((error) => onEndError?.(error));
    return this.#released;
  }
}

/** Drops readers until the files fit. A dropped reader is removed from `readers`. */
function dropSlowest({ readers, maxBytes, maxFiles }: Spool): void {
  for (;;) {
    const spooled = [...readers].filter(({ isSpooled }) => isSpooled);
    const bytes = spooled.reduce((sum, reader) => sum + reader.bytes, 0);
    if (bytes <= maxBytes && spooled.length <= maxFiles) return;
    const slowest = spooled.reduce((a, b) => (b.charactersPerMs < a.charactersPerMs ? b : a));
    slowest.fail(
      new Error(
        'The slowest reader was dropped because the temporary files of slow readers exceed their limit.',
      ),
    );
  }
}

/** Unlinks the open file, so that it never outlives the process. */
async function openTemporaryFile(): Promise<FileHandle> {
  const path = join(tmpdir(), `muster-list-${crypto.randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  return file;
}

/** A write to an almost full disk can be partial. */
async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}

/** A read can return less than the file has. */
async function readAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let read = 0; read < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, read, bytes.length - read, position + read);
    if (bytesRead === 0)
      throw new Error('The temporary file of a list is shorter than what was written to it.');
    read += bytesRead;
  }
}
