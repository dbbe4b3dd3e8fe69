import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { issueImport } from '../../resources/issues/import.ts';
import { taskImport } from '../../resources/tasks/import.ts';
import type { Importable } from '../importable.ts';
import { readDate } from '../languages/dates.ts';
import { normalizeWord } from './names.ts';
import { addRating, readRating, scaleOf } from './scales.ts';
import { valueReader, valuesByWord } from './values.ts';

const project = { id: 'prj_1', key: 'APOLLO', name: 'Apollo', external_id: null };
const moment = { now: '2026-11-19T00:00:00.000Z', today: '2026-11-19', time_zone: 'UTC' };
const issues = issueImport(project, moment) as unknown as Importable;
const tasks = taskImport(project, moment) as unknown as Importable;

/** What an import makes of a text in a column of this field; undefined if it cannot read it. */
function read({ patch, values = {}, interpret = {} }: Importable, field: string, text: string): unknown {
  let found: unknown;
  const property = patch.properties[field] ?? {};
  const hints = { time_zone: 'UTC' };
  const record = (_: string, value: unknown) => {
    found = value;
  };
  const reader = valueReader(property, {
    words: values[field],
    interpret: interpret[field],
    assigned: new Map(),
    hints,
    record,
  });
  const value = reader(text);
  return found ?? (value === text ? undefined : value);
}

test('a text is read as another value only if all of it is a known word, with a code or not', () => {
  const expected: [Importable, string, string, unknown][] = [
    [issues, 'status', 'On-Hold', 'blocked'],
    [issues, 'severity', '1 - Critical', 'critical'],
    [issues, 'severity', 'P1: Showstopper', 'critical'],
    [issues, 'severity', '(2) Normal', 'medium'],
    [issues, 'severity', 'High (4)', 'high'],
    [issues, 'severity', '4 – Low', 'low'],
    [issues, 'severity', '-1', undefined],
    [issues, 'severity', '> High', undefined],
    [issues, 'severity', 'High?', undefined],
    [issues, 'severity', 'High (to be checked)', undefined],
    [issues, 'status', 'Un-resolved', undefined],
    [issues, 'status', 'Closed - duplicate', undefined],
    [issues, 'status', '❌ Done', undefined],
    [tasks, 'status', 'Won’t_Do', 'cancelled'],
    [tasks, 'status', 'On hold until 15.12.2026', undefined],
    [tasks, 'status', 'Waiting for PO 4711', undefined],
    [tasks, 'status', 'Room 1001', undefined],
    [tasks, 'status', '15.12.2026', 'done'],
    [tasks, 'status', '31.02.2026', undefined],
    [tasks, 'status', '40%', 'in_progress'],
    [tasks, 'status', '1', undefined],
    [tasks, 'status', '1%', 'in_progress'],
  ];
  for (const [importable, field, text, value] of expected)
    assert.equal(read(importable, field, text), value, text);
});

test('a date is the day of the organization, and neither a zone nor a weekday is guessed', () => {
  const expected: [string, string | undefined][] = [
    ['20.11.2026 00:30 +0200', '2026-11-19'],
    ['20 Nov 2026 11:30 PM -0500', '2026-11-21'],
    ['11/20/2026, 23:30 GMT-01', '2026-11-21'],
    ['Fri Nov 20 2026 00:30:00 GMT+0100', '2026-11-19'],
    ['2026-11-20T00:30:00+01:00', '2026-11-19'],
    ['2026-11-20 23:30 UTC', '2026-11-20'],
    ['20/Nov/26 12:10 AM +0030', '2026-11-19'],
    ['Fr. 20.11.2026', '2026-11-20'],
    ['Friday, 20 November 2026 23:30', '2026-11-20'],
    ['Do 20.11.2026', undefined],
    ['Thursday, November 20, 2026', undefined],
    ['20.11.2026 00:30 EST', undefined],
    ['2026-11-20 00:30 CET', undefined],
    ['2026-11-20 00:30 +9900', undefined],
  ];
  for (const [text, day] of expected) assert.equal(readDate(text, 'mdy', 'UTC'), day ?? text, text);
});

test('numbers before words are ratings only if they reach the highest one, or the column names their scale', () => {
  const words: Record<string, number> = { Low: 2, Medium: 3, High: 4 };
  const wordFor = (label: string) => words[label];
  const read = (name: string, texts: string[]) => {
    const evidence = {};
    for (const [i, text] of texts.entries()) addRating(evidence, text, i + 2, 5, wordFor);
    const scale = scaleOf(name, evidence, 5, wordFor);
    return 'code' in scale ? scale.code : texts.map((text) => readRating(text, 5, scale, wordFor));
  };
  const three = ['1 - Low', '2 - Medium', '3 - High'];
  assert.deepEqual(read('Impact', three), [2, 3, 4]);
  assert.deepEqual(read('Impact (1-3)', three), [1, 3, 5]);
  assert.deepEqual(read('Impact', [...three, '2']), 'unclear_scale');
  assert.deepEqual(read('Impact', ['1 - Low', '3 - Medium', '5 - High']), [1, 3, 5]);
});

test('texts of any length are equal only if all of them is', () => {
  const [one, other] = ['x', 'y'].map((end) => `${'On hold, as the supplier says '.repeat(20)}${end}`);
  assert.notEqual(normalizeWord(one ?? ''), normalizeWord(other ?? ''));
  assert.equal(normalizeWord(one ?? ''), normalizeWord((one ?? '').toUpperCase()));
});

test('nothing in front of a word or behind it is left out', () => {
  const fields = ['status', 'severity', 'priority', 'resolution'].map((field) => {
    const words = valuesByWord(issues.patch.properties[field] ?? {}, issues.values?.[field]);
    return { field, words, known: [...words.keys()].filter((word) => /^\p{L}/u.test(word)) };
  });
  const noise = fc.constantFrom(
    '>',
    '‹',
    '?',
    '❌',
    '+',
    '/',
    '!',
    '4711',
    'not',
    'un-',
    'in-',
    '15.12.2026',
    '(x)',
  );
  const texts = fc.constantFrom(...fields).chain(({ field, words, known }) =>
    fc
      .tuple(fc.constantFrom(...known), noise, fc.constantFrom('', ' ', ' - '), fc.boolean(), fc.boolean())
      .map(([word, sign, blank, isBefore, isUpper]) => {
        const text = isBefore ? `${sign}${blank}${word}` : `${word}${blank}${sign}`;
        return { field, words, text: isUpper ? text.toUpperCase() : text };
      })
      .filter(({ text }) => !words.has(normalizeWord(text))),
  );
  fc.assert(
    fc.property(texts, ({ field, text }) => {
      assert.equal(read(issues, field, text), undefined, text);
    }),
    { numRuns: 1000 },
  );
});
