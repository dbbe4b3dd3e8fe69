import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import { jsonTexts } from '../../database/sql/functions.ts';
import type { Tables } from '../../store/tables.ts';
import { assignmentSources } from './assignments.ts';
import type { Load } from './schema.ts';

/**
 * How many open tasks and issues, active risks and led projects these people have. An item with two roles counts once.
 * SQLite follows the order of a cross join, and so reads only the items of these people.
 */
export async function countLoad(
  db: Kysely<Tables>,
  user_ids: readonly string[],
  today: string,
): Promise<Load[]> {
  const sources = Object.entries(assignmentSources).flatMap(([table, { roles, isOpen, project_id }]) => {
    const of = (column: string) => sql.ref(`${table}.${column}`);
    return Object.values<string>(roles).map(
      (field) => sql`
        select asked.value as user_id, ${of('id')} as id, ${of(project_id)} as project_id, ${of('due_on')} as due_on
        from ${jsonTexts(sql`${JSON.stringify(user_ids)}`)} as asked cross join ${sql.table(table)}
        where ${of(field)} = asked.value and ${isOpen}`,
    );
  });
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
