import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type FieldError, fieldError, invalidBody, Problem } from '../../core/errors.ts';
import { inJsonArray, sharedRowLock } from '../../database/sql/functions.ts';
import { namedStatement, param } from '../../database/sql/statement.ts';
import type { Descriptor } from '../../resources/descriptor.ts';
import { resources } from '../../resources/descriptors.ts';
import type { Tables } from '../tables.ts';

/** A resource that others refer to, or one that has unique fields. */
export type Target = Pick<Descriptor, 'table' | 'id' | 'kind' | 'label'> & {
  /** Limits the target to rows of this project. */
  project_id?: string;
};

/**
 * Returns, for each input, an error for every field that refers to a row that does not exist. `references` are those of
 * a descriptor; risks and issues must belong to the project of the inputs. Takes a shared lock on
 * referenced people until the transaction ends, so that they are not deactivated or handed over at the same time
 * (`lockPerson`).
 */
export async function referenceErrors(
  db: Kysely<Tables>,
  inputs: readonly object[],
  references: Readonly<Record<string, string>>,
  project_id?: string,
): Promise<FieldError[][]> {
  const errors = inputs.map((): FieldError[] => []);
  for (const [field, table] of Object.entries(references)) {
    const target = targetOf(table, project_id);
    // The project of an item is not among its inputs.
    if (target.table === 'projects') continue;
    const ids = inputs.map((input) => (input as Record<string, unknown>)[field] as string | null | undefined);
    const existing = await findRows(db, target, { field: target.id }, ids, target.table === 'people');
    for (const [i, value] of ids.entries()) {
      if (value == null || existing.has(value)) continue;
      const subject = target.project_id === undefined ? 'There is' : 'This project has';
      const detail = `${subject} no ${target.kind} ${value}.`;
      errors[i]?.push(fieldError(field, 'unknown_reference', detail));
    }
  }
  return errors;
}

function targetOf(table: string, project_id: string | undefined): Target {
  const target = resources.find((resource) => resource.table === table);
  if (!target) throw new Error(`No resource has the table ${table}.`);
  const isOfProject = typeof target.visible === 'object' && 'project' in target.visible;
  return isOfProject && project_id !== undefined ? { ...target, project_id } : target;
}

/** Throws 409 if another row already has the value. The error names the field and that row. */
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
  if (holder) throw duplicateProblem([{ what: target.kind, field, value, holder }]);
}

/** Throws 409 if another row already has the new value of a unique field that differs. */
export async function rejectDuplicates(
  db: Kysely<Tables>,
  target: Target,
  uniques: readonly Unique[],
  id: string,
  next: object,
  differences: object,
): Promise<void> {
  for (const { field, column = sql.ref(field), compared = String } of uniques) {
    const value = (next as Record<string, string | null | undefined>)[field];
    if (!(field in differences) || value == null) continue;
    // Leave out the row itself: a name that changes only in case is not a duplicate.
    const isSame = sql<boolean>`${column} = ${compared(value)} and ${sql.ref(target.id)} <> ${id}`;
    await rejectDuplicate(db, target, field, value, isSame);
  }
}

type Holder = { id: string; label: string };

type Duplicate = { what: string; field: string; value: string; holder: Holder };

/** A 409 for values that other rows already have. */
function duplicateProblem(duplicates: readonly Duplicate[]): Problem {
  const errors = duplicates.map(duplicateError);
  const extra = { field: duplicates[0]?.field, existing_id: duplicates[0]?.holder.id };
  return new Problem('duplicate', errors.map(({ detail }) => detail).join(' '), { errors, extra });
}

const duplicateError = ({ what, field, value, holder }: Duplicate): FieldError =>
  fieldError(
    field,
    'duplicate',
    `The ${what} ${holder.label} (${holder.id}) already has the ${field} “${value}”.`,
  );

/** A unique field. If its values are not compared as they are, `column` and `compared` give the normalized forms. */
export type Unique = { field: string; column?: RawBuilder<string>; compared?(value: string): string };

type Texts = readonly (string | null | undefined)[];
type Check = { field: string; values: Texts; keys: Texts; holders: Map<string, Holder> };

/**
 * Returns the Problem for each new resource, or undefined if it can be created. A resource is rejected if it has validation
 * errors, or if a row or an earlier resource in the same request already has one of its unique values.
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
    checks.push({ field, values, keys, holders: await findRows(db, target, unique, keys) });
  }
  return inputs.map((input, i) => {
    const duplicates = checks.flatMap(({ field, values, keys, holders }) => {
      const holder = holders.get(keys[i] ?? '');
      return holder ? [{ what: target.kind, field, value: values[i] ?? '', holder }] : [];
    });
    const invalid = errors[i] ?? [];
    if (invalid.length > 0) return invalidBody([...invalid, ...duplicates.map(duplicateError)]);
    if (duplicates.length > 0) return duplicateProblem(duplicates);
    const label = String('name' in input ? input.name : 'title' in input ? input.title : '');
    for (const { keys, holders } of checks) if (keys[i]) holders.set(keys[i], { id: ids[i] ?? '', label });
    return undefined;
  });
}

/** Finds the rows that have one of the values in a column, by that value. */
export async function findRows(
  db: Kysely<Tables>,
  { table, id, label = 'name', project_id }: Target,
  { field, column = sql.ref(field) }: Unique,
  values: readonly (string | null | undefined)[],
  isLocking = false,
): Promise<Map<string, Holder>> {
  const wanted = [...new Set(values.filter((value) => value != null))];
  if (wanted.length === 0) return new Map();
  const isInProject = project_id !== undefined;
  const find = namedStatement<Holder & { value: string }>(
    `${table} ${field} ${isInProject} ${isLocking}`,
    (db) =>
      db
        .selectFrom(table as 'risks')
        .select([sql.ref<string>(id).as('id'), sql.ref<string>(label).as('label'), column.as('value')])
        .$if(isLocking, (query) => query.select(sharedRowLock(sql.ref(id)).as('lock')))
        .where(inJsonArray(column, param<string>('wanted')))
        .$if(isInProject, (query) => query.where('project_id', '=', param<string>('project_id'))),
  );
  const { rows } = await find(db, { wanted: JSON.stringify(wanted), project_id });
  return new Map(rows.map(({ value, id, label }) => [value, { id, label }]));
}

/** A table, and the condition for its rows that refer to a row. */
export type Reference = [
  table: 'risks' | 'issues' | 'tasks' | 'people' | 'groups' | 'projects',
  isReferrer: RawBuilder<boolean>,
];

/** Counts the rows of each kind that refer to a row, with up to three samples; undefined if there are none. */
export async function findReferrers(db: Kysely<Tables>, references: readonly Reference[]) {
  const referrers: Record<string, { count: number; samples: string[] }> = {};
  for (const [kind, isReferrer] of references) {
    const label = sql.ref(kind === 'people' || kind === 'groups' ? 'name' : 'key');
    const { rows: samples } = await sql<{ label: string }>`
      select ${label} as label from ${sql.table(kind)} where ${isReferrer} order by ${label} limit 3`.execute(
      db,
    );
    const { rows: counts } = await sql<{ count: number }>`
      select count(*) as count from ${sql.table(kind)} where ${isReferrer}`.execute(db);
    const count = counts[0]?.count ?? 0;
    if (count > 0) referrers[kind] = { count, samples: samples.map((row) => row.label) };
  }
  return Object.keys(referrers).length > 0 ? referrers : undefined;
}

export async function exists(db: Kysely<Tables>, { table, id }: Target, value: unknown): Promise<boolean> {
  const find = namedStatement(`exists ${table}`, (db) =>
    db
      .selectFrom(table as 'people')
      .select(sql.ref(id).as('id'))
      .where(sql<boolean>`${sql.ref(id)} = ${param('value')}`),
  );
  return (await find(db, { value })).rows.length > 0;
}
