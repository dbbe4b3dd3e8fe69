import { type Kysely, type RawBuilder, sql } from 'kysely';
import { endOf, type Moment } from '../../../core/clock.ts';
import { inJsonArray, jsonArrayOf } from '../../../database/sql/functions.ts';
import { holds, isIn } from '../../../lists/filters.ts';
import type { Tables } from '../../../store/tables.ts';
import { isArchived } from '../../projects/queries.ts';
import type { Register } from '../register.ts';

/**
 * Conditions for current risks that changed after a day, which indexes find: created since, or replacing an earlier version
 * since. No risk fulfills both.
 */
export function changedSince(day: string, moment: Moment): RawBuilder<boolean>[] {
  const end = endOf(day, moment);
  // As an array, so that the planner expects few ids and looks these risks up, instead of reading all.
  const replaced = sql<string>`(select ${jsonArrayOf(sql.ref('past.id'), sql.ref('past.id'))}
    from past_risks as past where past.valid_until >= ${end})`;
  return [
    sql`risks.created_at >= ${end}`,
    sql`(risks.created_at < ${end} and risks.updated_at >= ${end}
      and ${inJsonArray(sql.ref('risks.id'), replaced)})`,
  ];
}

/** Finds the projects that were archived or unarchived after a day. Other risks match the same way on every day. */
export async function projectsArchivedSince(
  db: Kysely<Tables>,
  { filters, moment }: Register,
  day: string,
): Promise<string[]> {
  if (filters.archived === 'any') return [];
  const rows = await db
    .selectFrom('history')
    .select('subject_id')
    .distinct()
    // Narrow by project first: most history entries belong to people, risks and issues.
    .where('subject_id', 'in', (db) => db.selectFrom('projects').select('id'))
    .where('field', '=', 'archived_at')
    .where('at', '>=', endOf(day, moment))
    .execute();
  return rows.map(({ subject_id }) => subject_id);
}

/** Whether the filter `archived` includes a project now, or may have included it at the end of a day since then. */
export const includedSince = (day: string, moment: Moment) => (archived: 'false' | 'true' | 'any') =>
  sql<boolean>`(${isArchived(archived)} or exists (
    select 1 from history
    where history.subject_id = projects.id and history.field = 'archived_at' and history.at >= ${endOf(day, moment)}))`;

export const inProjects = (ids: readonly string[], isIncluded: boolean) =>
  holds(ids.length === 0 ? sql<boolean>`1 = 0` : isIn('risks.project_id')(ids))(
    isIncluded,
  ) as RawBuilder<boolean>;

/** Whether the same version of a risk can match on one day and not on another. */
export const dependsOnDay = ({ filters }: Register) =>
  filters.review_overdue !== undefined || filters.check !== undefined;
