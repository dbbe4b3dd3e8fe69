import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { ImportResult } from './schema.ts';

const blockRows = 500;
const maxRanges = 100;

type Status = ImportResult['status'];

type KeptResults = { counts: Record<Status, number>; packed: string[] };

/**
 * The results of all rows, in the order of the file, whatever the order in which the rows are done. Those of a block of
 * rows that is done are kept packed: what is said of a hundred thousand rows is long, and much the same.
 */
export class Results {
  readonly counts: Record<Status, number> = { created: 0, updated: 0, unchanged: 0, failed: 0, skipped: 0 };
  readonly #rows: number;
  readonly #open = new Map<number, { texts: string[]; left: number }>();
  readonly #packed: Buffer[] = [];
  /** The line of each row that is in the database; 0 of the others. */
  readonly #lines: Uint32Array;

  constructor(rows: number) {
    this.#rows = rows;
    this.#lines = new Uint32Array(rows);
  }

  /** As they were kept: see `toJSON`. */
  static from(kept: Results | KeptResults): Results {
    if (kept instanceof Results) return kept;
    const results = new Results(0);
    Object.assign(results.counts, kept.counts);
    results.#packed.push(...kept.packed.map((block) => Buffer.from(block, 'base64')));
    return results;
  }

  toJSON(): KeptResults {
    return { counts: this.counts, packed: this.#packed.map((block) => block.toString('base64')) };
  }

  get done(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count, 0);
  }

  set(index: number, result: ImportResult): void {
    this.counts[result.status]++;
    if (result.status !== 'failed') this.#lines[index] = result.line;
    const block = Math.floor(index / blockRows);
    const size = Math.min(blockRows, this.#rows - block * blockRows);
    const open = this.#open.get(block) ?? { texts: [], left: size };
    this.#open.set(block, open);
    open.texts[index % blockRows] = JSON.stringify(result);
    open.left--;
    if (open.left > 0) return;
    this.#packed[block] = deflateRawSync(open.texts.join('\n'), { level: 1 });
    this.#open.delete(block);
  }

  /** The lines of the rows that are in the database, such as `2-501, 503`. */
  importedLines(): string {
    const ranges: string[] = [];
    for (let at = 0; at < this.#rows && ranges.length < maxRanges; at++) {
      const first = this.#lines[at];
      if (!first) continue;
      while (this.#lines[at + 1]) at++;
      const last = this.#lines[at];
      ranges.push(first === last ? `${first}` : `${first}-${last}`);
    }
    return ranges.length < maxRanges ? ranges.join(', ') : `${ranges.join(', ')} and others`;
  }

  /** The results as JSON, some at a time. */
  *texts(): Generator<string[]> {
    for (const block of this.#packed) yield inflateRawSync(block).toString().split('\n');
  }

  /** Nothing was done after all: what would have been is skipped. */
  *textsOfNothing(): Generator<string[]> {
    for (const texts of this.texts()) yield texts.map(skippedUnlessFailed);
  }
}

function skippedUnlessFailed(text: string): string {
  const { line, status } = JSON.parse(text) as ImportResult;
  return status === 'failed' ? text : JSON.stringify({ line, status: 'skipped' });
}
