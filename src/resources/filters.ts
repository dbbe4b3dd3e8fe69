import { type Kysely, type RawBuilder, sql } from 'kysely';
import { daysLater } from '../core/clock.ts';
import { invalidParameter } from '../core/errors.ts';
import { currentPerson } from '../core/schemas.ts';
import { joinWords } from '../core/text.ts';
import type { Tables } from '../store/tables.ts';
import { findRows, type Target } from '../store/writes/references.ts';
import { groupResource } from './groups/schema.ts';
import { rejectTimeBefore } from './history/start.ts';
import { issueResource } from './issues/schema.ts';
import { personResource } from './personnel/schema.ts';
import { type AcrossProjects, isArchived, resolveProjects } from './projects/queries.ts';
import { riskResource } from './risks/schema.ts';

type ListFilters = Pick<AcrossProjects, 'project' | 'archived'> & {
  [Name in keyof typeof targets]?: string | string[];
} & {
  status?: string[];
  unowned?: boolean;
  unassigned?: boolean;
  assignee_active?: boolean;
  overdue?: boolean;
  review_overdue?: boolean;
  resolved_since?: string;
  check?: string[];
  q?: string;
  search?: string;
  assessed?: boolean;
  due_before?: string;
  due_after?: string;
  review_before?: string;
  review_after?: string;
};

/** The filters whose values are ids, and what they refer to. */
const targets = {
  owner_user_id: personResource,
  assignee_user_id: personResource,
  manager_user_id: personResource,
  lead_user_id: personResource,
  owner_group_id: groupResource,
  group_id: groupResource,
  parent_id: groupResource,
  risk_id: riskResource,
  issue_id: issueResource,
} as const satisfies Record<string, Target>;

/** A condition on `projects`: whether the filter `archived` includes a project. */
type IncludesProject = (archived: 'false' | 'true' | 'any') => RawBuilder<boolean>;

/**
 * Replaces keys of projects by ids, and `me` by the person who asks. Rejects filters that no row can match, and people, groups and items that do not exist,
 * because an empty list would mislead. `includesProject` differs for lists of a past day.
 */
export async function resolveFilters<F extends object>(
  { database: { db }, actor }: Requester,
  requested: F,
  includesProject: IncludesProject = isArchived,
): Promise<F> {
  const filters = withCurrentPerson(requested, actor.user_id);
  const given: ListFilters = filters;
  rejectContradictions(given);
  for (const [name, target] of Object.entries(targets) as [keyof typeof targets, Target][])
    await rejectUnknown(db, target, name, [given[name] ?? []].flat());
  if (given.resolved_since) await rejectTimeBefore(db, 'resolved_since', given.resolved_since);
  const { project, archived = 'any' } = given;
  if (!project) return filters;
  const ids = await resolveProjects(db, project);
  if (archived !== 'any') await rejectLeftOut(db, ids, archived, includesProject(archived));
  return { ...filters, project: ids };
}

/** Who asks, and what they see. */
type Requester = { database: { db: Kysely<Tables> }; actor: { user_id: string | null } };

/** Replaces `me` in filters of people by the user id. */
function withCurrentPerson<F extends object>(filters: F, user_id: string | null): F {
  const isPerson = (name: string) => targets[name as keyof typeof targets] === personResource;
  const replaced = Object.entries(filters)
    .filter(([name, value]) => isPerson(name) && [value].flat().includes(currentPerson))
    .map(([name, value]) => {
      if (user_id === null) {
        const detail = 'Nobody has signed in, so `me` stands for nobody. Use a user id.';
        throw invalidParameter(name, detail);
      }
      const ids = [value].flat().map((id) => (id === currentPerson ? user_id : id));
      return [name, Array.isArray(value) ? [...new Set(ids)] : user_id];
    });
  return replaced.length === 0 ? filters : { ...filters, ...Object.fromEntries(replaced) };
}

/** Rejects a filter if `archived` leaves out all projects that it names. */
async function rejectLeftOut(
  db: Kysely<Tables>,
  ids: readonly string[],
  archived: 'false' | 'true',
  isIncluded: RawBuilder<boolean>,
): Promise<void> {
  const named = await db
    .selectFrom('projects')
    .select(['key', sql<number>`case when ${isIncluded} then 1 else 0 end`.as('is_included')])
    .where('id', 'in', ids)
    .orderBy('key')
    .execute();
  if (named.some(({ is_included }) => is_included === 1)) return;
  const names = joinWords(named.map(({ key }) => key));
  const subject = named.length === 1 ? `The project ${names} is` : `The projects ${names} are`;
  throw invalidParameter(
    'project',
    archived === 'false'
      ? `${subject} archived, so nothing can match. Add \`archived=any\` to include archived projects.`
      : `${subject} not archived, so nothing can match. Remove \`archived=true\`.`,
  );
}

const closedStatuses = ['materialized', 'resolved', 'closed', 'done', 'cancelled'];

function rejectContradictions({ unowned, unassigned, status = [], check = [], ...given }: ListFilters): void {
  const reject = (name: string, other: string) => {
    throw invalidParameter(
      name,
      `\`${name}\` and \`${other}\` exclude each other, so nothing can match. Change or remove one of them.`,
    );
  };
  for (const owner of ['owner_user_id', 'owner_group_id'] as const) {
    if (unowned && given[owner]) reject('unowned', owner);
    if (check.includes('unowned') && given[owner]) reject('check', owner);
  }
  if (given.search !== undefined && given.q === undefined)
    throw invalidParameter('search', '`search` says what `q` searches. Add `q`, or remove `search`.');
  if (given.assessed && check.includes('unassessed')) reject('check', 'assessed');
  if (unowned === false && check.includes('unowned')) reject('check', 'unowned');
  if (unassigned && given.assignee_user_id) reject('unassigned', 'assignee_user_id');
  if (unassigned && given.assignee_active !== undefined) reject('unassigned', 'assignee_active');
  const isClosed = (one: string) => closedStatuses.includes(one);
  if (status.length > 0 && status.every(isClosed)) {
    if (given.overdue) reject('overdue', 'status');
    if (given.review_overdue) reject('review_overdue', 'status');
  }
  if (given.resolved_since && status.length > 0 && !status.some((one) => one === 'all' || isClosed(one)))
    reject('resolved_since', 'status');
  for (const day of ['due', 'review'] as const) {
    const { [`${day}_before` as const]: before, [`${day}_after` as const]: after } = given;
    // Both days are exclusive.
    if (before && after && before <= daysLater(after, 1)) reject(`${day}_before`, `${day}_after`);
  }
}

async function rejectUnknown(
  db: Kysely<Tables>,
  target: Target,
  name: string,
  ids: readonly string[] = [],
): Promise<void> {
  const known = await findRows(db, target, { field: target.id }, ids);
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length > 0) throw invalidParameter(name, `There is no ${target.kind} ${joinWords(unknown)}.`);
}
