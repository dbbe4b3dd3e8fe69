import { type Clock, momentOf } from '../src/core/clock.ts';

/** A clock that changes only when a test sets it. */
export function settableClock(start: string): Clock & { set(time: string): void } {
  let now = new Date(start);
  const clock = () => momentOf(now);
  return Object.assign(clock, {
    set(time: string) {
      now = new Date(time);
    },
  });
}
