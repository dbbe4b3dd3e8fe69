import type { Issue, Risk, Task, Work } from '../api/openapi.ts';
import { daysLater } from '../format.ts';

/** Why an item waits for the person, the item, and the day by which it is to be dealt with. */
export type Entry = { day: string | null } & (
  | { kind: 'task'; list: 'tasks'; item: Task }
  | { kind: 'issue'; list: 'issues'; item: Issue }
  | { kind: 'risk' | 'review' | 'acceptance'; list: 'risks'; item: Risk }
);

export type EntryOf<Kind extends Entry['kind']> = Entry & { kind: Kind };

/** How many days ahead a due date is soon. The service has its own limits for reviews and acceptances. */
const soonDays = 7;

type Groups = {
  overdue: Entry[];
  soon: Entry[];
  /** What has more time, in the order of the service. */
  tasks: Entry[];
  issues: Entry[];
  risks: Entry[];
};

/** The items by urgency. A risk that waits for several reasons is only listed for the most urgent one. */
export function groupEntries(work: Work): Groups {
  const entries = withoutRepeatedRisks([
    ...work.tasks.data.map((item): Entry => ({ kind: 'task', list: 'tasks', item, day: item.due_on })),
    ...work.issues.data.map((item): Entry => ({ kind: 'issue', list: 'issues', item, day: item.due_on })),
    ...work.acceptances.data.map(
      (item): Entry => ({ kind: 'acceptance', list: 'risks', item, day: item.accepted_until }),
    ),
    ...work.reviews.data.map((item): Entry => ({ kind: 'review', list: 'risks', item, day: item.review_on })),
    ...work.risks.data.map((item): Entry => ({ kind: 'risk', list: 'risks', item, day: item.due_on })),
  ]);
  const isOverdue = ({ day }: Entry) => day !== null && day < work.today;
  const isSoon = (entry: Entry) =>
    !isOverdue(entry) &&
    (entry.kind === 'review' ||
      entry.kind === 'acceptance' ||
      (entry.day !== null && entry.day <= daysLater(work.today, soonDays)));
  const later = entries.filter((entry) => !isOverdue(entry) && !isSoon(entry));
  const inList = (list: Entry['list']) => later.filter((entry) => entry.list === list);
  return {
    overdue: entries.filter(isOverdue).toSorted(byDay),
    soon: entries.filter(isSoon).toSorted(byDay),
    tasks: inList('tasks'),
    issues: inList('issues'),
    risks: inList('risks'),
  };
}

const latestDay = '9999-12-31';
const dayOf = ({ day }: Entry) => day ?? latestDay;
const byDay = (one: Entry, other: Entry) => dayOf(one).localeCompare(dayOf(other));

function withoutRepeatedRisks(entries: readonly Entry[]): Entry[] {
  const urgent = new Map<string, Entry>();
  for (const entry of entries) {
    const known = urgent.get(entry.item.id);
    if (!known || dayOf(entry) < dayOf(known)) urgent.set(entry.item.id, entry);
  }
  return entries.filter((entry) => urgent.get(entry.item.id) === entry);
}
