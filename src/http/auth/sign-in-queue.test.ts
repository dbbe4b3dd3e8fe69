import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Problem } from '../../core/errors.ts';
import { createSignInQueue } from './sign-in-queue.ts';

/** A queue that runs one at a time, with attempts that end when the test says so. */
function startQueue(failed_auth_limit = 30) {
  let time = 1_000_000;
  const queue = createSignInQueue({ failed_auth_limit, thread_pool: 3 }, () => time);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const outcomes: string[] = [];
  const enter = (
    of: string,
    { isKnown = false, isRight = true, isGone = (): boolean => false, network = '' } = {},
  ) => {
    const work = () =>
      new Promise<boolean>((resolve) => {
        begun.push(of);
        ends.push(() => resolve(isRight));
      });
    queue.run({ of, isKnown, isGone, ...(network && { network }) }, work).then(
      (right) => outcomes.push(`${of} ${right}`),
      (error) => outcomes.push(`${of} ${error instanceof Problem ? error.code : error}`),
    );
  };
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const finish = async (count = 1) => {
    await settle();
    for (let i = 0; i < count; i++) {
      ends.shift()?.();
      await settle();
    }
  };
  const wait = (ms: number) => {
    time += ms;
  };
  return { queue, enter, finish, settle, wait, begun, outcomes };
}

test('networks take turns, and those where somebody has signed in before go first', async () => {
  const { enter, finish, begun, queue } = startQueue();
  for (let i = 0; i < 3; i++) enter('a');
  for (let i = 0; i < 2; i++) enter('b');
  enter('c');
  enter('office', { isKnown: true });
  await finish(7);
  assert.deepEqual(begun, ['a', 'office', 'a', 'b', 'c', 'a', 'b']);
  assert.deepEqual({ ...queue.counts }, { hashes: 7, running: 0, waiting: 0 });
});

test('a network with failures comes last and has two waiting', async () => {
  const { enter, finish, begun, outcomes, queue } = startQueue();
  for (let i = 0; i < 10; i++) enter('a', { isRight: false });
  await finish(5);
  assert.equal(queue.counts.waiting + queue.counts.running, 2, 'those beyond two are rejected');
  assert.equal(outcomes.filter((one) => one === 'a rate_limited').length, 3);
  enter('a');
  enter('a');
  enter('b');
  await finish(4);
  assert.deepEqual(begun.slice(5), ['a', 'b', 'a', 'a']);
  assert.equal(outcomes.filter((one) => one === 'a rate_limited').length, 4);
});

test('a network that has failed too often costs nothing for a minute, even by attempts that run at once', async () => {
  const { enter, finish, settle, wait, begun, outcomes } = startQueue(3);
  for (let i = 0; i < 6; i++) enter('a', { isRight: false });
  await finish(3);
  assert.deepEqual([begun.length, outcomes.filter((one) => one === 'a rate_limited').length], [3, 3]);
  wait(59_999);
  enter('a');
  await settle();
  assert.equal(begun.length, 3);
  wait(1);
  enter('a');
  await finish();
  assert.deepEqual([begun.length, outcomes.at(-1)], [4, 'a true']);
  // A clock that was set back does not keep anybody out.
  wait(-600_000);
  enter('a');
  await finish();
  assert.equal(begun.length, 5);
});

test('what known people fail counts for their network, which leaves each of them one attempt', async () => {
  const { enter, finish, settle, begun, outcomes } = startQueue(3);
  const known = { isKnown: true, network: 'office' };
  for (let i = 0; i < 3; i++) enter('ada', { ...known, isRight: false });
  await finish(3);
  assert.equal(begun.length, 3);
  enter('office');
  enter('ada', known);
  await settle();
  assert.deepEqual([begun.length, outcomes.slice(3)], [3, ['office rate_limited', 'ada rate_limited']]);
  for (let i = 0; i < 3; i++) enter('bob', { ...known, isRight: false });
  await finish(3);
  assert.deepEqual(begun.slice(3), ['bob']);
  enter('eve', known);
  await finish();
  assert.deepEqual(begun.slice(4), ['eve']);
});

test('one person or browser has few waiting', async () => {
  const { enter, finish, settle, begun, outcomes, queue } = startQueue();
  for (let i = 0; i < 1000; i++) enter('ada', { isKnown: true });
  await settle();
  assert.deepEqual([queue.counts.waiting, outcomes.length], [5, 994]);
  enter('bob', { isKnown: true });
  await finish(3);
  assert.deepEqual(begun.slice(0, 3), ['ada', 'ada', 'bob']);
  await finish(5);
});

test('an attempt whose client is gone is not made', async () => {
  const { enter, finish, settle, begun, outcomes } = startQueue();
  enter('a');
  enter('b', { isGone: () => true });
  enter('c');
  await finish(2);
  await settle();
  assert.deepEqual(begun, ['a', 'c']);
  assert.ok(outcomes.includes('b unavailable'));
});

test('a full queue rejects the last of whoever has most waiting', async () => {
  const { enter, finish, settle, begun, outcomes, queue } = startQueue(0);
  for (let i = 0; i < 1001; i++) enter(i % 3 === 0 ? 'a' : 'b');
  await settle();
  assert.equal(queue.counts.waiting, 1000);
  enter('b');
  enter('c');
  enter('office', { isKnown: true });
  await settle();
  assert.equal(queue.counts.waiting, 1000);
  assert.deepEqual(outcomes, ['b unavailable', 'b unavailable', 'b unavailable']);
  await finish(4);
  assert.deepEqual(begun.slice(0, 5), ['a', 'office', 'b', 'a', 'c']);
  await finish(1000);
  assert.deepEqual({ ...queue.counts, hashes: 0 }, { hashes: 0, running: 0, waiting: 0 });
});
