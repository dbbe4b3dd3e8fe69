import type { Transaction } from 'kysely';
import { type FieldError, Problem } from '../../core/errors.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change } from '../../store/writes/change.ts';
import type { Importable, Resource } from '../importable.ts';
import type { ParsedRow } from '../parse-rows.ts';
import { completed, failedUpdate, unusedReason, type Written } from '../results.ts';

export const idOf = ({ user_id, id }: Resource) => String(user_id ?? id);

/** The fields of a resource that differ in a row, with warnings. */
export type Update = { row: ParsedRow; current: Resource; patch: Resource; warnings: FieldError[] };

export function updateOf(importable: Importable, current: Resource, row: ParsedRow): Update {
  return { row, current, ...completedBy(importable, current, patchOf(importable, current, row)) };
}

export const isAlone = ({ updateMany, alone = [], intermediateStatus = {} }: Importable, { patch }: Update) =>
  !updateMany || alone.some((field) => field in patch) || String(patch.status) in intermediateStatus;

/** Updates the fields that differ. A resource without differences keeps its version. */
export async function updateRows(
  db: Transaction<Tables>,
  importable: Importable,
  updates: readonly Update[],
  change: Change,
): Promise<[ParsedRow, Written][]> {
  const changing = updates.filter(({ patch }) => Object.keys(patch).length > 0);
  const together = changing.filter((one) => !isAlone(importable, one));
  const problems = new Map<Update, Problem>();
  const fail = (failing: readonly Update[]) => (error: unknown) => {
    if (!(error instanceof Problem)) throw error;
    for (const one of failing) problems.set(one, error);
  };
  if (together.length > 0) {
    const patches = together.map(({ current, patch, row }) => ({ current, patch: withReason(patch, row) }));
    const results = await importable.updateMany?.(db, patches, change).catch(fail(together));
    for (const [i, result] of (results ?? []).entries())
      if (result instanceof Problem) fail(together.slice(i, i + 1))(result);
  }
  for (const one of changing)
    if (!together.includes(one))
      await applyPatch(db, importable, one.current, one.patch, one.row, change).catch(fail([one]));
  return updates.map((one) => [one.row, writtenOf(one, problems.get(one))]);
}

function writtenOf({ row, current, patch, warnings }: Update, problem: Problem | undefined): Written {
  if (problem) return failedUpdate(problem);
  const changed = Object.keys(patch);
  const isChanged = changed.length > 0;
  const all = isChanged ? warnings : [...warnings, ...unusedReason(row)];
  return {
    status: isChanged ? 'updated' : 'unchanged',
    id: idOf(current),
    ...('key' in current && { key: String(current.key) }),
    ...(isChanged && { changed }),
    ...(all.length > 0 && { warnings: all }),
  };
}

function patchOf({ additive = [], whenFound }: Importable, current: Resource, row: ParsedRow): Resource {
  const patch: Resource = {};
  const values = { ...row.values };
  for (const [field, value] of Object.entries(whenFound?.(current) ?? {})) values[field] ??= value;
  // The title is that of another text, which only names what is new.
  if (row.heading !== undefined && current.title !== values.title) values.description = row.heading;
  for (const [field, value] of Object.entries(values)) {
    if (value === undefined || field === 'reason' || row.onlyNew.includes(field)) continue;
    if (field === 'attributes') {
      const members = attributesPatch(current.attributes as Resource, value as Resource, row);
      if (Object.keys(members).length > 0) patch.attributes = members;
      continue;
    }
    const stored = current[field] ?? null;
    const target = additive.includes(field) ? withAdded(stored, value) : value;
    if (JSON.stringify(target) !== JSON.stringify(stored)) patch[field] = target;
  }
  return patch;
}

/** A list gets the items that it lacks, and another field a value if it has none. */
const withAdded = (stored: unknown, value: unknown) =>
  Array.isArray(stored) ? [...new Set([...stored, ...(value as string[])])] : (stored ?? value);

/** A row that sets the whole map removes the attributes it does not contain. */
function attributesPatch(
  current: Resource,
  attributes: Resource,
  { hasSomeAttributes }: ParsedRow,
): Resource {
  const removed = hasSomeAttributes ? [] : Object.keys(current).filter((name) => !(name in attributes));
  const differing = Object.entries(attributes).filter(([name, value]) => value !== (current[name] ?? null));
  return Object.fromEntries([...removed.map((name) => [name, null]), ...differing]);
}

/**
 * The patch with what its new status needs and the resource does not have yet, with a warning for each. An empty cell keeps
 * what the status needs.
 */
export function completedBy({ complete }: Importable, current: Resource, given: Resource) {
  const merged = { ...current, ...given };
  const patch = { ...given };
  const added: string[] = [];
  for (const [field, value] of Object.entries(complete?.(merged) ?? {})) {
    if (value === merged[field]) continue;
    if (given[field] === null && current[field] != null) delete patch[field];
    else if (given.status !== undefined) {
      patch[field] = value;
      added.push(field);
    }
  }
  const warnings = added.map((field) => completed(field, patch, given));
  for (const field of added) if (patch[field] === current[field]) delete patch[field];
  return { patch, warnings };
}

/** Updates as PATCH does, through an intermediate status if no single transition reaches the new one. */
export async function applyPatch(
  db: Transaction<Tables>,
  { update, intermediateStatus = {} }: Importable,
  current: Resource,
  patch: Resource,
  row: ParsedRow,
  change: Change,
): Promise<void> {
  const intermediate = intermediateStatus[String(patch.status)];
  const isDirect = intermediate === undefined || current.status === intermediate;
  const first = { ...withReason(patch, row), ...(!isDirect && { status: intermediate }) };
  const updated = await update(db, current, first, change);
  if (!isDirect) await update(db, updated as Resource, { status: patch.status }, change);
}

const withReason = (patch: Resource, { values: { reason } }: ParsedRow): Resource =>
  reason == null ? patch : { ...patch, reason };
