import { api, dataOrThrow } from '../api/client.ts';
import type { ChangeEvent } from '../api/event-types.ts';
import type { ItemList } from '../api/items.ts';
import type { Changed } from '../bulk/change.ts';

export const lists: Readonly<Record<string, ItemList>> = { risk: 'risks', issue: 'issues', task: 'tasks' };

export type EventGroup = readonly [ChangeEvent, ...ChangeEvent[]];

/** Events that follow each other and changed items of one kind in one request are one group. */
export function groupEvents(events: readonly ChangeEvent[]): EventGroup[] {
  const groups: [ChangeEvent, ...ChangeEvent[]][] = [];
  for (const event of events) {
    const last = groups.at(-1);
    if (last && isTogether(last[0], event)) last.push(event);
    else groups.push([event]);
  }
  return groups;
}

/** All changes of one request have the same time, to the millisecond. */
const isTogether = (a: ChangeEvent, b: ChangeEvent) =>
  isItemChange(a) &&
  isItemChange(b) &&
  a.at === b.at &&
  a.subject.type === b.subject.type &&
  a.subject.id !== b.subject.id &&
  a.actor.user_id === b.actor.user_id &&
  a.actor.key_id === b.actor.key_id;

const isItemChange = ({ subject, actor, previous, type }: ChangeEvent) =>
  lists[subject.type] !== undefined &&
  actor.type !== 'service' &&
  !type.endsWith('.created') &&
  Object.keys(previous).length > 0;

/** What bulk changes set. Other changes of many items, such as those of a new risk model, are not undone one by one. */
const bulkFields = new Set([
  'status',
  'owner_user_id',
  'owner_group_id',
  'assignee_user_id',
  'due_on',
  'closure_reason',
  'lessons',
  'accepted_until',
  'acceptance_reason',
  'accepted_by_user_id',
  'blocked_reason',
  'resolution',
  'resolution_note',
]);

export const canUndo = (group: EventGroup) =>
  group.length > 1 &&
  group.every(({ previous }) => Object.keys(previous).every((field) => bulkFields.has(field)));

/** The service changes at most this many items in one request. */
const maxEvents = 500;

/** Reads all changes of a group, of which the page may show a part. */
export async function readGroup([first]: EventGroup): Promise<Changed[]> {
  const found: ChangeEvent[] = [];
  // Sequence numbers follow the clock, in microseconds.
  let after = Date.parse(first.at) * 1000 - 1;
  for (;;) {
    const { data } = await dataOrThrow(
      api.GET('/v1/events', { params: { query: { after, limit: maxEvents } } }),
    );
    found.push(...data.filter((event) => event.id === first.id || isTogether(first, event)));
    const last = data.at(-1);
    if (!last || data.length < maxEvents || (found.length > 0 && last.at !== first.at)) break;
    after = last.sequence;
  }
  return found.map(({ subject: { id, key }, data, previous }) => ({
    id,
    key: key ?? id,
    version: Number(data.version),
    previous,
  }));
}
