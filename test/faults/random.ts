/** A seeded random number generator (mulberry32). */
export type Random = {
  /** At least 0 and less than 1. */
  next(): number;
  /** An integer from `min` to `max`, both included. */
  integer(min: number, max: number): number;
  pick<T>(items: readonly T[]): T | undefined;
  /** A new generator, so that concurrent clients do not share a sequence. */
  fork(): Random;
};

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    integer,
    pick: (items) => items[integer(0, items.length - 1)],
    fork: () => createRandom(integer(0, 2 ** 32 - 1)),
  };
}
