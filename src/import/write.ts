import type { Transaction } from 'kysely';
import { type FieldError, fieldError, Problem } from '../core/errors.ts';
import { joinWords } from '../core/text.ts';
import { inJsonArray } from '../database/sql/functions.ts';
import { inSavepoint } from '../database/sql/savepoint.ts';
import { param, type Statement, statement } from '../database/sql/statement.ts';
import { jsonRows } from '../lists/list.ts';
import type { Tables } from '../store/tables.ts';
import type { Change } from '../store/writes/change.ts';
import { type Created, unwrapSingle } from '../store/writes/create-many.ts';
import { type createRepeatCheck, isOfAnother } from './batches.ts';
import {
  comparedBy,
  type Importable,
  type ImportKey,
  keyValue,
  type Resource,
  type SkippedNumbers,
  uniqueKeysOf,
} from './importable.ts';
import type { ParsedRow } from './parse-rows.ts';
import { findMoved } from './references/moved.ts';
import { assumed, failed, failedFor, leftOut, unusedReason, type Written } from './results.ts';
import { applyPatch, completedBy, idOf, isAlone, type Update, updateOf, updateRows } from './rows/update.ts';

/** Writes rows with resolved references in order, and returns a result for each. */
export async function writeRows(
  db: Transaction<Tables>,
  importable: Importable,
  mode: 'create' | 'upsert',
  rows: readonly ParsedRow[],
  change: Change,
  { skipped, findRepeated }: EarlierRows,
): Promise<WrittenRow[]> {
  const written = new Map<ParsedRow, Written>();
  const wanted = rows.filter((row) => row.leftOut === undefined);
  for (const run of mode === 'upsert' ? splitAtRepeatedKeys(importable, wanted) : [wanted]) {
    const existing = await findExisting(db, importable, mode, run);
    const newRows: ParsedRow[] = [];
    const updated = new Set<string>();
    const taken: Update[] = [];
    const updates: Update[] = [];
    const update = async (next: readonly Update[]) => {
      for (const [row, result] of await updateRows(db, importable, next, change)) written.set(row, result);
    };
    for (const row of run) {
      let current = existing.get(row);
      // Two rows may name one resource by different keys: the second must not update what the first has replaced.
      if (current && updated.has(idOf(current))) {
        await update(updates.splice(0));
        current = await readById(db, importable, idOf(current));
      }
      const conflicts = conflictErrors(importable, mode, row, current);
      // With a conflict, it is not known what the row is about.
      const isUnclear = current !== undefined && conflicts.length > 0;
      const repeated = mode === 'upsert' && !isUnclear ? findRepeated(importable, row, current) : [];
      const errors = row.errors.concat(conflicts, repeated);
      if (errors.length > 0) written.set(row, failed(errors));
      else if (current) {
        const one = updateOf(importable, current, row);
        if (!isAlone(importable, one)) updates.push(one);
        // The rows before it may take or give up what it is compared with.
        else await update([...updates.splice(0), one]);
        updated.add(idOf(current));
        if (written.get(row)?.errors?.some(({ code }) => code === 'duplicate')) taken.push(one);
      } else newRows.push(row);
    }
    // A later row may have given up what an earlier one gets.
    await update([...updates, ...taken]);
    await createRows(db, importable, newRows, change, skipped, written);
  }
  return rows.map((row) => ({ row, written: written.get(row) ?? leftOut(row.leftOut) }));
}

export type WrittenRow = { row: ParsedRow; written: Written };

/** What the rows that were written before have taken. */
type EarlierRows = { skipped: SkippedNumbers; findRepeated: ReturnType<typeof createRepeatCheck> };

/** Splits rows so that no two in a run share a key: the second must find the resource that the first creates. */
function* splitAtRepeatedKeys(importable: Importable, rows: readonly ParsedRow[]): Generator<ParsedRow[]> {
  let run: ParsedRow[] = [];
  let seen = new Set<string>();
  for (const row of rows) {
    const keys = new Set(uniqueKeysOf(row, importable));
    if (!seen.isDisjointFrom(keys)) {
      yield run;
      run = [];
      seen = new Set();
    }
    run.push(row);
    for (const key of keys) seen.add(key);
  }
  if (run.length > 0) yield run;
}

/** Finds the existing resource of each row by its most reliable key. */
async function findExisting(
  db: Transaction<Tables>,
  importable: Importable,
  mode: 'create' | 'upsert',
  rows: readonly ParsedRow[],
): Promise<Map<ParsedRow, Resource>> {
  const existing = new Map<ParsedRow, Resource>();
  for (const key of importable.keys) {
    // With `mode=create` unique fields are checked on insert, but an id in the file would be ignored.
    const named = rows.filter(
      (row) =>
        !existing.has(row) &&
        !isOfAnother(importable, key, row) &&
        (mode === 'upsert' ? keyValue(row, key) !== undefined : key.field in row.identity),
    );
    if (named.length === 0) continue;
    const given = named.map((row) => comparedBy(key, keyValue(row, key) ?? ''));
    // The file may have the ids of another service.
    const moved = key === importable.keys[0] ? await findMoved(db, given) : new Map<string, string>();
    const values = JSON.stringify([...given, ...moved.values()]);
    const { rows: found } = await findByKey(importable, key)(db, { values });
    const byValue = new Map(
      found.map(({ json }) => {
        const resource = JSON.parse(json) as Resource;
        return [comparedBy(key, String(resource[key.field])), resource];
      }),
    );
    for (const [i, row] of named.entries()) {
      const value = given[i] ?? '';
      const resource = byValue.get(value) ?? byValue.get(moved.get(value) ?? '');
      if (resource) existing.set(row, resource);
    }
  }
  return existing;
}

async function readById(db: Transaction<Tables>, importable: Importable, id: string): Promise<Resource> {
  const { rows } = await findByKey(importable, importable.keys[0])(db, { values: JSON.stringify([id]) });
  return JSON.parse(rows[0]?.json ?? '{}');
}

const statements = new WeakMap<ImportKey, Statement<{ json: string }>>();

function findByKey({ existing }: Importable, key: ImportKey): Statement<{ json: string }> {
  const find =
    statements.get(key) ??
    statement<{ json: string }>((db) =>
      jsonRows(db, existing)
        .where(existing.matches)
        .where(inJsonArray(key.column, param<string>('values'))),
    );
  statements.set(key, find);
  return find;
}

/** Errors from comparing a row with the existing resource, or from its absence. */
function conflictErrors(
  { what, keys, input, patch }: Importable,
  mode: 'create' | 'upsert',
  row: ParsedRow,
  current: Resource | undefined,
): FieldError[] {
  if (row.isUnreadable) return [];
  if (current && mode === 'create') {
    const detail = `${labelOf(current)} already exists. Import with \`mode=upsert\` to update it.`;
    return [{ code: 'duplicate', detail }];
  }
  if (current) {
    const differing = keys.find((key) => {
      const [value, stored] = [row.values[key.field], current[key.field]];
      return (
        value != null && stored != null && comparedBy(key, String(value)) !== comparedBy(key, String(stored))
      );
    });
    const isConflict =
      differing && keys.indexOf(differing) < keys.findIndex((key) => matchesBy(key, row, current));
    if (!isConflict) return [];
    const detail = `${labelOf(current)} matches this row, but has a different ${differing.field}: ${current[differing.field]}. Correct the row.`;
    return [fieldError(differing.field, 'duplicate', detail)];
  }
  const required = (input.required as string[] | undefined) ?? [];
  const errors = required
    .filter(
      (field) => row.values[field] == null && !row.errors.some(({ pointer }) => pointer === `#/${field}`),
    )
    .map((field) => fieldError(field, 'required', `\`${field}\` is required.`));
  if (mode === 'upsert' && keys.every(({ field }) => (row.identity[field] ?? row.values[field]) == null)) {
    const fields = keys.map(({ field }) => field).filter((field) => field in patch.properties);
    const detail = `\`mode=upsert\` cannot match this ${what}: the row needs ${joinWords(fields).replace(/ and (?!.* and )/, ' or ')}.`;
    errors.push({ code: 'no_key', detail });
  }
  return errors;
}

const matchesBy = (key: ImportKey, row: ParsedRow, current: Resource) =>
  comparedBy(key, String(keyValue(row, key))) === comparedBy(key, String(current[key.field]));

const labelOf = ({ key, name, title, user_id, id }: Resource) => `${key ?? name ?? title} (${user_id ?? id})`;

/** Creates resources as POST does, many at once. Values that only PATCH accepts are set by a patch afterwards. */
async function createRows(
  db: Transaction<Tables>,
  importable: Importable,
  rows: readonly ParsedRow[],
  change: Change,
  skipped: SkippedNumbers,
  written: Map<ParsedRow, Written>,
): Promise<void> {
  const create = (rows: readonly ParsedRow[], inputs: readonly Resource[]) =>
    importable.create(db, inputs, change, { keys: rows.map(({ identity }) => identity.key), skipped });
  const odd = await importable.warnings?.(
    db,
    rows.map(({ values }) => values),
    change,
  );
  const oddRows = new Map(rows.map((row, i) => [row, odd?.[i] ?? []]));
  const queued = new Map<ParsedRow, Resource>();
  const flush = async () => {
    const created = queued.size === 0 ? [] : await create([...queued.keys()], [...queued.values()]);
    for (const [i, row] of [...queued.keys()].entries())
      written.set(
        row,
        withWarnings(
          row,
          queued.get(row) ?? {},
          [...(oddRows.get(row) ?? []), ...unusedReason(row)],
          createdOf(importable, created[i]),
        ),
      );
    queued.clear();
  };
  for (const row of rows) {
    const { input, patch } = splitInput(importable, row);
    Object.assign(input, importable.defaults?.(input));
    if (patch) {
      await flush();
      const undo = skipped.mark();
      const created = await createAndPatch(db, importable, row, () => create([row], [input]), patch, change);
      if (created.status === 'failed') undo();
      written.set(row, withWarnings(row, input, oddRows.get(row), created));
    } else queued.set(row, input);
  }
  await flush();
}

/** Adds what is odd about a row, and a warning for each value that it does not have. */
function withWarnings(
  { values }: ParsedRow,
  input: Resource,
  odd: readonly FieldError[] = [],
  written: Written,
): Written {
  const added = Object.keys(input).filter((field) => values[field] === undefined);
  const warnings = [
    ...odd,
    ...added.map((field) => assumed(field, input[field])),
    ...(written.warnings ?? []),
  ];
  return warnings.length === 0 || written.errors ? written : { ...written, warnings };
}

/** Splits values into the input for creation and a patch: patch-only fields and statuses that cannot be initial. */
function splitInput({ input: { properties } }: Importable, { values }: ParsedRow) {
  const input: Resource = {};
  let patch: Resource | undefined;
  for (const field in values) {
    const value = values[field];
    if (value === undefined || field === 'reason') continue;
    const { enum: choices } = (properties[field] ?? {}) as { enum?: readonly unknown[] };
    const isPatchOnly = !(field in properties) || (field === 'status' && choices && !choices.includes(value));
    if (!isPatchOnly) input[field] = field === 'attributes' ? withoutNulls(value as Resource) : value;
    else if (value !== null) patch = { ...patch, [field]: value };
  }
  return { input, patch };
}

const withoutNulls = (members: Resource) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));

function createdOf({ existing }: Importable, created: Created | Problem | undefined): Written {
  if (created instanceof Problem) return failedFor(created);
  const { id = '', label = '' } = created ?? {};
  return { status: 'created', id, ...('key' in existing.schema.properties && { key: label }) };
}

async function createAndPatch(
  db: Transaction<Tables>,
  importable: Importable,
  row: ParsedRow,
  create: () => ReturnType<Importable['create']>,
  given: Resource,
  change: Change,
): Promise<Written> {
  const outcome = await inSavepoint(db, async () => {
    const created = unwrapSingle(await create());
    const current = await readById(db, importable, created.id);
    const { patch, warnings } = completedBy(importable, current, given);
    await applyPatch(db, importable, current, patch, row, change);
    return { ...createdOf(importable, created), ...(warnings.length > 0 && { warnings }) };
  });
  if (outcome.status === 'fulfilled') return outcome.value;
  if (outcome.reason instanceof Problem) return failedFor(outcome.reason);
  throw outcome.reason;
}
