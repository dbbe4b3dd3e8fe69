import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type FieldError, fieldError, invalidBody, Problem } from '../../core/errors.ts';
import { inJsonArray, sharedRowLock } from '../sql/functions.ts';
import { namedStatement, param } from '../sql/statement.ts';
import type { Tables } from '../tables.ts';

export type Target = {
  table: 'people' | 'groups' | 'projects' | 'risks' | 'issues' | 'tasks';
  id: 'user_id' | 'id';
  what: string;
  /** What people know it by. */
  label?: 'name' | 'key';
  /** Only those of this project count. */
  project_id?: string;
};

export const toPerson = { table: 'people', id: 'user_id', what: 'person' } as const;
export const toGroup = { table: 'groups', id: 'id', what: 'group' } as const;
export const toProject = { table: 'projects', id: 'id', what: 'project' } as const;
export const toRisk = { table: 'risks', id: 'id', what: 'risk', label: 'key' } as const;
export const toTask = { table: 'tasks', id: 'id', what: 'task', label: 'key' } as const;
export const toIssue = { table: 'issues', id: 'id', what: 'issue', label: 'key' } as const;

export const inProject = <T extends Target>(target: T, project_id: string) => ({ ...target, project_id });

/**
 * For each input an error for every field that names something which is not there. People are locked against being
 * deactivated until the transaction ends (`lockPerson`): who is named here is not handed over meanwhile.
 */
export async function referenceErrors(
  db: Kysely<Tables>,
  inputs: readonly object[],
  references: Record<string, Target>,
): Promise<FieldError[][]> {
  const errors = inputs.map((): FieldError[] => []);
  for (const [field, target] of Object.entries(references)) {
    const named = inputs.map(
      (input) => (input as Record<string, unknown>)[field] as string | null | undefined,
    );
    const known = await rowsWith(db, target, { field: target.id }, named, target.table === 'people');
    for (const [i, value] of named.entries()) {
      if (value == null || known.has(value)) continue;
      const where = target.project_id === undefined ? 'There is' : 'This project has';
      const detail = `${where} no ${target.what} ${value}.`;
      errors[i]?.push(fieldError(field, 'unknown_reference', detail));
    }
  }
  return errors;
}

/** 409 when another row has the value already; it names the field and the row. */
export async function rejectDuplicate(
  db: Kysely<Tables>,
  target: Target,
  field: string,
  value: string | null | undefined,
  same = sql<boolean>`${sql.ref(field)} = ${value}`,
): Promise<void> {
  if (value == null) return;
  const { table, id, label = 'name' } = target;
  const { rows } = await sql<Holder>`
    select ${sql.ref(id)} as id, ${sql.ref(label)} as label
    from ${sql.table(table)} where ${same} limit 1`.execute(db);
  const [holder] = rows;
  if (holder) throw duplicates([{ what: target.what, field, value, holder }]);
}

type Holder = { id: string; label: string };

type Taken = { what: string; field: string; value: string; holder: Holder };

/** 409 for values that others have. */
function duplicates(taken: readonly Taken[]): Problem {
  const errors = taken.map(duplicateError);
  const extra = { field: taken[0]?.field, existing_id: taken[0]?.holder.id };
  return new Problem('duplicate', errors.map(({ detail }) => detail).join(' '), { errors, extra });
}

const duplicateError = ({ what, field, value, holder }: Taken): FieldError =>
  fieldError(
    field,
    'duplicate',
    `The ${what} ${holder.label} (${holder.id}) has the ${field} “${value}” already.`,
  );

/** A field no two may have the same value of, and what its values are compared by, if not themselves. */
export type Unique = { field: string; column?: RawBuilder<string>; compared?(value: string): string };

type Texts = readonly (string | null | undefined)[];
type Check = { field: string; values: Texts; keys: Texts; holders: Map<string, Holder> };

/**
 * Why each of the new things is refused, if it is: for its errors, or for values that others have already, be they rows or
 * new things before it.
 */
export async function findRejections(
  db: Kysely<Tables>,
  target: Target,
  ids: readonly string[],
  inputs: readonly object[],
  errors: readonly (readonly FieldError[])[],
  uniques: readonly Unique[],
): Promise<(Problem | undefined)[]> {
  const checks: Check[] = [];
  for (const unique of uniques) {
    const { field, compared = String } = unique;
    const values = inputs.map((input) => (input as Record<string, string | null | undefined>)[field]);
    const keys = values.map((value) => (value == null ? undefined : compared(value)));
    checks.push({ field, values, keys, holders: await rowsWith(db, target, unique, keys) });
  }
  return inputs.map((input, i) => {
    const taken = checks.flatMap(({ field, values, keys, holders }) => {
      const holder = holders.get(keys[i] ?? '');
      return holder ? [{ what: target.what, field, value: values[i] ?? '', holder }] : [];
    });
    const wrong = errors[i] ?? [];
    if (wrong.length > 0) return invalidBody([...wrong, ...taken.map(duplicateError)]);
    if (taken.length > 0) return duplicates(taken);
    const label = String('name' in input ? input.name : 'title' in input ? input.title : '');
    for (const { keys, holders } of checks) if (keys[i]) holders.set(keys[i], { id: ids[i] ?? '', label });
    return undefined;
  });
}

/** The rows that have one of the values in a column, by that value. */
async function rowsWith(
  db: Kysely<Tables>,
  { table, id, label = 'name', project_id }: Target,
  { field, column = sql.ref(field) }: Unique,
  values: readonly (string | null | undefined)[],
  isLocking = false,
): Promise<Map<string, Holder>> {
  const wanted = [...new Set(values.filter((value) => value != null))];
  if (wanted.length === 0) return new Map();
  const isWithin = project_id !== undefined;
  const find = namedStatement<Holder & { value: string }>(
    `${table} ${field} ${isWithin} ${isLocking}`,
    (db) =>
      db
        .selectFrom(table as 'risks')
        .select([sql.ref<string>(id).as('id'), sql.ref<string>(label).as('label'), column.as('value')])
        .$if(isLocking, (query) => query.select(sharedRowLock(sql.ref(id)).as('lock')))
        .where(inJsonArray(column, param<string>('wanted')))
        .$if(isWithin, (query) => query.where('project_id', '=', param<string>('project_id'))),
  );
  const { rows } = await find(db, { wanted: JSON.stringify(wanted), project_id });
  return new Map(rows.map(({ value, id, label }) => [value, { id, label }]));
}

/** The same for the external ids of a project's risks, issues and tasks, which are unique within it. */
export const rejectDuplicateExternalId = (
  db: Kysely<Tables>,
  target: Target,
  project_id: string,
  external_id: string | null | undefined,
) =>
  rejectDuplicate(
    db,
    target,
    'external_id',
    external_id,
    sql<boolean>`external_id = ${external_id} and project_id = ${project_id}`,
  );

type User = 'risks' | 'issues' | 'tasks' | 'people' | 'groups' | 'projects';

/** How many rows of each kind point at something, and a few of them; undefined when none does. */
export async function findReferrers(
  db: Kysely<Tables>,
  pointers: [kind: User, points: RawBuilder<boolean>][],
) {
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
