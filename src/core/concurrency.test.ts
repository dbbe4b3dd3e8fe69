import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createTurns } from './concurrency.ts';

/** Keeps the event loop busy. */
const work = (ms: number) => {
  for (const end = performance.now() + ms; performance.now() < end; );
};

test('work beyond the length of a turn continues in later turns, in the order of the calls', async () => {
  const turns = createTurns(5);
  const done: number[] = [];
  for (let i = 0; i < 6; i++)
    turns.run(() => {
      work(4);
      done.push(i);
    });
  assert.ok(done.length < 6, 'all of it ran in one turn');
  while (done.length < 6) await nextTurn();
  assert.deepEqual(done, [0, 1, 2, 3, 4, 5]);
});

test('work that fails does not keep the rest waiting', async () => {
  const turns = createTurns(5);
  const errors: unknown[] = [];
  const listeners = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException').on('uncaughtException', (error) => errors.push(error));
  try {
    turns.run(() => work(6));
    turns.run(() => {
      throw new Error('broken');
    });
    const next = new Promise<void>((resolve) => turns.run(resolve));
    await next;
  } finally {
    process.removeAllListeners('uncaughtException');
    for (const listener of listeners) process.on('uncaughtException', listener);
  }
  assert.deepEqual(errors.map(String), ['Error: broken']);
});
