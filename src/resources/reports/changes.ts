import { type Kysely, type RawBuilder, sql } from 'kysely';
import { endOf } from '../../core/clock.ts';
import { inJsonArray, jsonArrayOf, notIndexed } from '../../database/sql/functions.ts';
import { count } from '../../lists/list.ts';
import type { Tables } from '../../store/tables.ts';
import { inProjects as isInProjects, projectsArchivedSince } from '../risks/past/versions.ts';
import { includesProject, riskConditions, riskJson, riskRows, withOwner } from '../risks/register.ts';
import { inProjects, pickAll, type Subject, withScoreThen } from './rows.ts';
import { maxRows, type ReportContent, ReportRisk } from './schema.ts';

type Changes = Omit<ReportContent['changes'], 'raised_issues' | 'resolved_issues'>;

/**
 * What has happened to threats since a day. A risk that was created and has ended since is in two lists, so that they add up
 * to the change of the register. Risks of a project that was archived then have not changed the register themselves.
 */
export async function readChanges(db: Kysely<Tables>, subject: Subject): Promise<Changes> {
  const { moment, since } = subject;
  const end = endOf(since, moment);
  const isNew = sql<boolean>`risks.created_at >= ${end}`;
  const filters = { ...inProjects(subject), kind: ['threat' as const], status: ['all' as const] };
  const archived = await projectsArchivedSince(db, { filters, moment }, since);
  // The history is read only for projects that were archived or unarchived since.
  const wasIncluded = sql<boolean>`(${isInProjects(archived, false)} or ${includesProject(since, moment)('false')})`;
  /** Risks with an earlier version, which is compared with the current one. */
  const replaced = (condition: RawBuilder<unknown>) =>
    sql<boolean>`(${wasIncluded} and ${inJsonArray(
      sql.ref('risks.id'),
      sql<string>`(select ${jsonArrayOf(sql.ref('earlier.id'), sql.ref('earlier.id'))}
      from past_risks as earlier join risks as later on later.id = earlier.id
      where earlier.valid_until >= ${end} and earlier.updated_at < ${end} and ${condition})`,
    )})`;
  const ended = (
    status: 'materialized' | 'closed',
  ) => sql<boolean>`((${isNew} and risks.status = ${sql.lit(status)})
    or ${replaced(sql`earlier.active = 1 and later.status = ${sql.lit(status)}`)})`;
  const stayedActive = sql`later.active = 1 and earlier.active = 1`;
  // Not by the index of the ranking, in which SQLite would look for the few risks that have changed.
  const rank = sql`${notIndexed(sql.ref('risks.rank_key'))}`;
  const scoreThen = sql<number>`(select earlier.score from past_risks as earlier
    where earlier.id = risks.id and earlier.valid_until >= ${end} and earlier.updated_at < ${end})`;
  const byDifference = sql<number>`-abs(risks.score - ${scoreThen})`;

  const all = riskRows(db).where(riskConditions({ filters, moment }, sql`(risks.active + 0)`));
  const read = async (condition: RawBuilder<boolean>, order: RawBuilder<unknown> = rank) => {
    // The JSON of a row is built after the sort, for the first rows only.
    const found = await all
      .where(condition)
      .select('risks.id')
      .orderBy(order)
      .orderBy(rank)
      .limit(maxRows.changes)
      .execute();
    const ids = found.map(({ id }) => id as string);
    const rows = await withOwner(riskRows(db))
      .select(['risks.id', riskJson(moment).as('json')])
      .where(inJsonArray(sql.ref('risks.id'), ids))
      .execute();
    const risks = new Map(rows.map(({ id, json }) => [id, JSON.parse(json)]));
    return {
      total: ids.length < maxRows.changes ? ids.length : await count(all.where(condition)),
      items: pickAll(
        ReportRisk,
        await withScoreThen(
          db,
          ids.map((id) => risks.get(id)),
          end,
        ),
      ),
    };
  };
  return {
    added: await read(isNew),
    reopened: await read(replaced(sql`later.active = 1 and earlier.active = 0`)),
    up: await read(replaced(sql`${stayedActive} and later.score > earlier.score`), byDifference),
    down: await read(replaced(sql`${stayedActive} and later.score < earlier.score`), byDifference),
    occurred: await read(ended('materialized')),
    closed: await read(ended('closed')),
  };
}
