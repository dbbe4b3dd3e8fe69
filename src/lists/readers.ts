import { Readable } from 'node:stream';

/** Who is reading a whole list. Each holds a view of the database, and there are only so many of those. */
export type Readers = Set<Reader>;

type Reader = { began_at: number; bytes: number; leave(): void };

/** Who reads for longer than this and slower than that is left when others wait. */
const patience = 30_000;
const bytesPerSecond = 64 * 1024;

/** A stream of the pieces, whose reader counts until it ends. */
export function streamFor(
  readers: Readers,
  pieces: AsyncIterable<string | Uint8Array>,
  now: number,
): Readable {
  const reader: Reader = { began_at: now, bytes: 0, leave: () => stream.destroy() };
  const stream = Readable.from(counted(reader, pieces), { objectMode: false });
  readers.add(reader);
  return stream.once('close', () => readers.delete(reader));
}

/** Leaves the slowest of those who are too slow. Their answer ends before its end, which its framing tells them. */
export function leaveSlowest(readers: Readers, now: number): void {
  let slowest: Reader | undefined;
  let least = bytesPerSecond;
  for (const reader of readers) {
    const milliseconds = now - reader.began_at;
    const pace = (reader.bytes / milliseconds) * 1000;
    if (milliseconds > patience && pace < least) [slowest, least] = [reader, pace];
  }
  slowest?.leave();
}

async function* counted(reader: Reader, pieces: AsyncIterable<string | Uint8Array>) {
  for await (const piece of pieces) {
    reader.bytes += piece.length;
    yield piece;
  }
}
