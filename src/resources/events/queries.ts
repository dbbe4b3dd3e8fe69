import { type Kysely, sql } from 'kysely';
import { dayKey, daysLater, type Moment, startOf } from '../../core/clock.ts';
import { invalidParameter, Problem } from '../../core/errors.ts';
import { idPattern } from '../../core/ids.ts';
import { grants, type Scope } from '../../core/scopes.ts';
import { consoleUrl, containsText, jsonObject, jsonTexts, parsedJson } from '../../database/sql/functions.ts';
import { rowAsJson } from '../../database/sql/rows.ts';
import { allOf, equals, isIn } from '../../lists/filters.ts';
import { type List, memoizedList } from '../../lists/list.ts';
import type { Filters } from '../../lists/query.ts';
import { sharedKinds } from '../../store/project-scope.ts';
import type { Tables } from '../../store/tables.ts';
import { resources } from '../descriptors.ts';
import { actorJson } from '../history/queries.ts';
import { resolveProjects } from '../projects/queries.ts';
import {
  AccountEvent,
  accountEventTypes,
  Event,
  type eventListFilters,
  subjects,
  subjectTypes,
} from './schema.ts';

export type EventFilters = Filters<typeof eventListFilters>;

/** Who reads events: a key or person sees those of the resources that they may read, in their projects. */
export type Reader = { scopes: readonly Scope[]; project_ids: readonly string[] | null };

export const eventSorts = ['sequence', '-sequence'];

/** Events in the order of their sequence numbers, or the newest first. */
export const eventList = (filters: EventFilters, reader: Reader, moment: Moment, sort = 'sequence'): List =>
  memoizedList(
    ['events', filters, readableSubjects(reader), reader.project_ids, dayKey(moment), sort],
    () => ({
      schema: Event,
      json: eventJson,
      reads: ['events'],
      // Otherwise the next match may be far away.
      isIndexed: filters.subject !== undefined || (!filters.types && readsAll(reader)),
      order: { key: sql.ref('events.sequence'), descending: sort === '-sequence', isNumber: true },
      from: (db) => db.selectFrom('events'),
      // Not `id`, which has no index.
      id: sql.ref('events.sequence'),
      matches: eventConditions(filters, reader),
      meta: async (db, lastKey) => {
        // Checked in the snapshot of the list as well, because events may have been deleted since the request started.
        await assertStored(db, filters, reader, moment);
        // Newest first, the events after the last row are those that the client has already.
        const seen = sort === '-sequence' ? undefined : lastKey;
        return { next_after: Number(seen ?? (await nextAfter(db, filters, reader, moment))) };
      },
    }),
  );

/** What happened to the account of a person in the last 30 days, newest first. */
export const accountEvents = (user_id: string, { today }: Moment): List => ({
  schema: AccountEvent,
  json: rowAsJson(AccountEvent, 'events', {
    actor: actorJson('events'),
    browser: sql`${parsedJson(sql.ref('events.data'))} ->> 'browser'`,
    address: sql`${parsedJson(sql.ref('events.data'))} ->> 'address'`,
  }),
  reads: ['events'],
  isTimeDependent: true,
  order: { key: sql.ref('events.sequence'), descending: true, isNumber: true },
  from: (db) =>
    db
      .selectFrom('events')
      // Numbers start from the time.
      .where('events.sequence', '>', Date.parse(daysLater(today, -30)) * 1000)
      .where('events.type', 'in', accountEventTypes)
      // The condition and the expression of the index, in the same words.
      .where(sql<boolean>`(events.type = 'session.started' or events.subject_type = 'access')`),
  id: sql.ref('events.sequence'),
  matches: sql`${parsedJson(sql.ref('events.data'))} ->> 'user_id' = ${user_id}`,
});

/** The condition for the events that match the filters and that the key may read, within its project scope. */
const eventConditions = (filters: EventFilters, reader: Reader) =>
  sql<boolean>`(${isIn('events.subject_type')(readableSubjects(reader))} and ${allOf(filters, {
    after: (sequence) => sql<boolean>`events.sequence > ${sequence}`,
    types: (types) =>
      sql<boolean>`(${isIn('events.type')(types)} or (events.also <> '[]' and exists (
        select 1 from ${jsonTexts(sql.ref('events.also'))} where ${isIn('value')(types)})))`,
    subject: equals('events.subject_id'),
    project: isIn('events.project_id'),
    // Of these, an event contains the id only if it is about the person.
    person: (user_id) =>
      sql<boolean>`(events.actor_user_id = ${user_id} or events.subject_id = ${user_id} or
        (events.subject_type in ('access', 'session', 'key') and ${containsText(sql.ref('events.data'), user_id)}))`,
  })})`;

const readableSubjects = ({ scopes, project_ids }: Reader): string[] => {
  const readable = subjectTypes.filter((type) => grants(scopes, subjects[type].scope));
  const visible = project_ids === null ? readable : readable.filter((type) => !unlimitedOnly.has(type));
  return visible.length > 0 ? visible : ['none'];
};

/** A key that is limited to projects sees no events of, for example, keys and webhooks: see `store/project-scope.ts`. */
const unlimitedOnly = new Set<string>(
  resources.flatMap(({ kind, visible }) =>
    visible === 'all' || (typeof visible === 'object' && 'project' in visible) ? [] : [kind],
  ),
);

/** Whether a key may read an event: what `eventConditions` and the project scope do in the database. */
export function isReadable(reader: Reader) {
  const subjects = new Set(readableSubjects(reader));
  const { project_ids } = reader;
  return ({ subject_type, project_id }: { subject_type: string; project_id: string | null }): boolean =>
    subjects.has(subject_type) &&
    (project_ids === null || sharedKinds.includes(subject_type) || project_ids.includes(project_id ?? ''));
}

/** Whether an event has this type, as its own or besides. `also` is JSON. */
export const hasType = (event: { type: string; also: string }, type: string): boolean =>
  event.type === type || event.also.includes(`"${type}"`);

const readsAll = (reader: Reader) => readableSubjects(reader).length === subjectTypes.length;

/** Replaces project keys by ids. The id of a deleted project is valid: its events are still stored. */
export async function resolveEventFilters(db: Kysely<Tables>, filters: EventFilters): Promise<EventFilters> {
  if (!filters.project) return filters;
  const isId = (ref: string) => new RegExp(idPattern('project')).test(ref);
  const keys = filters.project.filter((ref) => !isId(ref));
  const resolved = keys.length === 0 ? [] : await resolveProjects(db, keys);
  return { ...filters, project: [...filters.project.filter(isId), ...resolved].sort() };
}

/** Throws if events after this number have been deleted, or if no event has had this number yet. */
export async function assertStored(
  db: Kysely<Tables>,
  { after }: EventFilters,
  reader: Reader,
  moment: Moment,
): Promise<void> {
  if (after === undefined) return;
  const { events: latest, deleted_events: deleted, lost_after, lost_until } = await logBounds(db);
  const isLost = after < lost_until && after > (await lastKept(db, reader, lost_after, lost_until));
  if (after < deleted || isLost) {
    const why = isLost
      ? 'The database has lost events up to this number, in a failover or before it was restored.'
      : 'Some of the events after this number are no longer stored.';
    const detail = `${why} Read the current state of the resources, then continue with \`after\` set to \`next_after\`.`;
    throw new Problem('events_expired', detail, {
      extra: { next_after: await nextAfter(db, {}, reader, moment) },
    });
  }
  // For a key that is limited to projects, this would reveal the time of events that it cannot see.
  if (after > latest && reader.project_ids === null) throw invalidParameter('after', unknownSequence);
}

const unknownSequence =
  'No event has this sequence number yet. Use `meta.next_after` of an earlier response. If the database was restored ' +
  'from a backup, read the current state of the resources, then start again without `after`.';

/** The numbers of the latest event, of the latest that was deleted because it was old, and around those that were lost last. */
async function logBounds(db: Kysely<Tables>) {
  const bounds = { events: 0, deleted_events: 0, lost_after: 0, lost_until: 0 };
  const rows = await db
    .selectFrom('data_versions')
    .select(['table_name', 'version'])
    .where('table_name', 'in', Object.keys(bounds) as (keyof typeof bounds)[])
    .execute();
  return { ...bounds, ...Object.fromEntries(rows.map((row) => [row.table_name, row.version])) };
}

/**
 * The number to continue with after the last matching event: that of the latest event of all. For a key that is limited
 * to projects, which must not learn when other projects change, it is that of the last event it sees or the start of
 * yesterday.
 */
async function nextAfter(
  db: Kysely<Tables>,
  filters: EventFilters,
  reader: Reader,
  moment: Moment,
): Promise<number> {
  const { events: latest } = await logBounds(db);
  if (reader.project_ids === null) return latest;
  const seen = await lastSeen(db, filters, reader);
  const yesterday = Date.parse(startOf(daysLater(moment.today, -1), moment)) * 1000;
  return Math.max(filters.after ?? 0, seen, Math.min(latest, yesterday));
}

/**
 * The last number before events were lost. A key that is limited to projects must not learn when other projects were
 * changed last, so for it, it is that of the last event it sees or a day before the loss.
 */
async function lastKept(db: Kysely<Tables>, reader: Reader, lostAfter: number, lostUntil: number) {
  if (reader.project_ids === null) return lostAfter;
  return Math.max(
    await lastSeen(db, {}, reader, lostAfter + 1),
    Math.min(lostAfter, lostUntil - 86_400_000_000),
  );
}

/** The sequence number of the last event that matches and that the key sees. */
async function lastSeen(
  db: Kysely<Tables>,
  filters: EventFilters,
  reader: Reader,
  until = Number.MAX_SAFE_INTEGER,
) {
  const { seen } = await db
    .selectFrom('events')
    .select((eb) => eb.fn.max('sequence').as('seen'))
    .where(eventConditions(filters, reader))
    .where('sequence', '<', until)
    .executeTakeFirstOrThrow();
  return seen ?? 0;
}

/** The page of the console that shows the resource. */
const subjectUrl = sql`case events.subject_type ${sql.join(
  Object.entries(subjects).flatMap(([type, { page }]) =>
    page ? [sql`when ${sql.lit(type)} then ${consoleUrl(page[0], sql.ref(`events.${page[1]}`))}`] : [],
  ),
  sql` `,
)} end`;

export const eventJson = rowAsJson(Event, 'events', {
  actor: actorJson('events'),
  subject: jsonObject({
    type: sql.ref('events.subject_type'),
    id: sql.ref('events.subject_id'),
    key: sql.ref('events.subject_key'),
    web_url: subjectUrl,
  }),
  data: parsedJson(sql.ref('events.data')),
  previous: parsedJson(sql.ref('events.previous')),
});
