import { columnNumber } from '../rows.ts';
import { type Entry, ZipError } from '../zip.ts';

/** The last line of merged cells, by their first line and their first column. */
export type Merges = Map<number, Map<number, number>>;

const maxMerges = 100_000;

/** Longer than a piece of text that names merged cells. */
const maxLength = 200;

const merge = /mergeCell\s[^<>]{0,100}?ref="\$?([A-Z]{1,3})\$?(\d{1,7}):\$?[A-Z]{1,3}\$?(\d{1,7})"/g;

/**
 * Collects the cells of a sheet that are merged over several lines. A sheet has them after its rows, so they are searched
 * before these are parsed, which takes a fraction of the time.
 */
export async function* mergesIn(entry: Entry, maxBytes: number, merges: Merges): AsyncGenerator<void> {
  let end = Buffer.alloc(0);
  let count = 0;
  for await (const piece of entry.content(maxBytes, 0.1)) {
    const bytes = Buffer.concat([end, piece]);
    const text = bytes.includes('mergeCell') ? bytes.toString('latin1') : '';
    for (const [, column, from, to] of text.matchAll(merge)) {
      const [line, last] = [Number(from), Number(to)];
      if (last <= line) continue;
      if (++count > maxMerges)
        throw new ZipError(`it has more than ${maxMerges} merged cells`, { isTooLarge: true });
      const ofLine = merges.get(line) ?? new Map<number, number>();
      merges.set(line, ofLine.set(columnNumber(column) ?? 0, last));
    }
    end = bytes.subarray(-maxLength);
    yield;
  }
}
