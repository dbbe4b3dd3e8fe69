import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clockIn, daysLater, endOf, momentOf, startOf } from './clock.ts';
import { dayAt, isTimeZone, startOfDay } from './time-zones.ts';

test('a day starts at the local midnight, or at the first instant after it', () => {
  const starts: [zone: string, day: string, start: string][] = [
    ['UTC', '2026-11-15', '2026-11-15T00:00:00.000Z'],
    ['America/Los_Angeles', '2026-11-15', '2026-11-15T08:00:00.000Z'],
    ['Pacific/Auckland', '2026-11-15', '2026-11-14T11:00:00.000Z'],
    ['Pacific/Kiritimati', '2026-11-15', '2026-11-14T10:00:00.000Z'],
    ['Asia/Kolkata', '2026-11-15', '2026-11-14T18:30:00.000Z'],
    ['Asia/Kathmandu', '2026-11-15', '2026-11-14T18:15:00.000Z'],
    ['America/St_Johns', '2026-11-15', '2026-11-15T03:30:00.000Z'],
    // Clocks change at 0:00 to 1:00.
    ['America/Santiago', '2026-09-06', '2026-09-06T04:00:00.000Z'],
    ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00.000Z'],
    // Clocks change at 24:00 back to 23:00.
    ['America/Santiago', '2026-04-05', '2026-04-05T04:00:00.000Z'],
    // Samoa skipped this day.
    ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00.000Z'],
    ['Pacific/Apia', '2011-12-31', '2011-12-30T10:00:00.000Z'],
  ];
  for (const [zone, day, start] of starts) {
    assert.equal(startOfDay(day, zone), start, `${zone} ${day}`);
    assert.equal(startOfDay(day, zone), start, `${zone} ${day}, cached`);
  }
});

test('days have 23 or 25 hours where clocks change', () => {
  const hours = (day: string, time_zone: string) =>
    (Date.parse(endOf(day, { time_zone })) - Date.parse(startOf(day, { time_zone }))) / 3_600_000;
  const changes: [zone: string, spring: string, autumn: string][] = [
    ['America/Los_Angeles', '2026-03-08', '2026-11-01'],
    ['Europe/Berlin', '2026-03-29', '2026-10-25'],
    ['Pacific/Auckland', '2026-09-27', '2026-04-05'],
    ['America/Santiago', '2026-09-06', '2026-04-04'],
  ];
  for (const [zone, spring, autumn] of changes) {
    assert.equal(hours(spring, zone), 23, zone);
    assert.equal(hours(autumn, zone), 25, zone);
    assert.equal(hours(daysLater(spring, 1), zone), 24, zone);
  }
  assert.equal(hours('2026-10-04', 'Australia/Lord_Howe'), 23.5);
});

test('each day of each time zone ends where the next one starts', () => {
  for (const zone of Intl.supportedValuesOf('timeZone')) {
    for (let day = '2026-03-01'; day < '2027-03-01'; day = daysLater(day, 5)) {
      const start = Date.parse(startOfDay(day, zone));
      assert.equal(dayAt(start, zone), day, `${zone} ${day}`);
      assert.equal(dayAt(start - 1, zone), daysLater(day, -1), `${zone} ${day}`);
    }
  }
});

test('a clock changes its day at the local midnight, also when it is set back', () => {
  const time_zone = 'America/Los_Angeles';
  let now = '';
  const clock = clockIn(time_zone, () => momentOf(new Date(now)));
  const days: [now: string, today: string][] = [
    ['2026-11-01T06:59:59.999Z', '2026-10-31'],
    ['2026-11-01T07:00:00.000Z', '2026-11-01'],
    ['2026-11-02T07:59:59.999Z', '2026-11-01'],
    ['2026-11-02T08:00:00.000Z', '2026-11-02'],
    ['2026-11-01T06:00:00.000Z', '2026-10-31'],
    ['2027-03-15T06:59:59.999Z', '2027-03-14'],
    ['2027-03-15T07:00:00.000Z', '2027-03-15'],
  ];
  for (const [time, today] of days) {
    now = time;
    assert.deepEqual(clock(), { now: time, today, time_zone });
    assert.deepEqual(momentOf(new Date(time), time_zone), { now: time, today, time_zone });
  }
});

test('only names of the IANA database are time zones', () => {
  for (const zone of ['UTC', 'Etc/UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Asia/Calcutta', 'Etc/GMT+8'])
    assert.equal(isTimeZone(zone), true, zone);
  for (const text of ['', '+01:00', '-0800', 'Mars/Olympus', 'Europe/Berlin ', 'Pacific', '8'])
    assert.equal(isTimeZone(text), false, text);
});
