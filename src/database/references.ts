import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type Fault, fieldFault, Problem } from '../errors.ts';
import type { Tables } from './tables.ts';

export type Target = {
  table: 'people' | 'groups' | 'projects' | 'risks' | 'issues' | 'tasks';
  id: 'user_id' | 'id';
  what: string;
  /** What people know it by. */
  label?: 'name' | 'key';
};

export const toPerson: Target = { table: 'people', id: 'user_id', what: 'person' };
export const toGroup: Target = { table: 'groups', id: 'id', what: 'group' };
export const toProject: Target = { table: 'projects', id: 'id', what: 'project' };
export const toRisk: Target = { table: 'risks', id: 'id', what: 'risk', label: 'key' };
export const toTask: Target = { table: 'tasks', id: 'id', what: 'task', label: 'key' };
export const toIssue: Target = { table: 'issues', id: 'id', what: 'issue', label: 'key' };

/** A fault for every field that names something which is not there. */
export async function missingReferences(
  db: Kysely<Tables>,
  input: object,
  references: Record<string, Target>,
): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const [field, target] of Object.entries(references)) {
    const value = (input as Record<string, unknown>)[field];
    if (value == null || (await exists(db, target, value))) continue;
    faults.push(fieldFault(field, 'unknown_reference', `There is no ${target.what} ${value}.`));
  }
  return faults;
}

/** 409 when another row has the value already; it names the field and the row. */
export async function refuseDuplicate(
  db: Kysely<Tables>,
  { table, id, what, label = 'name' }: Target,
  field: string,
  value: string | null | undefined,
  same = sql<boolean>`${sql.ref(field)} = ${value}`,
): Promise<void> {
  if (value == null) return;
  const { rows } = await sql<{ id: string; label: string }>`
    select ${sql.ref(id)} as id, ${sql.ref(label)} as label
    from ${sql.table(table)} where ${same} limit 1`.execute(db);
  const [holder] = rows;
  if (!holder) return;
  const detail = `The ${what} ${holder.label} (${holder.id}) has the ${field} “${value}” already.`;
  throw new Problem('duplicate', detail, {
    errors: [fieldFault(field, 'duplicate', detail)],
    extra: { field, existing_id: holder.id },
  });
}

/** The same for the external ids of a project's risks, issues and tasks, which are unique within it. */
export const refuseSameExternalId = (
  db: Kysely<Tables>,
  target: Target,
  project_id: string,
  external_id: string | null | undefined,
) =>
  refuseDuplicate(
    db,
    target,
    'external_id',
    external_id,
    sql<boolean>`external_id = ${external_id} and project_id = ${project_id}`,
  );

type User = 'risks' | 'issues' | 'tasks' | 'people' | 'groups' | 'projects';

/** How many rows of each kind point at something, and a few of them; undefined when none does. */
export async function usersOf(db: Kysely<Tables>, pointers: [kind: User, points: RawBuilder<boolean>][]) {
  const users: Record<string, { count: number; samples: string[] }> = {};
  for (const [kind, points] of pointers) {
    const label = sql.ref(kind === 'people' || kind === 'groups' ? 'name' : 'key');
    const { rows: samples } = await sql<{ label: string }>`
      select ${label} as label from ${sql.table(kind)} where ${points} order by ${label} limit 3`.execute(db);
    const { rows: counts } = await sql<{ count: number }>`
      select count(*) as count from ${sql.table(kind)} where ${points}`.execute(db);
    const count = counts[0]?.count ?? 0;
    if (count > 0) users[kind] = { count, samples: samples.map((row) => row.label) };
  }
  return Object.keys(users).length > 0 ? users : undefined;
}

export async function exists(db: Kysely<Tables>, { table, id }: Target, value: unknown): Promise<boolean> {
  const { rows } = await sql`select 1 from ${sql.table(table)} where ${sql.ref(id)} = ${value}`.execute(db);
  return rows.length > 0;
}
