import type { Kysely, Transaction } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import type { Database } from '../../database/open.ts';
import type { Tables } from '../../database/tables.ts';
import { bySystem } from '../../database/writes/change.ts';
import { changeRisk, getRisk } from '../risks/queries.ts';
import { clearStaleRiskFields } from '../risks/transitions.ts';

/** Reopens risks whose acceptance has expired. Takes the write lock only if there are any. */
export async function expireAcceptances({ db, write }: Pick<Database, 'db' | 'write'>, moment: Moment) {
  const expired = await expiredAcceptances(db, moment);
  if (expired.length > 0) await write((db) => expireAcceptancesIn(db, moment));
}

/** Reopens risks whose acceptance has expired, in all projects or in one. Returns their keys. */
export async function expireAcceptancesIn(
  db: Transaction<Tables>,
  moment: Moment,
  project_id?: string,
): Promise<string[]> {
  const keys: string[] = [];
  for (const expired of await expiredAcceptances(db, moment, project_id)) {
    const { id, project_id, key, accepted_until } = expired;
    const current = await getRisk(db, project_id, id, moment);
    // Another instance may have reopened it first.
    if (current.status !== 'accepted') continue;
    const next = clearStaleRiskFields(current, { ...current, status: 'open' });
    const change = bySystem(moment, `Accepted only until ${accepted_until}.`);
    await changeRisk(db, current, next, change, 'risk.acceptance_expired');
    keys.push(key);
  }
  return keys;
}

const expiredAcceptances = (db: Kysely<Tables>, { today }: Moment, project_id?: string) =>
  db
    .selectFrom('risks')
    .select(['risks.id', 'project_id', 'risks.key', 'accepted_until'])
    .innerJoin('projects', 'projects.id', 'risks.project_id')
    .where('risks.status', '=', 'accepted')
    .where('accepted_until', '<', today)
    // Archived projects do not change; unarchiving one calls this function for it.
    .where('archived_at', 'is', null)
    .$if(project_id !== undefined, (query) => query.where('project_id', '=', project_id as string))
    .execute();
