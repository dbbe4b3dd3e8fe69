import type { Kysely, Transaction } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import type { Database } from '../../database/open.ts';
import type { Tables } from '../../database/tables.ts';
import { bySystem } from '../../database/writes/change.ts';
import { lockProjects } from '../projects/lock.ts';
import { changeRisk, getRisk } from '../risks/queries.ts';
import { clearStaleRiskFields } from '../risks/transitions.ts';

/** The number of risks that are reopened in one transaction, which other writers wait for. */
const batchSize = 100;

/** Reopens risks whose acceptance has expired. Takes the write lock only if there are any. */
export async function expireAcceptances({ db, write }: Pick<Database, 'db' | 'write'>, moment: Moment) {
  const reopen = (db: Transaction<Tables>) =>
    reopenAll(db, expiredAcceptances(db, moment).limit(batchSize), moment);
  while (await expiredAcceptances(db, moment).limit(1).executeTakeFirst()) await write(reopen, 'bulk');
}

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
