import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Charges, FromWorker, Peers } from '../ops/peers.ts';
import { sharedRateLimiter } from './shared-limits.ts';

/** Two workers that are connected. `deliver` passes on what they have reported. */
function twoWorkers(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const listeners: ((message: Charges) => void)[] = [];
  const reports: { from: number; message: FromWorker }[] = [];
  const limiters = [0, 1].map((from) => {
    const peers = {
      send: (message: FromWorker) => reports.push({ from, message }),
      on: (_type: string, listener: (message: Charges) => void) => listeners.push(listener),
    };
    return sharedRateLimiter('key', peers as unknown as Peers);
  });
  const deliver = () => {
    t.mock.timers.tick(50);
    for (const { from, message } of reports.splice(0)) listeners[1 - from]?.(message as Charges);
  };
  return { limiters, deliver, reports };
}

const left = (headers: Readonly<Record<string, string>>) =>
  Number(/r=(\d+)/.exec(headers.ratelimit ?? '')?.[1]);

test('a worker counts what other workers have admitted, once it is reported', (t) => {
  const { limiters, deliver } = twoWorkers(t);
  const [one, other] = limiters as [(typeof limiters)[0], (typeof limiters)[0]];
  for (let i = 0; i < 30; i++) one.charge('a', 100, 0);
  assert.equal(left(other.charge('a', 100, 0).headers), 99);
  deliver();
  assert.equal(left(one.charge('a', 100, 1).headers), 68);
  assert.equal(left(other.charge('a', 100, 1).headers), 68);
});

test('a request that was returned is not reported', (t) => {
  const { limiters, deliver, reports } = twoWorkers(t);
  const [one, other] = limiters as [(typeof limiters)[0], (typeof limiters)[0]];
  one.charge('a', 100, 0);
  one.refund('a', 100, 0);
  t.mock.timers.tick(50);
  assert.deepEqual(reports, []);
  one.charge('a', 100, 0);
  deliver();
  one.refund('a', 100, 0);
  deliver();
  assert.equal(left(other.charge('a', 100, 1).headers), 99);
});

test('a burst from each worker is at most admitted once, and delays what follows', (t) => {
  const { limiters, deliver } = twoWorkers(t);
  const admitted = (now: number) =>
    limiters.flatMap((limiter) =>
      Array.from({ length: 300 }, () => limiter.charge('a', 600, now)).filter(({ isAllowed }) => isAllowed),
    ).length;
  assert.equal(admitted(0), 400);
  deliver();
  // 600 per minute are 10 per second, and 200 were admitted too much.
  assert.equal(admitted(20_000), 0);
  deliver();
  assert.equal(admitted(21_000), 20);
  deliver();
  assert.equal(admitted(22_000), 0);
});
