import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Property } from '../../formats/cells.ts';
import { issueImport } from '../../resources/issues/import.ts';
import { peopleImport } from '../../resources/personnel/import.ts';
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
const people = peopleImport(moment) as unknown as Importable;

/** What an import makes of a text in a column of this field; undefined if it cannot read it. */
function read({ patch, values = {}, interpret = {} }: Importable, field: string, text: string): unknown {
  let found: unknown;
  const property: Property = patch.properties[field] ?? {};
  const words = valuesByWord(property, values[field]);
  const wordFor = (label: string) => words.get(normalizeWord(label));
  const evidence = {};
  if (property.maximum) addRating(evidence, text, 2, property.maximum, wordFor);
  const scale = scaleOf(field, evidence, property.maximum ?? 0, wordFor);
  // Of a column whose numbers do not run with their words, the import asks.
  if ('code' in scale) return undefined;
  const hints = { time_zone: 'UTC', scale };
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

/** Whether a text is read by a notation, whatever the words are: written apart from the code that is tested. */
function isKnownText(text: string, words: ReadonlySet<string>, others: RegExp): boolean {
  const plain = (part: string) =>
    part
      .trim()
      .normalize('NFD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .replace(/['’]/g, '')
      .replace(/[\s_\p{Pd}]+/gu, ' ');
  const [, after] = /^(?:\(\p{L}?\d{1,3}\)|\p{L}?\d{1,3}\s*[\p{Pd}:=.)])\s*(\p{L}.*)$/su.exec(text) ?? [];
  const [, before] = /^(\p{L}.*?)[([]\p{L}?\d{1,3}[)\]]$/su.exec(text) ?? [];
  return (
    others.test(text) || [text, after, before].some((part) => part !== undefined && words.has(plain(part)))
  );
}

test('no random text is translated unless all of it is a word, a code with a word, a percentage or a date', () => {
  const rating: Importable = {
    ...issues,
    patch: { ...issues.patch, properties: { impact: { type: 'integer', minimum: 1, maximum: 5 } } as never },
    values: { impact: { 1: 'rare, very low', 3: 'medium', 5: 'almost certain' } },
  };
  const nothing = /^$/;
  // The schema rejects the last one.
  const day = /^(?:15\.12\.2026|2026-12-15|15 Dec 2026|31\.02\.2026)(?:,? 12:30|,12:30)?$/i;
  const fields = [
    ...['status', 'severity', 'priority', 'resolution'].map((field) => ({
      of: issues,
      field,
      others: nothing,
    })),
    { of: tasks, field: 'status', others: new RegExp(`^\\d{1,3}\\s*%?$|${day.source}`, 'i') },
    ...['status', 'kind'].map((field) => ({ of: people, field, others: nothing })),
    { of: rating, field: 'impact', others: /^\d{1,3}(?:\s*%)?$/ },
    // A cell of signs only has no day.
    { of: issues, field: 'due_on', others: new RegExp(`${day.source}|^[^\\p{L}\\p{N}]+$`, 'iu') },
  ].map((one) => {
    const property = one.of.patch.properties[one.field] ?? {};
    const words = new Set(valuesByWord(property, one.of.values?.[one.field]).keys());
    if (one.field === 'due_on') for (const word of ['tbd', 'n/a', 'none', 'na']) words.add(word);
    return { ...one, words };
  });
  const pieces = fc.oneof(
    fc.constantFrom('not', 'un', 'in', 'until', 'nicht', 'last year', 'x', 'P', 'N/A', 'none', '%'),
    fc.constantFrom('0', '1', '2', '4', '12', '100', '4711', '40%'),
    fc.constantFrom(
      '>',
      '‹',
      '?',
      '❌',
      '-',
      '–',
      '+',
      '/',
      '!',
      ':',
      '=',
      '.',
      ',',
      '_',
      '~',
      '#',
      '*',
      '✔',
    ),
    fc.constantFrom('15.12.2026', '2026-12-15', '15 Dec 2026', '31.02.2026', '12:30'),
    fc.constantFrom('(', ')', '[', ']', '(x)', '(4)', '[50%]', '(2026)', '<a@b.example>', '()'),
  );
  const texts = fc.nat({ max: fields.length - 1 }).chain((at) => {
    const known = fc.constantFrom(...(fields[at]?.words ?? []));
    const list = fc.array(fc.oneof(pieces, known), { minLength: 1, maxLength: 4 });
    return fc
      .tuple(list, fc.constantFrom('', ' ', ' - ', ', '), fc.boolean())
      .map(([parts, blank, isUpper]) => ({ at, text: parts.join(blank).trim(), isUpper }))
      .filter(({ text }) => text !== '')
      .map(({ at, text, isUpper }) => ({ at, text: isUpper ? text.toUpperCase() : text }));
  });
  let translated = 0;
  fc.assert(
    fc.property(texts, ({ at, text }) => {
      const { of, field, words, others } = fields[at] as (typeof fields)[number];
      const value = read(of, field, text);
      if (value === undefined) return;
      translated++;
      assert.ok(isKnownText(text, words, others), `${field}: “${text}” is ${String(value)}`);
    }),
    { numRuns: 5000 },
  );
  assert.ok(translated > 500, 'Known texts must be among them.');
});
