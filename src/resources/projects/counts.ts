import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../database/tables.ts';

/** What one risk or issue adds to the counts of its project. */
export type CountDelta = {
  open_issues: number;
  critical_issues: number;
  active_risks: number;
  unassessed_risks: number;
};

/** What adds to none of them. */
export const none: CountDelta = { open_issues: 0, critical_issues: 0, active_risks: 0, unassessed_risks: 0 };

export const riskDelta = (isActive: boolean, score: number | null): CountDelta => ({
  ...none,
  active_risks: Number(isActive),
  unassessed_risks: Number(isActive && score === null),
});

export const issueDelta = (isOpen: boolean, severity: string): CountDelta => ({
  ...none,
  open_issues: Number(isOpen),
  critical_issues: Number(isOpen && severity === 'critical'),
});

/** Keeps a project's counts true, in the transaction of the change: `before` and `after` it, null when it is not there. */
export const recount = (
  db: Transaction<Tables>,
  project_id: string,
  before: CountDelta | null,
  after: CountDelta | null,
): Promise<void> =>
  add(
    db,
    project_id,
    Object.entries(after ?? none).map(([name, count]) => [
      name,
      count - (before ?? none)[name as keyof CountDelta],
    ]),
  );

/** The same for what is made, which also uses up the next numbers of its kind. */
export const countCreated = (
  db: Transaction<Tables>,
  project_id: string,
  counter: 'risks_made' | 'issues_made' | 'tasks_made',
  deltas: readonly CountDelta[],
): Promise<void> =>
  add(db, project_id, [
    [counter, deltas.length],
    ...Object.keys(none).map(
      (name) => [name, deltas.reduce((sum, delta) => sum + delta[name as keyof CountDelta], 0)] as const,
    ),
  ]);

async function add(
  db: Transaction<Tables>,
  project_id: string,
  counts: readonly (readonly [name: string, change: number])[],
): Promise<void> {
  const changes = counts
    .filter(([, change]) => change !== 0)
    .map(([name, change]) => [name, sql<number>`${sql.ref(name)} + ${sql.lit(change)}`]);
  if (changes.length === 0) return;
  await db.updateTable('projects').set(Object.fromEntries(changes)).where('id', '=', project_id).execute();
}
