import { setImmediate } from 'node:timers/promises';
import { type Kysely, type QueryCreator, type RawBuilder, sql, type Transaction } from 'kysely';
import { dayKey, type Moment } from '../../core/clock.ts';
import { newId } from '../../core/ids.ts';
import { hasSingleWriter, runsBatches } from '../../database/sql/batches.ts';
import { countUnlessPromoted, jsonTexts, parsedJson, wakeFollowers } from '../../database/sql/functions.ts';
import { namedStatement, param, statement } from '../../database/sql/statement.ts';
import type { Descriptor } from '../../resources/descriptor.ts';
import { type EventType, type SubjectType, subjects } from '../../resources/events/schema.ts';
import type { ResourceTable, Tables } from '../tables.ts';
import type { Differences } from './change.ts';
import { chunk, insertRows } from './rows.ts';
import {
  type ChangeTracker,
  type EventData,
  type EventsOfMany,
  type PendingEvent,
  type Subject,
  trackerOf,
} from './tracker.ts';

export type { Subject } from './tracker.ts';

/**
 * How the events of a resource are written. They have the key and the project of its row, if it has these columns. `from`
 * joins what `json` needs.
 */
export function subjectOf(
  { kind, table, id, columns, visible }: Descriptor & { kind: SubjectType; table: ResourceTable },
  json: Subject['json'],
  from: Subject['from'] = (db) => db.selectFrom(table),
): Subject {
  const columnOf = (name: string) => sql.ref<string>(`${table}.${name}`);
  return {
    type: kind,
    from,
    id: columnOf(id),
    ...('key' in columns && { key: columnOf('key') }),
    ...(typeof visible === 'object' && 'project' in visible && { project_id: columnOf(visible.project) }),
    json,
  };
}

/** Adds an event to the transaction. It is written at the end, if the transaction commits. */
export const addEvent = (db: Transaction<Tables>, event: PendingEvent): void =>
  void trackerOf(db)?.events.push(event);

/** Adds events that statements insert, for a change of more resources than can be in memory. */
export const addEventsOfMany = (db: Transaction<Tables>, events: EventsOfMany): void => {
  if (events.count > 0) trackerOf(db)?.eventsOfMany.push(events);
};

/**
 * Gives the last event of a resource the state that was read after the change, so that the database does not build it
 * again. Returns the resource.
 */
export function setEventData<Resource extends EventData>(
  db: Transaction<Tables>,
  subject_id: string,
  resource: Resource,
): Resource {
  const event = trackerOf(db)?.events.findLast((event) => event.subject_id === subject_id);
  if (event && !event.given) event.read = resource;
  return resource;
}

/**
 * Runs `work`, then writes its events: one per changed resource, however often it was changed. Sequence numbers are in
 * commit order: once an event is visible, all events with lower numbers are.
 */
export async function appendEvents<T>(
  db: Transaction<Tables>,
  work: (db: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  const result = await work(db);
  const tracker = trackerOf(db);
  const events = mergeBySubject(tracker?.events.splice(0) ?? []);
  const ofMany = tracker?.eventsOfMany.splice(0) ?? [];
  const last = events.at(-1) ?? ofMany.at(-1);
  if (!tracker || !last) return result;
  const count = ofMany.reduce((sum, { count }) => sum + count, events.length);
  // Numbers start from the time in microseconds, so that gaps tell nothing about events that a key cannot see.
  const floor = Date.parse(last.change.now) * 1000;
  if (hasSingleWriter(db)) {
    tracker.sequence ??= (await latestSequence(db)).rows[0]?.version ?? 0;
    const first = Math.max(tracker.sequence, floor) + 1;
    tracker.sequence = first + count - 1;
    await numberEvents(db, tracker, events, first, last.change);
    await insertOfMany(db, ofMany, first + events.length);
  } else if (ofMany.length > 0) {
    // These events would take as long to renumber as to insert, so other writers wait for the insert instead.
    const [reserved] = (await reserve(db, { floor, count })).rows;
    const first = Number(reserved?.version) - count + 1;
    await numberEvents(db, tracker, events, first, last.change);
    await insertRows(db, 'events', tracker.rows.splice(0));
    await insertOfMany(db, ofMany, first + events.length);
  } else if (count === 1 && isKnown(last as PendingEvent)) {
    await insertNext.send(db, {
      ...rowOf(last as PendingEvent),
      ...knownColumns(last as PendingEvent),
      floor,
      count,
    });
  } else {
    // Numbers that no other transaction uses. Other writers wait only while the events get their final ones.
    const first = -Math.floor(Math.random() * Number.MAX_SAFE_INTEGER);
    await numberEvents(db, tracker, events, first, last.change);
    await insertRows(db, 'events', tracker.rows.splice(0));
    await renumberEvents.send(db, { floor, count, first, last: first + count - 1 });
  }
  return result;
}

/** Merges the changes of each resource: the first former values, the last time, the state at the end. */
function mergeBySubject(events: readonly PendingEvent[]): PendingEvent[] {
  if (events.length < 2) return [...events];
  const merged = new Map<string, PendingEvent>();
  for (const [i, event] of events.entries()) {
    const { subject_id, differences, given } = event;
    // A membership is given too, but it is not the state of its group.
    const name = given && !('deleted' in differences) ? `${i}` : subject_id;
    const earlier = merged.get(name);
    merged.set(name, earlier ? mergeEvents(earlier, event) : event);
  }
  return [...merged.values()];
}

function mergeEvents(earlier: PendingEvent, later: PendingEvent): PendingEvent {
  if ('deleted' in later.differences) return later;
  if ('created' in earlier.differences) return { ...later, differences: earlier.differences };
  const differences: Differences = { ...earlier.differences, ...later.differences };
  for (const [field, { from }] of Object.entries(earlier.differences)) {
    const to = differences[field]?.to;
    if (JSON.stringify(from) === JSON.stringify(to)) delete differences[field];
    else differences[field] = { from, to };
  }
  return { ...later, type: later.type ?? earlier.type, differences };
}

type EventRow = Omit<Tables['events'], 'data' | 'subject_key' | 'project_id'>;

const maxRowsPerStatement = 500;

/** Numbers events and inserts those whose resource only the database knows. The others are inserted before the commit. */
async function numberEvents(
  db: Transaction<Tables>,
  tracker: ChangeTracker,
  events: readonly PendingEvent[],
  first: number,
  moment: Moment,
): Promise<void> {
  let next = first;
  for (const batch of chunk(events, maxRowsPerStatement)) {
    // Many events would hold up the event loop.
    if (next > first) await setImmediate();
    const stored: { subject: Subject; row: EventRow }[] = [];
    for (const event of batch) {
      const row = rowOf(event, next++);
      if (isKnown(event)) tracker.rows.push({ ...row, ...knownColumns(event) });
      else stored.push({ subject: event.subject, row });
    }
    for (const [subject, group] of Map.groupBy(stored, (entry) => entry.subject))
      await insertFromSubject(
        db,
        subject,
        group.map(({ row }) => row),
        moment,
      );
  }
}

const latestSequence = statement<{ version: number }>((db) =>
  db.selectFrom('data_versions').select('version').where('table_name', '=', 'events'),
);

/** Takes the next sequence numbers. Other writers of events wait from then until the commit. */
const reserveSequence = (db: QueryCreator<Tables>) =>
  db
    .updateTable('data_versions')
    .set({
      version: sql<number>`case when version > ${param('floor')} then version else ${param('floor')} end + ${countUnlessPromoted(param('count'))}`,
    })
    .where('table_name', '=', 'events')
    .returning(['version', wakeFollowers().as('woken')]);

const reserve = statement<{ version: number }>(reserveSequence);

async function insertOfMany(db: Transaction<Tables>, all: readonly EventsOfMany[], first: number) {
  let next = first;
  for (const { count, insert } of all) {
    await insert(db, next);
    next += count;
  }
}

/** Gives inserted events the next sequence numbers, in the same order. */
const renumberEvents = statement((db) =>
  db
    .with('reserved', reserveSequence)
    .updateTable('events')
    .from('reserved')
    .set({ sequence: sql<number>`sequence + reserved.version - ${param('last')}` })
    .where('sequence', '>=', param<number>('first'))
    .where('sequence', '<=', param<number>('last')),
);

function rowOf(event: PendingEvent, sequence = 0): EventRow {
  const { subject, subject_id, at, change, differences } = event;
  const isWhole = 'created' in differences || 'deleted' in differences;
  const { type, also } = eventTypesOf(subject.type, differences, event.type);
  return {
    sequence,
    id: newId('event'),
    type,
    also: also.length === 0 ? '[]' : JSON.stringify(also),
    at,
    actor_user_id: change.user_id,
    key_id: change.key_id,
    key_name: change.name,
    subject_type: subject.type,
    subject_id,
    previous: isWhole ? '{}' : previousOf(differences),
  };
}

/**
 * The types that apply to a change. The event has the first one, or `given` if the caller knows better; the others are
 * its `also`.
 */
function eventTypesOf(
  subject: SubjectType,
  differences: Differences,
  given?: string,
): { type: string; also: string[] } {
  const whole = ['deleted', 'created'].find((field) => field in differences);
  const actions = whole === undefined ? (subjects[subject].actions?.(differences) ?? []) : [whole];
  const types = actions.flatMap((action): EventType[] =>
    action === undefined ? [] : [`${subject}.${action}` as EventType],
  );
  const type = given ?? types[0] ?? `${subject}.updated`;
  return { type, also: types.filter((other) => other !== type) };
}

const previousOf = (differences: Differences) =>
  JSON.stringify(Object.fromEntries(Object.entries(differences).map(([field, { from }]) => [field, from])));

const isKnown = ({ given, read }: PendingEvent) => given !== undefined || read !== undefined;

/** The columns of an event whose resource is known here. */
function knownColumns({ subject, subject_id, given, read }: PendingEvent) {
  const { key = null, project_id = null } = given ?? read ?? {};
  return {
    subject_key: key,
    project_id: subject.type === 'project' ? subject_id : project_id,
    data: JSON.stringify(read ?? given?.data),
  };
}

const columns = [
  'sequence',
  'id',
  'type',
  'also',
  'at',
  'actor_user_id',
  'key_id',
  'key_name',
  'subject_type',
  'subject_id',
  'previous',
] as const satisfies readonly (keyof EventRow)[];

/** Inserts events whose `data` the database reads from the subjects. */
async function insertFromSubject(
  db: Transaction<Tables>,
  subject: Subject,
  rows: readonly EventRow[],
  moment: Moment,
): Promise<void> {
  const isOneByOne = runsBatches(db) || rows.length === 1;
  const select = isOneByOne ? selectOne : selectMany;
  const insert = namedStatement(`events of ${subject.type} ${dayKey(moment)} ${isOneByOne}`, (db) =>
    db
      .insertInto('events')
      .columns(insertColumns)
      .expression(select(db, subject, moment)),
  );
  if (isOneByOne) {
    const values = rows.map((row) => columns.map((column) => row[column]));
    await insert(db, runsBatches(db) ? values : values[0]);
  } else await insert(db, { rows: JSON.stringify(rows) });
}

const insertColumns = [...columns, 'subject_key', 'project_id', 'data'] as const;

/** Inserts an event with the next sequence number. */
const insertNext = statement((db) =>
  db
    .with('reserved', reserveSequence)
    .insertInto('events')
    .columns(insertColumns)
    .expression((db) =>
      db
        .selectFrom('reserved')
        .select(['version', ...insertColumns.slice(1).map((column) => param(column).as(column))]),
    ),
);

const selectOne = (db: Kysely<Tables>, subject: Subject, moment: Moment) =>
  selectEvents(subject.from(db), subject, moment, (column) => param(columns.indexOf(column))).where(
    sql<boolean>`${subject.id} = ${param(columns.indexOf('subject_id'))}`,
  );

/** Reads the events from a JSON array, so that one statement inserts any number of them. */
function selectMany(db: Kysely<Tables>, subject: Subject, moment: Moment) {
  const expressionOf = (column: keyof EventRow) =>
    sql`(${parsedJson(sql.ref('pending.value'))} ->> ${sql.lit(column)})`;
  const rows = subject
    .from(db)
    .innerJoin(sql`${jsonTexts(param('rows'))}`.as('pending'), (join) =>
      join.on(sql<boolean>`${subject.id} = ${expressionOf('subject_id')}`),
    );
  return selectEvents(rows, subject, moment, expressionOf);
}

const selectEvents = (
  rows: ReturnType<Subject['from']>,
  { key, project_id, json }: Subject,
  moment: Moment,
  expressionOf: (column: keyof EventRow) => RawBuilder<unknown>,
) =>
  rows.select([
    sql`cast(${expressionOf('sequence')} as bigint)`.as('sequence'),
    ...columns.slice(1).map((column) => expressionOf(column).as(column)),
    (key ?? sql`null`).as('subject_key'),
    (project_id ?? sql`null`).as('project_id'),
    json(moment).as('data'),
  ]);
