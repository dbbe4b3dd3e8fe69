import { type Kysely, sql } from 'kysely';
import { type Fault, fieldFault, Problem } from '../errors.ts';
import type { Tables } from './tables.ts';

type Target = {
  table: 'people' | 'groups' | 'projects' | 'risks' | 'issues';
  id: 'user_id' | 'id';
  what: string;
};

export const toPerson: Target = { table: 'people', id: 'user_id', what: 'person' };
export const toGroup: Target = { table: 'groups', id: 'id', what: 'group' };
export const toProject: Target = { table: 'projects', id: 'id', what: 'project' };
export const toRisk: Target = { table: 'risks', id: 'id', what: 'risk' };
export const toIssue: Target = { table: 'issues', id: 'id', what: 'issue' };

/** A fault for every field that names something which is not there. */
export async function missingReferences(
  db: Kysely<Tables>,
  input: object,
  references: Record<string, Target>,
): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const [field, { table, id, what }] of Object.entries(references)) {
    const value = (input as Record<string, unknown>)[field];
    if (value == null || (await exists(db, table, id, value))) continue;
    faults.push(fieldFault(field, 'unknown_reference', `There is no ${what} ${value}.`));
  }
  return faults;
}

/** 409 when another row has the value already; it names the field and the row. */
export async function refuseDuplicate(
  db: Kysely<Tables>,
  { table, id, what }: Target,
  field: string,
  value: string | null | undefined,
  same = sql<boolean>`${sql.ref(field)} = ${value}`,
): Promise<void> {
  if (value == null) return;
  const { rows } = await sql<{ id: string; label: string }>`
    select ${sql.ref(id)} as id, ${sql.ref(table === 'risks' || table === 'issues' ? 'key' : 'name')} as label
    from ${sql.table(table)} where ${same} limit 1`.execute(db);
  const [holder] = rows;
  if (!holder) return;
  const detail = `The ${what} ${holder.label} (${holder.id}) has the ${field} “${value}” already.`;
  throw new Problem('duplicate', detail, {
    errors: [fieldFault(field, 'duplicate', detail)],
    extra: { field, existing_id: holder.id },
  });
}

async function exists(db: Kysely<Tables>, table: string, id: string, value: unknown): Promise<boolean> {
  const { rows } = await sql`select 1 from ${sql.table(table)} where ${sql.ref(id)} = ${value}`.execute(db);
  return rows.length > 0;
}
