import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { issueImport } from '../../resources/issues/import.ts';
import { taskImport } from '../../resources/tasks/import.ts';
import type { Importable } from '../importable.ts';
import { normalizeWord } from './names.ts';
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
