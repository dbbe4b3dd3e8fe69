import { sql, type Transaction } from 'kysely';
import { namedStatement, param } from '../../database/sql/statement.ts';
import type { Tables } from '../../store/tables.ts';
import { openStatuses } from '../issues/schema.ts';
import { activeStatuses } from '../risks/schema.ts';

export const zeroDelta = { open_issues: 0, critical_issues: 0, active_risks: 0, unassessed_risks: 0 };

/** The contribution of one risk or issue to the counters of its project. */
export type CountDelta = typeof zeroDelta;

export function riskDelta({ status, score }: { status: string; score: number | null }): CountDelta {
  const isActive = activeStatuses.some((active) => active === status);
  return {
    ...zeroDelta,
    active_risks: Number(isActive),
    unassessed_risks: Number(isActive && score === null),
  };
}

export function issueDelta({ status, severity }: { status: string; severity: string }): CountDelta {
  const isOpen = openStatuses.some((open) => open === status);
  return {
    ...zeroDelta,
    open_issues: Number(isOpen),
    critical_issues: Number(isOpen && severity === 'critical'),
  };
}

/**
 * Updates a project's counters in the transaction that changes its items. `before` is left out for a new item, `after` for
 * a deleted one. New items also advance the counter that numbers their keys.
 */
export async function updateCounts(
  db: Transaction<Tables>,
  project_id: string,
  deltas: readonly { before?: CountDelta; after?: CountDelta }[],
  created: { [Counter in `${'risks' | 'issues' | 'tasks'}_created`]?: number } = {},
): Promise<void> {
  const sums = (Object.keys(zeroDelta) as (keyof CountDelta)[]).map((name) => [
    name,
    deltas.reduce((sum, { before, after }) => sum + (after?.[name] ?? 0) - (before?.[name] ?? 0), 0),
  ]);
  const changes = Object.entries({ ...created, ...Object.fromEntries(sums) }).filter(([, sum]) => sum !== 0);
  if (changes.length === 0) return;
  const names = changes.map(([name]) => name);
  const add = namedStatement(`add to counters ${names}`, (db) =>
    db
      .updateTable('projects')
      .set(Object.fromEntries(names.map((name) => [name, sql<number>`${sql.ref(name)} + ${param(name)}`])))
      .where('id', '=', param<string>('project_id')),
  );
  await add.send(db, { ...Object.fromEntries(changes), project_id });
}
