import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import { inJsonArray } from '../../database/sql/functions.ts';
import type { Tables } from '../../store/tables.ts';
import { assignmentSources } from './assignments.ts';
import type { Load } from './schema.ts';

/** How many open tasks and issues, active risks and led projects these people have. An item with two roles counts once. */
export async function countLoad(
  db: Kysely<Tables>,
  user_ids: readonly string[],
  today: string,
): Promise<Load[]> {
  const sources = Object.entries(assignmentSources).flatMap(([table, { roles, isOpen, project_id }]) =>
    Object.values<string>(roles).map(
      (field) => sql`
        select ${sql.ref(field)} as user_id, id, ${sql.ref(project_id)} as project_id, due_on
        from ${sql.table(table)} where ${inJsonArray(sql.ref(field), user_ids)} and ${isOpen}`,
    ),
  );
  const rows = await db
    .selectFrom(
      sql<{
        user_id: string;
        id: string;
        project_id: string;
        due_on: string | null;
      }>`(${sql.join(sources, sql` union all `)})`.as('assignments'),
    )
    .innerJoin('projects', 'projects.id', 'assignments.project_id')
    .where('projects.archived_at', 'is', null)
    .select([
      'assignments.user_id',
      sql<number>`count(distinct assignments.id)`.as('open'),
      sql<number>`count(distinct case when assignments.due_on < ${today} then assignments.id end)`.as(
        'overdue',
      ),
    ])
    .groupBy('assignments.user_id')
    .execute();
  const found = new Map(rows.map((row) => [row.user_id, row]));
  return user_ids.map((user_id) => {
    const { open = 0, overdue = 0 } = found.get(user_id) ?? {};
    return { user_id, open, overdue };
  });
}
