import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayIn, orderIn } from '../src/cells/days.ts';

const daysIn = (...texts: string[]) => texts.map((text) => dayIn(text, orderIn(texts)));

test('pasted days are read as in imports, and another text is no day', () => {
  assert.deepEqual(
    daysIn('2027-03-01', '31.03.2027', '30 Nov 2026', 'Nov 30, 2026', '15 mars 2027', '15 de marzo de 2027'),
    ['2027-03-01', '2027-03-31', '2026-11-30', '2026-11-30', '2027-03-15', '2027-03-15'],
  );
  for (const text of ['15-Nov', '31 Feb 2026', 'Sprint 12', 'May', '2026-02-31', '03/04/2026', '3 jui 2026'])
    assert.deepEqual(daysIn(text), [undefined], text);
  assert.deepEqual(daysIn('03/04/2026', '25/04/2026'), ['2026-04-03', '2026-04-25']);
  assert.deepEqual(daysIn('03/04/2026', '04/25/2026'), ['2026-03-04', '2026-04-25']);
});
