import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { daysLater, type Moment } from '../core/clock.ts';
import type { Database } from '../database/open.ts';
import type { EventType } from '../resources/events/schema.ts';
import { issueSubject } from '../resources/issues/queries.ts';
import { personSubject } from '../resources/personnel/queries.ts';
import { riskSubject } from '../resources/risks/queries.ts';
import { taskSubject } from '../resources/tasks/queries.ts';
import { keySubject } from '../store/access/key-writes.ts';
import type { Tables } from '../store/tables.ts';
import { bySystem } from '../store/writes/change.ts';
import { addEvent, type Subject } from '../store/writes/events.ts';
import { lockTables } from '../store/writes/locks.ts';

/** A type of event that a date causes. */
type DatedEvent = {
  subject: Subject;
  /** The date or time that must have passed. */
  due: RawBuilder<string>;
  /** The resources that are concerned when it passes. */
  matches: RawBuilder<boolean>;
  /** The time that `due` must be before: the current day, or a later time for an event in advance. */
  until(moment: Moment): string;
};

const today = (moment: Moment) => moment.today;
const isWritable = sql<boolean>`projects.archived_at is null`;

const datedEvents: Partial<Record<EventType, DatedEvent>> = {
  'risk.review_overdue': {
    subject: riskSubject,
    due: sql.ref('risks.review_on'),
    matches: sql`risks.active = 1 and ${isWritable}`,
    until: today,
  },
  'issue.overdue': {
    subject: issueSubject,
    due: sql.ref('issues.due_on'),
    matches: sql`issues.open = 1 and ${isWritable}`,
    until: today,
  },
  'task.overdue': {
    subject: taskSubject,
    due: sql.ref('tasks.due_on'),
    matches: sql`tasks.open = 1 and ${isWritable}`,
    until: today,
  },
  'person.ended': {
    subject: personSubject,
    due: sql.ref('people.end_on'),
    matches: sql`people.status = 'active'`,
    until: today,
  },
  'key.expiring': {
    subject: keySubject,
    due: sql.ref('keys.expires_at'),
    matches: sql`keys.revoked_at is null`,
    // Hourly is precise enough.
    until: ({ now }) => `${daysLater(now.slice(0, 10), 7)}${now.slice(10, 13)}`,
  },
};

/** For each type of event: up to when its events are written. */
type Checkpoints = Map<string, string>;

/**
 * Writes the events of the dates that have passed since the last call, in this process or another. A checkpoint per type,
 * advanced in the same transaction, makes sure that each is written once, also if the service was not running that day.
 * The first call of all only sets the checkpoints. `known` remembers them in this process, in case an instance whose clock
 * is wrong moves them.
 */
export async function writeDatedEvents(
  { db, write }: Pick<Database, 'db' | 'write'>,
  moment: Moment,
  known: Checkpoints = new Map(),
): Promise<void> {
  const stored = await readCheckpoints(db);
  for (const [type, dated] of Object.entries(datedEvents) as [EventType, DatedEvent][]) {
    const until = dated.until(moment);
    const isNew = startOf(type, until, stored, known) !== undefined;
    // Finding the rows may take long.
    if (isNew) await write((db) => writeEventsOf(db, type, dated, moment, known), 'long');
    known.set(type, until);
  }
}

/** Where a clock leaped from, when it moved a checkpoint by more days than time zones explain. */
const leapOf = (type: EventType) => `${type} before`;
const isLeap = (from: string, to: string) => daysFrom(from, to) > 2;
const daysFrom = (from: string, to: string) =>
  (Date.parse(to.slice(0, 10)) - Date.parse(from.slice(0, 10))) / 86_400_000;

/**
 * From when on events are to be written; undefined if they are. A checkpoint far ahead is that of a clock that was wrong, if
 * the time is nearer to where that clock leaped from. Else this clock is the wrong one, and must not move it back.
 */
function startOf(type: EventType, until: string, stored: Checkpoints, known: Checkpoints) {
  const checkpoint = stored.get(type);
  if (checkpoint === undefined) return until;
  const own = known.get(type) ?? '';
  const last = isLeap(until, own) ? '' : own;
  if (!isLeap(until, checkpoint)) {
    const from = checkpoint > last ? checkpoint : last;
    return from < until ? from : undefined;
  }
  // Without a leap, not a number.
  const days = daysFrom(stored.get(leapOf(type)) ?? '', until);
  return days >= 0 && days < daysFrom(until, checkpoint) ? last || until : undefined;
}

async function writeEventsOf(
  db: Transaction<Tables>,
  type: EventType,
  { subject, due, matches, until: untilOf }: DatedEvent,
  moment: Moment,
  known: Checkpoints,
): Promise<void> {
  await lockTables(db, 'event_checkpoints');
  const stored = await readCheckpoints(db);
  const until = untilOf(moment);
  const from = startOf(type, until, stored, known);
  // Another instance may have written them first.
  if (from === undefined) return;
  const checkpoint = stored.get(type) ?? until;
  if (isLeap(checkpoint, until)) await setCheckpoint(db, leapOf(type), checkpoint);
  else if (isLeap(until, checkpoint))
    await db.deleteFrom('event_checkpoints').where('type', '=', leapOf(type)).execute();
  await setCheckpoint(db, type, until);
  const rows = await subject
    .from(db)
    .select(subject.id.as('id'))
    .where(sql<boolean>`${matches} and ${due} >= ${from} and ${due} < ${until}`)
    .orderBy(due)
    .orderBy(subject.id)
    .execute();
  const event = { subject, at: moment.now, change: bySystem(moment), differences: {}, type };
  for (const { id } of rows) addEvent(db, { ...event, subject_id: id });
}

const setCheckpoint = (db: Transaction<Tables>, type: string, checked_until: string) =>
  db
    .insertInto('event_checkpoints')
    .values({ type, checked_until })
    .onConflict((conflict) => conflict.column('type').doUpdateSet({ checked_until }))
    .execute();

async function readCheckpoints(db: Kysely<Tables>): Promise<Checkpoints> {
  const rows = await db.selectFrom('event_checkpoints').selectAll().execute();
  return new Map(rows.map(({ type, checked_until }) => [type, checked_until]));
}
