import { sql, type Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';

/** What one risk or issue adds to the counts of its project. */
export type Share = {
  open_issues: number;
  critical_issues: number;
  active_risks: number;
  unassessed_risks: number;
};

/** What adds to none of them. */
export const none: Share = { open_issues: 0, critical_issues: 0, active_risks: 0, unassessed_risks: 0 };

export const shareOfRisk = (isActive: boolean, score: number | null): Share => ({
  ...none,
  active_risks: Number(isActive),
  unassessed_risks: Number(isActive && score === null),
});

export const shareOfIssue = (isOpen: boolean, severity: string): Share => ({
  ...none,
  open_issues: Number(isOpen),
  critical_issues: Number(isOpen && severity === 'critical'),
});

/** Keeps a project's counts true, in the transaction of the change: `before` and `after` it, null when it is not there. */
export const recount = (
  db: Transaction<Tables>,
  project_id: string,
  before: Share | null,
  after: Share | null,
): Promise<void> =>
  add(
    db,
    project_id,
    Object.entries(after ?? none).map(([name, count]) => [
      name,
      count - (before ?? none)[name as keyof Share],
    ]),
  );

/** The same for what is made, which also uses up the next numbers of its kind. */
export const countMade = (
  db: Transaction<Tables>,
  project_id: string,
  counter: 'risks_made' | 'issues_made' | 'tasks_made',
  shares: readonly Share[],
): Promise<void> =>
  add(db, project_id, [
    [counter, shares.length],
    ...Object.keys(none).map(
      (name) => [name, shares.reduce((sum, share) => sum + share[name as keyof Share], 0)] as const,
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
