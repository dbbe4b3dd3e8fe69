import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idPattern, newId } from './ids.ts';

test('ids are unique and sort in order of creation', () => {
  const ids = Array.from({ length: 100_000 }, () => newId('risk'));
  assert.ok(ids.every((id, i) => i === 0 || id > (ids[i - 1] ?? '')));
  assert.match(ids[0] ?? '', new RegExp(idPattern('risk')));
});

test('the first digits of an id contain its creation time', () => {
  const before = Date.now();
  const bits = [...newId('risk').slice(4, 14)].map((digit) =>
    parseInt(digit, 32).toString(2).padStart(5, '0'),
  );
  const at = parseInt(bits.join('').slice(2), 2);
  assert.ok(at >= before && at <= Date.now() + 1000, `${at} is not now`);
});
