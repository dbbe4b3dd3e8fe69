import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clockIn, momentOf } from '../../core/clock.ts';
import { readExpiry } from './keys.ts';

const clock = clockIn('America/Los_Angeles', () => momentOf(new Date('2026-11-18T12:00:00Z')));

test('a time without an offset is UTC, whatever the time zone of the machine', (t) => {
  const { TZ } = process.env;
  t.after(() => {
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  });
  for (const zone of ['UTC', 'Asia/Tokyo', 'America/New_York']) {
    process.env.TZ = zone;
    assert.equal(readExpiry('2027-01-31T18:00', clock()), '2027-01-31T18:00:00.000Z', zone);
    assert.equal(readExpiry('2027-01-31 18:00:30', clock()), '2027-01-31T18:00:30.000Z', zone);
    assert.equal(readExpiry('2027-01-31T18:00:00+09:00', clock()), '2027-01-31T09:00:00.000Z', zone);
    assert.equal(readExpiry('2027-01-31T18:00z', clock()), '2027-01-31T18:00:00.000Z', zone);
  }
});

test('a date is its start in the time zone of the organization', () => {
  assert.equal(readExpiry('2027-01-31', clock()), '2027-01-31T08:00:00.000Z');
  assert.equal(readExpiry('90d', clock()), '2027-02-16T12:00:00.000Z');
});

test('a day or time that does not exist is refused', () => {
  for (const text of [
    '2027-02-30',
    '2027-02-30T10:00',
    '2027-02-29T10:00:00Z',
    '2027-13-01',
    '2027-01-31T25:00',
    '2027-01-31T',
    '2027-01-31 or so',
    'tomorrow',
  ])
    assert.throws(
      () => readExpiry(text, clock()),
      { message: /^--expires is “.*” but must be a date/ },
      text,
    );
  assert.throws(() => readExpiry('2026-11-17', clock()), /in the past/);
});
