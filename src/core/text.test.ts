import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { newId } from './ids.ts';
import { fold, foldAll, hasForbiddenCharacters, joinWords, nearest, normalize } from './text.ts';

test('folding removes case, accents and extra spaces', () => {
  assert.equal(fold('  Jürgen   MÜLLER\n'), 'jurgen muller');
  assert.equal(fold('ﬁ'), 'fi');
  assert.equal(fold('Łukasz Sørensen Weiß Æsir'), 'lukasz sorensen weiss aesir');
  assert.equal(foldAll(['Ada\nB', null, 'C']), 'ada b\nc');
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => assert.equal(fold(fold(text)), fold(text))));
});

test('suggests the closest candidate for a misspelled word', () => {
  assert.equal(nearest('limt', ['limit', 'cursor']), 'limit');
  assert.equal(nearest('nmae', ['name', 'email']), 'name');
  assert.equal(nearest('owner', ['limit', 'cursor']), undefined);
});

test('joins words with commas and “and”', () => {
  const joined = [[], ['a'], ['a', 'b'], ['a', 'b', 'c']].map(joinWords);
  assert.deepEqual(joined, ['', 'a', 'a and b', 'a, b and c']);
});

test('finds control characters but not newline and tab', () => {
  assert.ok(!hasForbiddenCharacters('a\n\tb 👩‍🚀'));
  for (const bad of ['\u0000', '\r', '\u001b', '\u007f', '\u0085', '\udc00'])
    assert.ok(hasForbiddenCharacters(bad));
});

test('accepts up to 30 combining marks in a row, and folds longer runs in linear time', () => {
  const run = (marks: number) => `a${'\u0323\u0301'.repeat(marks / 2)}`;
  assert.ok(!hasForbiddenCharacters(run(30)));
  assert.ok(hasForbiddenCharacters(run(32)));
  assert.ok(hasForbiddenCharacters(`${run(30)}${'\uff9e'.repeat(2)}`), 'these become marks');
  assert.equal(normalize(run(2)), '\u1ea1\u0301');
  // In quadratic time this would take a minute.
  const long = run(300_000);
  assert.equal(normalize(long), long);
  assert.equal(fold(long), 'a');
});

test('ids are ordered by time and never the same', () => {
  const ids = Array.from({ length: 1000 }, () => newId('risk'));
  assert.deepEqual([...ids].sort(), ids);
  assert.equal(new Set(ids).size, 1000);
});
