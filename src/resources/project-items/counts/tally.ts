/** A value with the number of items that have it. */
export type Group = { id: string | null; count: number };

/** Counts of items that match filters: their number and that of each condition, of each project, holder and value. */
export type Tallies = { numbers: number[]; projects: Map<string, number>; holders: Tally; values: Tally };

/** Counts equal texts. */
export class Tally {
  readonly #counts = new Map<string, number>();
  #none = 0;

  /** Adds the texts of this many items. Those that are not listed, or empty, have none. */
  add(texts: readonly string[], items: number): void {
    this.#none += items - texts.length;
    for (const text of texts) this.#counts.set(text, (this.#counts.get(text) ?? 0) + 1);
  }

  countOf(text: string): number {
    return this.#counts.get(text) ?? 0;
  }

  *groups(): Generator<Group> {
    const none = this.#none + (this.#counts.get('') ?? 0);
    if (none > 0) yield { id: null, count: none };
    for (const [id, count] of this.#counts) if (id !== '') yield { id, count };
  }
}
