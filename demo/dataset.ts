import type { Insertable } from 'kysely';
import type { Moment } from '../src/core/clock.ts';
import { type IdKind, prefixes } from '../src/core/ids.ts';
import type { Tables } from '../src/store/tables.ts';

export type Row<Table extends keyof Tables> = Insertable<Tables[Table]>;

/** Seeded random numbers, dates and ids. Days are offsets from today: -1 is yesterday. */
export type Dataset = ReturnType<typeof createDataset>;

export function createDataset(moment: Moment) {
  const random = createRandom(1825);
  let serial = 4000;

  /** Moves weekends to the preceding Friday, so a greater offset never returns an earlier day. */
  function day(offset: number): string {
    const date = new Date(Date.parse(moment.today) + offset * 86_400_000);
    const afterFriday = (date.getUTCDay() + 2) % 7;
    if (afterFriday === 1 || afterFriday === 2) date.setUTCDate(date.getUTCDate() - afterFriday);
    return date.toISOString().slice(0, 10);
  }

  /** Picks a time within office hours on that day, but not after now. */
  function time(offset: number): string {
    const milliseconds = random.between(7 * 3_600_000, 18 * 3_600_000);
    const picked = new Date(Date.parse(day(offset)) + milliseconds).toISOString();
    return earliest(picked, moment.now);
  }

  const offsetOf = (time: string) =>
    Math.round((Date.parse(time.slice(0, 10)) - Date.parse(moment.today)) / 86_400_000);

  /**
   * Picks up to `count` times after `start` and up to the day `until`, in ascending order. Times that are equal or not
   * after `start` are dropped. `recent` is the probability that a time falls in the last 90 days.
   */
  function timesAfter(start: string, until: number, count: number, recent: number): string[] {
    const first = Math.min(offsetOf(start), until);
    const times = Array.from({ length: count }, () => {
      const isRecent = until > -90 && random.chance(recent);
      return time(random.between(isRecent ? Math.max(first, -90) : first, until));
    });
    return [...new Set(times)].filter((one) => one > start).sort();
  }

  /** Creates a UUIDv7 in base 32, like the ids of the API, but with reproducible random bits. */
  function id(kind: IdKind, created_at: string): string {
    const [high, middle, low] = [0xfff, 0x3fffffff, 0xffffffff].map((max) => BigInt(random.between(0, max)));
    const randomBits = ((high ?? 0n) << 64n) | ((middle ?? 0n) << 32n) | (low ?? 0n);
    const versionBits = (7n << 76n) | (2n << 62n);
    const digits = ((BigInt(Date.parse(created_at)) << 80n) | versionBits | randomBits).toString(32);
    return `${prefixes[kind]}_${digits.padStart(26, '0')}`;
  }

  return { random, moment, day, time, offsetOf, timesAfter, id, nextSerial: () => ++serial };
}

const earliest = (a: string, b: string) => (a < b ? a : b);
export const latest = (a: string, b: string) => (a > b ? a : b);

/** Mulberry32, a small seeded generator with the same output on every platform. */
function createRandom(seed: number) {
  let state = seed;

  function nextRandom(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  const between = (min: number, max: number) => min + Math.floor(nextRandom() * (max - min + 1));

  function sample<T>(list: readonly T[], count: number): T[] {
    return list
      .map((item) => ({ item, rank: nextRandom() }))
      .sort((a, b) => a.rank - b.rank)
      .slice(0, count)
      .map(({ item }) => item);
  }

  function pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new Error('Cannot pick from an empty list.');
    return list[between(0, list.length - 1)] as T;
  }

  /** Picks a key with a probability proportional to its weight. */
  function pickWeighted<Key extends string>(weights: Partial<Record<Key, number>>): Key {
    const entries = Object.entries<number | undefined>(weights);
    let remaining = nextRandom() * entries.reduce((sum, [, weight = 0]) => sum + weight, 0);
    for (const [key, weight = 0] of entries) {
      remaining -= weight;
      if (remaining < 0) return key as Key;
    }
    throw new Error('Cannot pick a key: the sum of the weights is 0.');
  }

  const pickWeightedNumber = (weights: Record<number, number>) => Number(pickWeighted<string>(weights));

  return {
    between,
    chance: (probability: number) => nextRandom() < probability,
    pick,
    sample,
    pickWeighted,
    pickWeightedNumber,
  };
}

/** Splits a total into integers proportional to the sizes. The parts add up to the total. */
export function splitProportionally(total: number, sizes: readonly number[]): number[] {
  const sizeSum = sizes.reduce((sum, size) => sum + size, 0);
  let cumulative = 0;
  return sizes.map((size) => {
    const before = Math.round((total * cumulative) / sizeSum);
    cumulative += size;
    return Math.round((total * cumulative) / sizeSum) - before;
  });
}

/** Day offset of the first roster import. People who joined after it were added when they were hired. */
export const rosterImportDay = -620;

/** `changed` is the day of the last change, or null for a row that never changed. */
export function createTimestamps(dataset: Dataset, created_at: string, changed: number | null) {
  const updated_at = changed === null ? created_at : latest(created_at, dataset.time(changed));
  const version = updated_at === created_at ? 1 : dataset.random.between(2, 9);
  return { version, created_at, updated_at };
}
