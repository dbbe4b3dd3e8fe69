import { sql, type Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';

/** What one risk or issue adds to the counts of its project. */
type Share = { open_issues: number; critical_issues: number; active_risks: number; unassessed_risks: number };

const none: Share = { open_issues: 0, critical_issues: 0, active_risks: 0, unassessed_risks: 0 };

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
export async function recount(
  db: Transaction<Tables>,
  project_id: string,
  before: Share | null,
  after: Share | null,
): Promise<void> {
  const changes = Object.keys(none).flatMap((name) => {
    const count = name as keyof Share;
    const change = (after ?? none)[count] - (before ?? none)[count];
    return change === 0 ? [] : [[count, sql<number>`${sql.ref(count)} + ${sql.lit(change)}`] as const];
  });
  if (changes.length === 0) return;
  await db.updateTable('projects').set(Object.fromEntries(changes)).where('id', '=', project_id).execute();
}
