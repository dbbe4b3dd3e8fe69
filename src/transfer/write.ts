import type { Transaction } from 'kysely';
import { type FieldError, fieldError, Problem } from '../core/errors.ts';
import { joinWords } from '../core/text.ts';
import { inJsonArray } from '../database/sql/functions.ts';
import { inSavepoint } from '../database/sql/savepoint.ts';
import { param, type Statement, statement } from '../database/sql/statement.ts';
import type { Tables } from '../database/tables.ts';
import type { Change } from '../database/writes/change.ts';
import { type Created, unwrapSingle } from '../database/writes/create-many.ts';
import type { Importable, ImportKey } from './importable.ts';
import type { ParsedRow } from './parse-rows.ts';
import type { ImportResult } from './schema.ts';

/** What became of a row. */
export type Written = Omit<ImportResult, 'line'>;

type Resource = Record<string, unknown>;

/** Writes rows, in their order, and says what became of each. What they name has been found by now. */
export async function writeRows(
  db: Transaction<Tables>,
  importable: Importable,
  mode: 'create' | 'upsert',
  drafts: readonly ParsedRow[],
  change: Change,
): Promise<Written[]> {
  const written = new Map<ParsedRow, Written>();
  for (const some of mode === 'upsert' ? distinct(importable, drafts) : [drafts]) {
    const existing = await findExisting(db, importable, mode, some);
    const fresh: ParsedRow[] = [];
    for (const draft of some) {
      const current = existing.get(draft);
      const errors = draft.errors.concat(conflictErrors(importable, mode, draft, current));
      if (errors.length > 0) written.set(draft, failed(errors));
      else if (current) written.set(draft, await update(db, importable, current, draft, change));
      else fresh.push(draft);
    }
    await create(db, importable, fresh, change, written);
  }
  return drafts.map((draft) => written.get(draft) ?? failed([]));
}

const failed = (errors: readonly FieldError[]): Written => ({ status: 'failed', errors: [...errors] });

const failedFor = ({ errors, code, message }: Problem) => failed(errors ?? [{ code, detail: message }]);

/** What a row is known by, in this way. */
const knownAs = (draft: ParsedRow, { field }: ImportKey) =>
  draft.identity[field] ?? (draft.values[field] as string | null | undefined);

const comparedBy = (key: ImportKey, value: string) => key.compared?.(value) ?? value;

/** Runs of rows in which no two are known by the same: what one of them writes, the next must find. */
function* distinct({ keys }: Importable, drafts: readonly ParsedRow[]): Generator<ParsedRow[]> {
  let some: ParsedRow[] = [];
  let seen = new Set<string>();
  for (const draft of drafts) {
    const names = keys.flatMap((key) => {
      const value = knownAs(draft, key);
      return value == null ? [] : [`${key.field} ${comparedBy(key, value)}`];
    });
    if (names.some((name) => seen.has(name))) {
      yield some;
      some = [];
      seen = new Set();
    }
    some.push(draft);
    for (const name of names) seen.add(name);
  }
  if (some.length > 0) yield some;
}

/** What is there already of the rows: by the surest of what they are known by. */
async function findExisting(
  db: Transaction<Tables>,
  importable: Importable,
  mode: 'create' | 'upsert',
  drafts: readonly ParsedRow[],
): Promise<Map<ParsedRow, Resource>> {
  const existing = new Map<ParsedRow, Resource>();
  for (const key of importable.keys) {
    // What may not be there twice is found out by whoever makes it; an id would only be ignored.
    const named = drafts.filter(
      (draft) =>
        !existing.has(draft) &&
        (mode === 'upsert' ? knownAs(draft, key) != null : key.field in draft.identity),
    );
    if (named.length === 0) continue;
    const values = named.map((draft) => comparedBy(key, knownAs(draft, key) ?? ''));
    const { rows } = await readerBy(importable, key)(db, { values: JSON.stringify(values) });
    const byValue = new Map(
      rows.map(({ json }) => {
        const resource = JSON.parse(json) as Resource;
        return [comparedBy(key, String(resource[key.field])), resource];
      }),
    );
    for (const [i, draft] of named.entries()) {
      const resource = byValue.get(values[i] ?? '');
      if (resource) existing.set(draft, resource);
    }
  }
  return existing;
}

const readers = new WeakMap<ImportKey, Statement<{ json: string }>>();

function readerBy({ existing }: Importable, key: ImportKey): Statement<{ json: string }> {
  const known =
    readers.get(key) ??
    statement<{ json: string }>((db) =>
      existing
        .from(db)
        .select(existing.json.as('json'))
        .where(existing.matches)
        .where(inJsonArray(key.column, param<string>('values'))),
    );
  readers.set(key, known);
  return known;
}

/** Why a row cannot be what it says, beside what is there or where nothing is. */
function conflictErrors(
  { what, keys, input, patch }: Importable,
  mode: 'create' | 'upsert',
  draft: ParsedRow,
  current: Resource | undefined,
): FieldError[] {
  if (draft.isUnreadable) return [];
  if (current && mode === 'create') {
    const detail = `${labelOf(current)} is here already. Import with \`mode=upsert\` to change what is there.`;
    return [{ code: 'duplicate', detail }];
  }
  if (current) {
    const other = keys.find((key) => {
      const [said, is] = [draft.values[key.field], current[key.field]];
      return said != null && is != null && comparedBy(key, String(said)) !== comparedBy(key, String(is));
    });
    const isOther = other && keys.indexOf(other) < keys.findIndex((key) => isKnownBy(key, draft, current));
    if (!isOther) return [];
    const detail = `${labelOf(current)} is known by the same, but has another ${other.field}: ${current[other.field]}.`;
    return [fieldError(other.field, 'duplicate', detail)];
  }
  const required = (input.required as string[] | undefined) ?? [];
  const errors = required
    .filter(
      (field) => draft.values[field] == null && !draft.errors.some(({ pointer }) => pointer === `#/${field}`),
    )
    .map((field) => fieldError(field, 'required', `\`${field}\` is required.`));
  if (mode === 'upsert' && keys.every((key) => knownAs(draft, key) == null)) {
    const fields = keys.map(({ field }) => field).filter((field) => field in patch.properties);
    const detail = `To tell whether this ${what} is here already, a row needs ${joinWords(fields).replace(/ and (?!.* and )/, ' or ')}.`;
    errors.push({ code: 'no_key', detail });
  }
  return errors;
}

const isKnownBy = (key: ImportKey, draft: ParsedRow, current: Resource) =>
  comparedBy(key, String(knownAs(draft, key))) === comparedBy(key, String(current[key.field]));

const labelOf = ({ key, name, title, user_id, id }: Resource) => `${key ?? name ?? title} (${user_id ?? id})`;

/** Changes what differs; what is the same is left alone, down to its version. */
async function update(
  db: Transaction<Tables>,
  importable: Importable,
  current: Resource,
  draft: ParsedRow,
  change: Change,
): Promise<Written> {
  const identity = { id: idOf(current), ...('key' in current && { key: String(current.key) }) };
  const patch = patchOf(importable, current, draft);
  if (Object.keys(patch).length === 0) return { status: 'unchanged', ...identity };
  try {
    await move(db, importable, current, patch, draft, change);
    return { status: 'updated', ...identity, changed: Object.keys(patch) };
  } catch (error) {
    if (error instanceof Problem) return failedFor(error);
    throw error;
  }
}

const idOf = ({ user_id, id }: Resource) => String(user_id ?? id);

function patchOf({ additive = [] }: Importable, current: Resource, draft: ParsedRow): Resource {
  const patch: Resource = {};
  for (const [field, said] of Object.entries(draft.values)) {
    if (said === undefined || field === 'reason') continue;
    if (field === 'attributes') {
      const members = attributesPatch(current.attributes as Resource, said as Resource, draft);
      if (Object.keys(members).length > 0) patch.attributes = members;
      continue;
    }
    const is = current[field] ?? null;
    const value = additive.includes(field)
      ? [...new Set([...(is as string[]), ...(said as string[])])]
      : said;
    if (JSON.stringify(value) !== JSON.stringify(is)) patch[field] = value;
  }
  return patch;
}

/** What a whole map does not have is taken away. */
function attributesPatch(current: Resource, said: Resource, { hasSomeAttributes }: ParsedRow): Resource {
  const gone = hasSomeAttributes ? [] : Object.keys(current).filter((name) => !(name in said));
  const differing = Object.entries(said).filter(([name, value]) => value !== (current[name] ?? null));
  return Object.fromEntries([...gone.map((name) => [name, null]), ...differing]);
}

/** As PATCH does it; by way of another state, where there is no straight way. */
async function move(
  db: Transaction<Tables>,
  { update, intermediateStatus = {} }: Importable,
  current: Resource,
  patch: Resource,
  { values }: ParsedRow,
  change: Change,
): Promise<void> {
  const reason = values.reason == null ? {} : { reason: values.reason };
  const detour = intermediateStatus[String(patch.status)];
  if (detour === undefined || current.status === detour) {
    await update(db, current as never, { ...patch, ...reason } as never, change);
    return;
  }
  const between = await update(
    db,
    current as never,
    { ...patch, ...reason, status: detour } as never,
    change,
  );
  await update(db, between as never, { status: patch.status } as never, change);
}

/** Makes what is not there: as POST does it, many at once; what only PATCH can say is said by one after it. */
async function create(
  db: Transaction<Tables>,
  importable: Importable,
  drafts: readonly ParsedRow[],
  change: Change,
  written: Map<ParsedRow, Written>,
): Promise<void> {
  let plain: ParsedRow[] = [];
  let inputs: Resource[] = [];
  const flush = async () => {
    const made = inputs.length === 0 ? [] : await importable.create(db, inputs as never[], change);
    for (const [i, draft] of plain.entries()) written.set(draft, createdOf(importable, made[i]));
    plain = [];
    inputs = [];
  };
  for (const draft of drafts) {
    const { input, later } = apart(importable, draft);
    if (!later) {
      plain.push(draft);
      inputs.push(input);
    } else {
      await flush();
      written.set(draft, await createAndMove(db, importable, draft, input, later, change));
    }
  }
  await flush();
}

/** What a new thing is told when it is made, and what only then: what only a patch has, and states nothing begins in. */
function apart({ input: { properties } }: Importable, { values }: ParsedRow) {
  const input: Resource = {};
  let later: Resource | undefined;
  for (const field in values) {
    const value = values[field];
    if (value === undefined || field === 'reason') continue;
    const { enum: choices } = (properties[field] ?? {}) as { enum?: readonly unknown[] };
    const isLater = !(field in properties) || (field === 'status' && choices && !choices.includes(value));
    if (!isLater) input[field] = field === 'attributes' ? withoutNulls(value as Resource) : value;
    else if (value !== null) later = { ...later, [field]: value };
  }
  return { input, later };
}

const withoutNulls = (members: Resource) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));

function createdOf({ existing }: Importable, made: Created | Problem | undefined): Written {
  if (made instanceof Problem) return failedFor(made);
  const { id = '', label = '' } = made ?? {};
  return { status: 'created', id, ...('key' in existing.schema.properties && { key: label }) };
}

async function createAndMove(
  db: Transaction<Tables>,
  importable: Importable,
  draft: ParsedRow,
  input: Resource,
  later: Resource,
  change: Change,
): Promise<Written> {
  const [byId] = importable.keys;
  const outcome = await inSavepoint(db, async () => {
    const made = unwrapSingle(await importable.create(db, [input as never], change));
    const { rows } = await readerBy(importable, byId)(db, { values: JSON.stringify([made.id]) });
    await move(db, importable, JSON.parse(rows[0]?.json ?? '{}'), later, draft, change);
    return createdOf(importable, made);
  });
  if (outcome.status === 'fulfilled') return outcome.value;
  if (outcome.reason instanceof Problem) return failedFor(outcome.reason);
  throw outcome.reason;
}
