import type { Insertable } from 'kysely';
import type { Moment } from '../src/core/clock.ts';
import { type IdKind, prefixes } from '../src/core/ids.ts';
import type { Tables } from '../src/database/tables.ts';

export type Row<Table extends keyof Tables> = Insertable<Tables[Table]>;

/** Chance and time. Days are numbered from today: -1 is yesterday. */
export type Dataset = ReturnType<typeof datasetAt>;

export function datasetAt(moment: Moment) {
  const dice = diceOf(1825);
  let serial = 4000;

  /** A weekend gives the Friday before it. A later offset never gives an earlier day. */
  function day(offset: number): string {
    const date = new Date(Date.parse(moment.today) + offset * 86_400_000);
    const afterFriday = (date.getUTCDay() + 2) % 7;
    if (afterFriday === 1 || afterFriday === 2) date.setUTCDate(date.getUTCDate() - afterFriday);
    return date.toISOString().slice(0, 10);
  }

  /** In the office hours of that day, and never after now. */
  function time(offset: number): string {
    const milliseconds = dice.between(7 * 3_600_000, 18 * 3_600_000);
    const then = new Date(Date.parse(day(offset)) + milliseconds).toISOString();
    return earlier(then, moment.now);
  }

  const offsetOf = (then: string) =>
    Math.round((Date.parse(then.slice(0, 10)) - Date.parse(moment.today)) / 86_400_000);

  /**
   * Times after `start` up to the day `until`, in order; fewer than `count` where there is no room for so many.
   * `recent` is the share for which only the last 90 days are looked at.
   */
  function timesAfter(start: string, until: number, count: number, recent: number): string[] {
    const first = Math.min(offsetOf(start), until);
    const times = Array.from({ length: count }, () => {
      const isRecent = until > -90 && dice.chance(recent);
      return time(dice.between(isRecent ? Math.max(first, -90) : first, until));
    });
    return [...new Set(times)].filter((one) => one > start).sort();
  }

  /** A UUIDv7 in base 32 as real ones are, so in the order of time, but with dice for its random part. */
  function id(kind: IdKind, created_at: string): string {
    const [high, middle, low] = [0xfff, 0x3fffffff, 0xffffffff].map((most) => BigInt(dice.between(0, most)));
    const random = ((high ?? 0n) << 64n) | ((middle ?? 0n) << 32n) | (low ?? 0n);
    const marks = (7n << 76n) | (2n << 62n);
    const digits = ((BigInt(Date.parse(created_at)) << 80n) | marks | random).toString(32);
    return `${prefixes[kind]}_${digits.padStart(26, '0')}`;
  }

  return { dice, moment, day, time, offsetOf, timesAfter, id, nextSerial: () => ++serial };
}

const earlier = (a: string, b: string) => (a < b ? a : b);
export const later = (a: string, b: string) => (a > b ? a : b);

/** Mulberry32: small, quick, and the same everywhere. */
function diceOf(seed: number) {
  let state = seed;

  function roll(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  const between = (least: number, most: number) => least + Math.floor(roll() * (most - least + 1));

  function some<T>(list: readonly T[], count: number): T[] {
    return list
      .map((item) => ({ item, place: roll() }))
      .sort((a, b) => a.place - b.place)
      .slice(0, count)
      .map(({ item }) => item);
  }

  function pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new Error('There is nothing to pick from.');
    return list[between(0, list.length - 1)] as T;
  }

  /** One of the keys, as often as its weight says. */
  function weighted<Key extends string>(weights: Partial<Record<Key, number>>): Key {
    const entries = Object.entries<number | undefined>(weights);
    let left = roll() * entries.reduce((sum, [, weight = 0]) => sum + weight, 0);
    for (const [key, weight = 0] of entries) {
      left -= weight;
      if (left < 0) return key as Key;
    }
    throw new Error('Nothing has any weight.');
  }

  const weightedNumber = (weights: Record<number, number>) => Number(weighted<string>(weights));

  return { between, chance: (share: number) => roll() < share, pick, some, weighted, weightedNumber };
}

/** Divides a total in proportion to the sizes, without a rest. */
export function shares(total: number, sizes: readonly number[]): number[] {
  const whole = sizes.reduce((sum, size) => sum + size, 0);
  let passed = 0;
  return sizes.map((size) => {
    const before = Math.round((total * passed) / whole);
    passed += size;
    return Math.round((total * passed) / whole) - before;
  });
}
