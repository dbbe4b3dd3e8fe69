import type { Kysely, Transaction } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import { inJsonArray } from '../../database/sql/functions.ts';
import { count } from '../../lists/list.ts';
import { readRiskModel } from '../../store/risk-model.ts';
import type { Tables } from '../../store/tables.ts';
import { bySystem } from '../../store/writes/change.ts';
import { differencesBetween } from '../../store/writes/history.ts';
import { lockTables } from '../../store/writes/locks.ts';
import { laterThan } from '../../store/writes/rows.ts';
import { saveItems } from '../project-items/update.ts';
import { lockProjects } from '../projects/lock.ts';
import { riskSubject, writesBy } from './queries.ts';
import { clearStaleRiskFields } from './rules/transitions.ts';
import { Risk } from './schema.ts';

/** The number of risks that are reopened in one transaction, which other writers wait for. */
const batchSize = 100;

/** Whether the acceptance of a risk has expired that is not reopened yet. */
export const hasExpiredAcceptances = async (db: Kysely<Tables>, moment: Moment) =>
  (await expiredAcceptances(db, moment).select('risks.id').limit(1).executeTakeFirst()) !== undefined;

export const countExpiredAcceptances = (db: Kysely<Tables>, moment: Moment): Promise<number> =>
  count(expiredAcceptances(db, moment));

/** Reopens some of the risks whose acceptance has expired, one instance at a time. Returns how many. */
export async function expireSomeAcceptances(db: Transaction<Tables>, moment: Moment): Promise<number> {
  await lockTables(db, 'risks');
  return reopenSome(db, expiredAcceptances(db, moment), moment);
}

/** The same in one project, whose lock the caller holds. */
export const expireAcceptancesIn = (db: Transaction<Tables>, moment: Moment, project_id: string) =>
  reopenSome(db, expiredAcceptances(db, moment).where('project_id', '=', project_id), moment);

async function reopenSome(
  db: Transaction<Tables>,
  expired: ReturnType<typeof expiredAcceptances>,
  moment: Moment,
): Promise<number> {
  const some = expired.select(['risks.id', 'project_id']).limit(batchSize);
  const project_ids = (await some.execute()).map(({ project_id }) => project_id);
  const locked = await lockProjects(db, [...new Set(project_ids)]);
  // Read again: somebody may have changed them before the lock.
  const ids = (await some.execute()).flatMap(({ id, project_id }) => (locked.has(project_id) ? [id] : []));
  const rows = await riskSubject
    .from(db)
    .select(riskSubject.json(moment).as('json'))
    .where(inJsonArray(riskSubject.id, ids))
    .execute();
  const changes = rows.map(({ json }) => {
    const current: Risk = JSON.parse(json);
    const next = clearStaleRiskFields(current, { ...current, status: 'open' });
    const differences = differencesBetween(current, next, Object.keys(Risk.properties));
    const reason = `Accepted only until ${current.accepted_until}.`;
    return { current, next, differences, reason, type: 'risk.acceptance_expired' };
  });
  const writes = writesBy(await readRiskModel(db));
  // By the minute, as in `updateItems`.
  const minuteOf = ({ current }: { current: Risk }) => laterThan(moment, current).now.slice(0, 16);
  for (const group of Map.groupBy(changes, minuteOf).values())
    await saveItems(db, writes, group, bySystem(moment));
  return changes.length;
}

const expiredAcceptances = (db: Kysely<Tables>, { today }: Moment) =>
  db
    .selectFrom('risks')
    .innerJoin('projects', 'projects.id', 'risks.project_id')
    .where('risks.status', '=', 'accepted')
    .where('accepted_until', '<', today)
    // Archived projects do not change; unarchiving one calls this function for it.
    .where('archived_at', 'is', null);
