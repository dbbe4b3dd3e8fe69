import { sql, type Transaction } from 'kysely';
import { namedStatement, param } from '../../database/sql/statement.ts';
import type { Tables } from '../../store/tables.ts';

/** The contribution of one risk or issue to the counters of its project. */
export type CountDelta = {
  open_issues: number;
  critical_issues: number;
  active_risks: number;
  unassessed_risks: number;
};

export const zeroDelta: CountDelta = {
  open_issues: 0,
  critical_issues: 0,
  active_risks: 0,
  unassessed_risks: 0,
};

export const riskDelta = (isActive: boolean, score: number | null): CountDelta => ({
  ...zeroDelta,
  active_risks: Number(isActive),
  unassessed_risks: Number(isActive && score === null),
});

export const issueDelta = (isOpen: boolean, severity: string): CountDelta => ({
  ...zeroDelta,
  open_issues: Number(isOpen),
  critical_issues: Number(isOpen && severity === 'critical'),
});

/**
 * Updates a project's counters in the transaction that changes an item. `before` is null for a new item, `after` for a
 * deleted one.
 */
export const updateCounts = (
  db: Transaction<Tables>,
  project_id: string,
  before: CountDelta | null,
  after: CountDelta | null,
): Promise<void> =>
  addToCounters(
    db,
    project_id,
    Object.entries(after ?? zeroDelta).map(([name, count]) => [
      name,
      count - (before ?? zeroDelta)[name as keyof CountDelta],
    ]),
  );

/** Like `updateCounts`, for many items of a project. */
export const updateCountsOfMany = (
  db: Transaction<Tables>,
  project_id: string,
  deltas: readonly { before: CountDelta; after: CountDelta }[],
): Promise<void> =>
  addToCounters(
    db,
    project_id,
    (Object.keys(zeroDelta) as (keyof CountDelta)[]).map((name) => [
      name,
      deltas.reduce((sum, { before, after }) => sum + after[name] - before[name], 0),
    ]),
  );

/** Updates a project's counters for new items, and advances the counter that numbers their keys. */
export const addCreatedCounts = (
  db: Transaction<Tables>,
  project_id: string,
  counter: 'risks_created' | 'issues_created' | 'tasks_created',
  deltas: readonly CountDelta[],
): Promise<void> =>
  addToCounters(db, project_id, [
    [counter, deltas.length],
    ...Object.keys(zeroDelta).map(
      (name) => [name, deltas.reduce((sum, delta) => sum + delta[name as keyof CountDelta], 0)] as const,
    ),
  ]);

async function addToCounters(
  db: Transaction<Tables>,
  project_id: string,
  counts: readonly (readonly [name: string, change: number])[],
): Promise<void> {
  const changes = counts.filter(([, change]) => change !== 0);
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
