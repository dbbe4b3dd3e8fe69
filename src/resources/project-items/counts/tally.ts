import { Names } from './project-counts.ts';

/** A value with the number of items that have it. */
export type Group = { id: string | null; count: number };

/** Counts of items that match filters: their number and that of each condition, of each project, holder and value. */
export type Tallies = { numbers: number[]; projects: Map<string, number>; holders: Tally; values: Tally };

/** Counts equal texts. */
export class Tally {
  readonly #names = new Names();
  readonly #counts: number[] = [];
  #none = 0;

  /** Adds the texts of this many items. Those that are not listed, or empty, have none. */
  add(texts: readonly string[], items: number): void {
    this.#none += items - texts.length;
    for (const text of texts) {
      const number = this.#names.numberOf(text);
      this.#counts[number] = (this.#counts[number] ?? 0) + 1;
    }
  }

  countOf(text: string): number {
    const number = this.#names.find(text);
    return number === undefined ? 0 : (this.#counts[number] ?? 0);
  }

  *groups(): Generator<Group> {
    const none = this.#none + this.countOf('');
    if (none > 0) yield { id: null, count: none };
    for (const [number, id] of this.#names.texts.entries())
      if (id) yield { id, count: this.#counts[number] ?? 0 };
  }
}
