import type { Kysely, Transaction } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import type { Tables } from '../../store/tables.ts';
import { bySystem } from '../../store/writes/change.ts';
import { lockProjects } from '../projects/lock.ts';
import { changeRisk, getRisk } from './queries.ts';
import { clearStaleRiskFields } from './rules/transitions.ts';

/** The number of risks that are reopened in one transaction, which other writers wait for. */
const batchSize = 100;

/** Whether the acceptance of a risk has expired that is not reopened yet. */
export const hasExpiredAcceptances = async (db: Kysely<Tables>, moment: Moment) =>
  (await expiredAcceptances(db, moment).limit(1).executeTakeFirst()) !== undefined;

/** Reopens some of the risks whose acceptance has expired. */
export const expireSomeAcceptances = (db: Transaction<Tables>, moment: Moment) =>
  reopenAll(db, expiredAcceptances(db, moment).limit(batchSize), moment);

/** Reopens the risks of a project whose acceptance has expired. */
export const expireAcceptancesIn = (db: Transaction<Tables>, moment: Moment, project_id: string) =>
  reopenAll(db, expiredAcceptances(db, moment).where('project_id', '=', project_id), moment);

async function reopenAll(
  db: Transaction<Tables>,
  expired: ReturnType<typeof expiredAcceptances>,
  moment: Moment,
): Promise<void> {
  const project_ids = (await expired.execute()).map(({ project_id }) => project_id);
  const locked = await lockProjects(db, [...new Set(project_ids)]);
  // Read again: another instance may have reopened some of them before the lock.
  for (const { id, project_id, accepted_until } of await expired.execute()) {
    if (!locked.has(project_id)) continue;
    const current = await getRisk(db, project_id, id, moment);
    const next = clearStaleRiskFields(current, { ...current, status: 'open' });
    const change = bySystem(moment, `Accepted only until ${accepted_until}.`);
    await changeRisk(db, current, next, change, 'risk.acceptance_expired');
  }
}

const expiredAcceptances = (db: Kysely<Tables>, { today }: Moment) =>
  db
    .selectFrom('risks')
    .select(['risks.id', 'project_id', 'accepted_until'])
    .innerJoin('projects', 'projects.id', 'risks.project_id')
    .where('risks.status', '=', 'accepted')
    .where('accepted_until', '<', today)
    // Archived projects do not change; unarchiving one calls this function for it.
    .where('archived_at', 'is', null);
