import type { Project } from '../src/resources/projects/schema.ts';
import { type Dataset, latest, type Row } from './dataset.ts';
import { createHistory, getTimestamps } from './history.ts';
import { wasEmployedOn } from './people.ts';
import { keeperOf, type ProjectContext, pickAuthor } from './projects.ts';

/** `offset` is the day of `created_at`, counted from today. */
export type CreationTime = { offset: number; created_at: string };

export const pickCreationTimes = (
  dataset: Dataset,
  { first, last }: ProjectContext,
  count: number,
): CreationTime[] =>
  Array.from({ length: count }, () => {
    const offset = dataset.random.between(first, last);
    return { offset, created_at: dataset.time(offset) };
  }).sort(compareTimes);

/** Picks a time that is not before the cause and at most `maxDays` later. */
export function pickFollowUpTime(
  dataset: Dataset,
  context: ProjectContext,
  cause: CreationTime,
  maxDays: number,
): CreationTime {
  const offset = Math.min(pickLaterDay(dataset, context, cause.offset), cause.offset + maxDays);
  return { offset, created_at: latest(cause.created_at, dataset.time(offset)) };
}

export const compareTimes = (a: CreationTime, b: CreationTime) => (a.created_at < b.created_at ? -1 : 1);

/** Picks a day between `offset` and today or the end of the project. */
const pickLaterDay = ({ random }: Dataset, { last }: ProjectContext, offset: number) =>
  random.between(offset, Math.max(offset, last));

export type Phase = 'planned' | 'young' | 'old' | 'held' | 'ended';

/** The status of an item depends on the project status and on the age of the item. */
export function getPhase({ profile }: ProjectContext, offset: number): Phase {
  const phases: Record<Project['status'], Phase> = {
    planned: 'planned',
    active: offset > -45 ? 'young' : 'old',
    on_hold: 'held',
    completed: 'ended',
    cancelled: 'ended',
  };
  return phases[profile.status];
}

export const createIdentity = (
  dataset: Dataset,
  kind: 'risk' | 'issue' | 'task',
  { project }: ProjectContext,
  creation: CreationTime,
  n: number,
) => ({
  id: dataset.id(kind, creation.created_at),
  project_id: project.id,
  key: `${project.key}-${kind[0]?.toUpperCase()}${n}`,
});

/** Some items are imported from another system and link to it. */
export function pickExternalSource(dataset: Dataset, probability: number, prefix: string, baseUrl: string) {
  if (!dataset.random.chance(probability)) return {};
  const external_id = `${prefix}-${dataset.nextSerial()}`;
  return { external_id, source_url: `${baseUrl}/${external_id}` };
}

/** Picks a due day: usually in the future, sometimes overdue, sometimes none. */
export function pickOpenDueDay(dataset: Dataset, offset: number, maxDays: number): string | null {
  const { random } = dataset;
  const due = random.pickWeighted({ ahead: 60, past: 19, none: 21 });
  if (due === 'none') return null;
  const isOverdue = due === 'past' && offset < -5;
  return dataset.day(isOverdue ? random.between(Math.max(offset + 2, -75), -1) : random.between(3, maxDays));
}

/** Picks the assignee of an open item: usually an assignable person, sometimes a former employee or no one. */
export function pickOpenAssignee(
  dataset: Dataset,
  { assignable, departed, vacancies }: ProjectContext,
): string | null {
  const pool = dataset.random.pickWeighted({ assignable: 80, departed: 5, vacancies: 2, none: 13 });
  const candidates = { assignable, departed, vacancies, none: [] }[pool];
  return candidates.length > 0 ? dataset.random.pick(candidates).row.user_id : null;
}

/** Picks a team member who was employed on that day, or null if there was none. */
export function pickPersonOn(dataset: Dataset, { team }: ProjectContext, day: string): string | null {
  const present = team.filter((one) => wasEmployedOn(one, day));
  return present.length > 0 ? dataset.random.pick(present).row.user_id : null;
}

/** Picks the owner of an item on a day in the past. */
export function pickPastOwner(dataset: Dataset, context: ProjectContext, day: string) {
  const ownerKind = dataset.random.pickWeighted({ person: 58, group: 24, none: 18 });
  return {
    owner_user_id: ownerKind === 'person' ? pickPersonOn(dataset, context, day) : null,
    owner_group_id: ownerKind === 'group' ? dataset.random.pick(context.groups) : null,
  };
}

export function pickOwner(dataset: Dataset, context: ProjectContext) {
  const { random } = dataset;
  const ownerKind = random.pickWeighted({ person: 62, group: 21, departed: 4, none: 13 });
  const humans = context.assignable.filter(({ row }) => row.kind === 'human');
  const owner =
    ownerKind === 'person'
      ? random.pick(humans)
      : ownerKind === 'departed'
        ? random.pick(context.departed)
        : undefined;
  return {
    owner_user_id: owner?.row.user_id ?? null,
    owner_group_id: ownerKind === 'group' ? random.pick(context.groups) : null,
  };
}

/** Picks the name of who created an item. Items with an external id were imported. */
export function pickCreator(
  dataset: Dataset,
  { team }: ProjectContext,
  { external_id, created_at }: { external_id?: string | null; created_at: string },
): string {
  const day = created_at.slice(0, 10);
  return external_id ? keeperOf(team, day) : pickAuthor(dataset, team, day);
}

/** The statuses of an item in order, each with the time of the transition. */
type StatusTimeline<Status> = { status: Status; at: string }[];

/**
 * Assigns times to the statuses. The timeline is shorter than `statuses` if the project ends too early. `maxDays`
 * limits the duration of an item that ends; it is null for open items.
 */
export function createTimeline<Status>(
  dataset: Dataset,
  { last }: ProjectContext,
  { offset, created_at }: CreationTime,
  statuses: readonly Status[],
  maxDays: number | null,
): StatusTimeline<Status> {
  const until = Math.max(offset, maxDays === null ? last : Math.min(last, offset + maxDays));
  const times = [created_at, ...dataset.timesAfter(created_at, until, statuses.length - 1, 0.5)];
  return times.flatMap((at, i) => statuses.slice(i, i + 1).map((status) => ({ status, at })));
}

/** Adds the timestamps and history entries of the timeline to a row. Some items start without an assignee. */
export function addHistory<R extends Row<'issues'> | Row<'tasks'>>(
  dataset: Dataset,
  context: ProjectContext,
  row: R,
  timeline: { at: string; state: object }[],
): { row: R; history: Row<'history'>[] } {
  const { assignee_user_id = null, created_at } = row;
  const startsUnassigned = timeline.length > 1 && dataset.random.chance(0.35);
  const revisions = timeline.map(({ at, state }, i) => ({
    at,
    state: { ...state, assignee_user_id: startsUnassigned && i === 0 ? null : assignee_user_id },
    key_name:
      i === 0 ? pickCreator(dataset, context, row) : pickAuthor(dataset, context.team, at.slice(0, 10)),
  }));
  return {
    row: { ...row, ...getTimestamps(created_at, revisions) },
    history: createHistory(dataset, row, revisions),
  };
}
