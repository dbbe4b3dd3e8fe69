import {
  type Kysely,
  type KyselyPlugin,
  type RawBuilder,
  type SelectQueryBuilder,
  sql,
  type Transaction,
} from 'kysely';
import type { Moment } from '../../core/clock.ts';
import { newId } from '../../core/ids.ts';
import type { SubjectType } from '../../resources/events/schema.ts';
import { runsBatches } from '../sql/batches.ts';
import { jsonTexts, parsedJson, wakeFollowers } from '../sql/functions.ts';
import { namedStatement, param, statement } from '../sql/statement.ts';
import type { Tables } from '../tables.ts';
import type { Change, Differences } from './change.ts';
import { eventTypeOf } from './event-type.ts';
import { chunk, insertRows } from './rows.ts';

/** How the events of one kind of resource are written: the database reads their `data` when it inserts them. */
export type Subject = {
  type: SubjectType;
  // biome-ignore lint/suspicious/noExplicitAny: subjects join different tables; only the expressions below are selected
  from(db: Kysely<Tables>): SelectQueryBuilder<any, any, any>;
  id: RawBuilder<string>;
  key?: RawBuilder<string>;
  project_id?: RawBuilder<string>;
  /** The JSON of the resource as its GET returns it. */
  json(moment: Moment): RawBuilder<string>;
};

type PendingEvent = {
  subject: Subject;
  subject_id: string;
  at: string;
  change: Change;
  /** Changed fields. `created` and `deleted` stand for the whole resource. */
  differences: Differences;
  /** Overrides the type that follows from the differences. */
  type?: string | undefined;
  /** The resource, if the database cannot read it at the end of the transaction, with its key and project. */
  given?: { data: object; key?: string | null; project_id?: string | null } | undefined;
  /** The resource as it was read after the change. */
  read?: { json: string; resource: { key?: string; project_id?: string } } | undefined;
};

/** The events of a transaction that are not written yet. A plugin, because a transaction hands its plugins on. */
class PendingEvents implements KyselyPlugin {
  readonly events: PendingEvent[] = [];
  transformQuery: KyselyPlugin['transformQuery'] = ({ node }) => node;
  transformResult: KyselyPlugin['transformResult'] = async ({ result }) => result;
}

/** The pending events of this transaction; undefined in a dry run. */
export const pendingEvents = (db: Kysely<Tables>): PendingEvent[] | undefined =>
  (db.getExecutor().plugins.find((plugin) => plugin instanceof PendingEvents) as PendingEvents | undefined)
    ?.events;

/** Adds an event to the transaction. It is written at the end, if the transaction commits. */
export const addEvent = (db: Transaction<Tables>, event: PendingEvent): void =>
  void pendingEvents(db)?.push(event);

/**
 * Parses a resource that was read. If it is the last that this transaction has changed, its event gets the same JSON, so
 * that the database does not build it twice.
 */
export function parseResource<Resource extends object>(db: Kysely<Tables>, json: string): Resource {
  const resource = JSON.parse(json);
  const event = pendingEvents(db)?.at(-1);
  if (event && !event.given && event.subject_id === (resource.user_id ?? resource.id)) {
    event.read = { json, resource };
  }
  return resource;
}

/**
 * Runs `work`, then writes its events: one per changed resource, however often it was changed. On PostgreSQL, other
 * writers wait from the first statement until the commit. So sequence numbers are in commit order: once an event is
 * visible, all events with lower numbers are.
 */
export async function appendEvents<T>(
  transaction: Transaction<Tables>,
  work: (db: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  const pending = new PendingEvents();
  const result = await work(transaction.withPlugin(pending));
  const events = mergeBySubject(pending.events);
  const last = events.at(-1);
  if (last) await insertEvents(transaction, events, last.change);
  return result;
}

/** Merges the changes of each resource: the first former values, the last time, the state at the end. */
function mergeBySubject(events: readonly PendingEvent[]): PendingEvent[] {
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
    differences[field] = { from, to: differences[field]?.to };
  }
  return { ...later, type: later.type ?? earlier.type, differences };
}

type EventRow = Omit<Tables['events'], 'data' | 'subject_key' | 'project_id'>;

const maxRowsPerStatement = 500;

async function insertEvents(
  db: Transaction<Tables>,
  events: readonly PendingEvent[],
  moment: Moment,
): Promise<void> {
  const {
    rows: [latest],
  } = await reserveSequence(db, {
    count: events.length,
    floor: Date.parse(moment.now) * 1000,
  });
  const first = (latest?.version ?? 0) - events.length + 1;
  const rows = events.map((event, i) => ({ event, row: rowOf(event, first + i) }));
  const isKnown = ({ event }: (typeof rows)[number]) => event.given !== undefined || event.read !== undefined;
  await insertRows(
    db,
    'events',
    rows.filter(isKnown).map(({ event, row }) => ({ ...row, ...knownColumns(event) })),
  );
  const stored = rows.filter((entry) => !isKnown(entry));
  for (const [subject, group] of Map.groupBy(stored, ({ event }) => event.subject)) {
    for (const batch of chunk(group, maxRowsPerStatement)) {
      await insertFromSubject(
        db,
        subject,
        batch.map(({ row }) => row),
        moment,
      );
    }
  }
}

/**
 * Reserves the next sequence numbers and locks out other writers of events until the commit. Numbers start from the time
 * in microseconds, so that gaps tell nothing about the number of events that a key cannot see.
 */
const reserveSequence = statement<{ version: number }>((db) =>
  db
    .updateTable('data_versions')
    .set({
      version: sql<number>`case when version > ${param('floor')} then version else ${param('floor')} end + ${param('count')}`,
    })
    .where('table_name', '=', 'events')
    .returning(['version', wakeFollowers().as('woken')]),
);

function rowOf(event: PendingEvent, sequence: number): EventRow {
  const { subject, subject_id, at, change, differences } = event;
  const isWhole = 'created' in differences || 'deleted' in differences;
  const previous = isWhole ? [] : Object.entries(differences).map(([field, { from }]) => [field, from]);
  return {
    sequence,
    id: newId('event'),
    type: event.type ?? eventTypeOf(subject.type, differences),
    at,
    key_id: change.key_id,
    key_name: change.key_name,
    subject_type: subject.type,
    subject_id,
    previous: JSON.stringify(Object.fromEntries(previous)),
  };
}

/** The columns of an event whose resource is known here. */
function knownColumns({ subject, subject_id, given, read }: PendingEvent) {
  const { key = null, project_id = null } = given ?? read?.resource ?? {};
  return {
    subject_key: key,
    project_id: subject.type === 'project' ? subject_id : project_id,
    data: read?.json ?? JSON.stringify(given?.data),
  };
}

const columns = [
  'sequence',
  'id',
  'type',
  'at',
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
  const name = `events of ${subject.type} ${moment.today}`;
  const values = rows.map((row) => columns.map((column) => row[column]));
  if (runsBatches(db) || rows.length === 1) {
    const insertOne = namedStatement(name, (db) =>
      db
        .insertInto('events')
        .columns(insertColumns)
        .expression(selectOne(db, subject, moment)),
    );
    await insertOne(db, runsBatches(db) ? values : values[0]);
    return;
  }
  const insertMany = namedStatement(`${name}, many`, (db) =>
    db
      .insertInto('events')
      .columns(insertColumns)
      .expression(selectMany(db, subject, moment)),
  );
  await insertMany(db, { rows: JSON.stringify(rows) });
}

const insertColumns = [...columns, 'subject_key', 'project_id', 'data'] as const;

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
