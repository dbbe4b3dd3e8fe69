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

/**
 * Writes the events of the dates that have passed since the last call, in this process or another. A checkpoint per type,
 * advanced in the same transaction, makes sure that each is written once, also if the service was not running that day.
 * The first call of all only sets the checkpoints.
 */
export async function writeDatedEvents(
  { db, write }: Pick<Database, 'db' | 'write'>,
  moment: Moment,
): Promise<void> {
  const checkpoints = await readCheckpoints(db);
  for (const [type, dated] of Object.entries(datedEvents) as [EventType, DatedEvent][]) {
    const isNew = (checkpoints.get(type) ?? '') < dated.until(moment);
    // Finding the rows may take long.
    if (isNew) await write((db) => writeEventsOf(db, type, dated, moment), 'long');
  }
}

async function writeEventsOf(
  db: Transaction<Tables>,
  type: EventType,
  { subject, due, matches, until: untilOf }: DatedEvent,
  moment: Moment,
): Promise<void> {
  await lockTables(db, 'event_checkpoints');
  const from = (await readCheckpoints(db)).get(type);
  const until = untilOf(moment);
  // Another instance may have written them first.
  if (from !== undefined && from >= until) return;
  await db
    .insertInto('event_checkpoints')
    .values({ type, checked_until: until })
    .onConflict((conflict) => conflict.column('type').doUpdateSet({ checked_until: until }))
    .execute();
  if (from === undefined) return;
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

async function readCheckpoints(db: Kysely<Tables>): Promise<Map<string, string>> {
  const rows = await db.selectFrom('event_checkpoints').selectAll().execute();
  return new Map(rows.map(({ type, checked_until }) => [type, checked_until]));
}
