import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkedText, fold, foldAll, hasForbiddenCharacters, joinWords, nearest, normalize } from './text.ts';

test('folding removes case, accents and extra spaces', () => {
  assert.equal(fold('  Jürgen   MÜLLER\n'), 'jurgen muller');
  assert.equal(fold('ﬁ'), 'fi');
  assert.equal(fold('Łukasz Sørensen Weiß Æsir'), 'lukasz sorensen weiss aesir');
  assert.equal(foldAll(['Ada\nB', null, 'C']), 'ada b\nc');
  assert.equal(fold('Ёлка Άδης שָׁלוֹם مُحَمَّد أحمد ❤\ufe0f'), 'елка αδησ שלום محمد احمد ❤');
  assert.equal(fold('ΟΔΟΣ ΣΑΣ'), fold('οδος σασ'));
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => assert.equal(fold(fold(text)), fold(text))));
});

test('folding keeps vowels and other marks without which a word is another one', () => {
  for (const [one, other] of [
    'राम रमी',
    'काल कल',
    'กัน กิน',
    'தமிழ் தமழ',
    'বাংলা বল',
    'ガラス カラス',
    'ខ្មែរ ខមរ',
    'ދިވެހި ދވހ',
  ].map((pair) => pair.split(' ')))
    assert.notEqual(fold(one ?? ''), fold(other ?? ''));
  assert.equal(fold('ｶﾞﾗｽ'), fold('ガラス'));
});

test('only a blank text folds to nothing', () => {
  for (const text of ['\u0301', '´', '¨', '\u20e3', '\u05b0 \u064b']) assert.notEqual(fold(text), '');
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => assert.equal(fold(text) === '', text.trim() === '')),
  );
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

test('a text without anything visible is empty', () => {
  const invisible =
    '\u200b \u200c\u200d\u200e\u202e\u2060\u2066\u00ad\u034f\u061c\u115f\u1160\u17b4\u180e\u3164\uffa0\ufe0f\ufeff\ufff9' +
    '\u00a0\u3000\u2800\u{1d159}\u{1d173}\u{13441}\u{e0001}\u{e0041}\u{e0100}';
  for (const text of [invisible, ...invisible]) {
    assert.equal(normalize(text), '', String(text.codePointAt(0)));
    assert.equal(checkedText(text), '', String(text.codePointAt(0)));
  }
  for (const text of ['\u0301', '\u05b0 \u064b', '\u20e3'])
    assert.equal(checkedText(text), '', 'accents only');
  for (const text of ['.', 'a\u200b', '👩‍🚀', '\u2801', 'ㄱ', '🏴\u{e0067}\u{e007f}', '\u093e'])
    assert.equal(checkedText(text), text.normalize('NFC'));
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
