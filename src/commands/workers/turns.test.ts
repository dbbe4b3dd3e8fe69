import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ToWorker } from '../../http/ops/peers.ts';
import { createTurnQueue } from './turns.ts';

/** The messages to the workers, as `1 turn` or, if another worker waits, `1 turn wanted`. */
function record() {
  const sent: string[] = [];
  const turns = createTurnQueue((id, message: ToWorker) => {
    sent.push(`${id} ${message.type}${message.type === 'turn' && message.isWanted ? ' wanted' : ''}`);
  });
  return { turns, take: () => sent.splice(0) };
}

test('workers get their turns in the order in which they ask', () => {
  const { turns, take } = record();
  turns.take(1);
  assert.deepEqual(take(), ['1 turn']);
  turns.take(2);
  turns.take(3);
  assert.deepEqual(take(), ['1 turn wanted', '1 turn wanted']);
  turns.end(1);
  assert.deepEqual(take(), ['2 turn wanted']);
  turns.take(1);
  turns.end(2);
  turns.end(3);
  assert.deepEqual(take(), ['2 turn wanted', '3 turn wanted', '1 turn']);
});

test('a worker that ends loses its turn and its place', () => {
  const { turns, take } = record();
  for (const id of [1, 2, 3]) turns.take(id);
  take();
  turns.remove(2);
  assert.deepEqual(take(), []);
  turns.remove(1);
  assert.deepEqual(take(), ['3 turn']);
  turns.end(1);
  assert.deepEqual(take(), []);
});
