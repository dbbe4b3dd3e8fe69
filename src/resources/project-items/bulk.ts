import { type Kysely, sql, type Transaction } from 'kysely';
import { type TObject, type TSchema, type TString, Type } from 'typebox';
import type { Moment } from '../../core/clock.ts';
import { maxErrors, Problem } from '../../core/errors.ts';
import { normalizeKey } from '../../core/ids.ts';
import { limits, Strict } from '../../core/schemas.ts';
import { capitalized } from '../../core/text.ts';
import { inJsonArray } from '../../database/sql/functions.ts';
import type { App } from '../../http/fastify.ts';
import { done, runIdempotent, sendResult } from '../../http/request/idempotency.ts';
import { bulkErrors } from '../../http/route-errors.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change } from '../../store/writes/change.ts';
import type { Subject } from '../../store/writes/events.ts';
import { lockProjectsOfItemsFirst } from '../projects/lock.ts';
import { updateItems } from './update.ts';
import type { ItemWrites } from './writes.ts';

type Item = { id: string; key: string; version: number };
type Patch = Record<string, unknown>;

/** How one kind of project item is changed in bulk. */
type BulkKind = {
  ref: TString;
  patch: TObject;
  // biome-ignore lint/suspicious/noExplicitAny: the items of the kinds differ
  writes: ItemWrites<any, any, any>;
};

type BulkInput = {
  items: { id: string; version?: number; changes?: Patch }[];
  changes?: Patch;
};

/** Registers the route that changes many risks, issues or tasks at once. */
export function bulkRoute(app: App, kind: BulkKind): void {
  const { ref, patch, writes } = kind;
  const tag = writes.target.table;
  const name = capitalized(writes.target.kind);
  app.post(
    `/v1/bulk/${tag}`,
    {
      config: { access: 'projects.manage', errors: bulkErrors },
      schema: {
        operationId: `update${name}s`,
        summary: `Update up to ${limits.bulk_items} ${tag} of any projects at once`,
        description:
          `All or nothing: if one of the ${tag} cannot be changed, none is. Each goes through the same rules as a PATCH, ` +
          'with its own history and event. An item that is in the list several times is changed step by step. To undo, send ' +
          'the `previous` values back, with the new versions.',
        tags: [tag],
        body: inputOf(name, ref, patch) as TSchema,
        response: { 200: outputOf(name, patch) },
      },
    },
    async (request, reply) => {
      const input = request.body as BulkInput;
      // A long write must not hold up the event loop.
      const workload = input.items.length > maxQuickItems ? 'bulk' : 'quick';
      const work = async (db: Transaction<Tables>) =>
        done(await updateAll(db, kind, input, request.moment, request.change));
      return sendResult(reply, await runIdempotent(request, input, work, workload));
    },
  );
}

const maxQuickItems = 20;

const inputOf = (name: string, ref: TString, patch: TObject) =>
  Strict(
    {
      items: Type.Array(
        Strict({
          id: ref,
          version: Type.Optional(
            Type.Integer({
              minimum: 1,
              description: 'The version you have read. If the item has another one, nothing is changed.',
            }),
          ),
          changes: Type.Optional(patch),
        }),
        { minItems: 1, maxItems: limits.bulk_items },
      ),
      changes: Type.Optional(patch),
    },
    {
      $id: `${name}BulkInput`,
      description:
        '`changes` apply to all items; the `changes` of an item are added to them and take precedence.',
      examples: [
        {
          items: [{ id: `APOLLO-${name[0]}7` }, { id: `APOLLO-${name[0]}8`, version: 3 }],
          changes: { due_on: '2026-12-01' },
        },
      ],
    },
  );

const outputOf = (name: string, patch: TObject) =>
  Strict(
    {
      data: Type.Array(
        Strict({
          id: Type.String(),
          key: Type.String(),
          version: Type.Integer({ minimum: 1, description: 'The version after the change.' }),
          previous: patch,
        }),
        {
          description:
            'In the order of the request. `previous` contains the former values of the changed fields, as a patch. It is ' +
            'empty if nothing has changed.',
        },
      ),
    },
    { $id: `${name}BulkResult` },
  );

type Failure = { id: string; key?: string; problem: Problem };

/** The changes of one item added to the shared ones; attributes are merged by name. */
function merged(shared: Patch | undefined, changes: Patch | undefined): Patch {
  const patch = { ...shared, ...changes };
  if (shared?.attributes && changes?.attributes)
    patch.attributes = { ...shared.attributes, ...changes.attributes };
  return patch;
}

/** Changes all items or, if one of them cannot be changed, throws a problem that lists each reason. */
async function updateAll(
  db: Transaction<Tables>,
  { patch, writes }: BulkKind,
  { items, changes: shared }: BulkInput,
  moment: Moment,
  change: Change,
) {
  const { kind: noun, table } = writes.target;
  const refs = items.map(({ id }) => id);
  await lockProjectsOfItemsFirst(db, table, refs);
  const found = await findItems(db, writes.subject, refs, moment);
  const data = new Map<BulkInput['items'][number], object>();
  for (const round of roundsOf(items, found)) {
    const checked = round.map((item) => {
      const current = found.get(normalizeKey(item.id));
      return {
        item,
        current,
        problem: problemOf(noun, item, current),
        patch: merged(shared, item.changes),
      };
    });
    const allowed = checked.filter(({ problem }) => !problem);
    const updated = await updateItems(db, writes, allowed, change);
    const results = new Map(allowed.map((one, i) => [one, updated[i] as Item | Problem]));
    const failures: Failure[] = [];
    for (const one of checked) {
      const { item, current } = one;
      const result = one.problem ?? results.get(one);
      if (result instanceof Problem) {
        failures.push({ id: item.id, ...(current && { key: current.key }), problem: result });
      } else if (result && current) {
        const { id, key, version } = result;
        data.set(item, { id, key, version, previous: previousValues(patch, current, result) });
        found.set(normalizeKey(id), result).set(normalizeKey(key), result);
      }
    }
    if (failures.length > 0) throw refused(noun, failures, items.length);
  }
  return { data: items.map((item) => data.get(item)) };
}

/** An item that is in the list several times is changed step by step: each round has the next change of its items. */
function roundsOf(items: BulkInput['items'], found: ReadonlyMap<string, Item>) {
  const rounds = new Map<string, number>();
  const byRound = Map.groupBy(items, ({ id }) => {
    const itemId = found.get(normalizeKey(id))?.id ?? id;
    const round = rounds.get(itemId) ?? 0;
    rounds.set(itemId, round + 1);
    return round;
  });
  return byRound.values();
}

function problemOf(noun: string, { id, version }: BulkInput['items'][number], current?: Item) {
  if (!current)
    return new Problem('not_found', `There is no ${noun} ${id}. Check the id; it may have been deleted.`);
  if (version === undefined || version === current.version) return undefined;
  return new Problem(
    'stale',
    `${current.key} has changed since you read it: it has version ${current.version}, not ${version}. Read it again and review the changes.`,
  );
}

/** Reads items by their ids and keys, with one query each; the results are under both. */
async function findItems(
  db: Kysely<Tables>,
  { from, id, key, json }: Subject,
  refs: readonly string[],
  moment: Moment,
): Promise<Map<string, Item>> {
  const found = new Map<string, Item>();
  const [ids, keys] = [refs.filter((ref) => ref.includes('_')), refs.filter((ref) => !ref.includes('_'))];
  for (const [column, values] of [
    [id, ids],
    [key ?? id, keys.map(normalizeKey)],
  ] as const) {
    if (values.length === 0) continue;
    const rows = await from(db)
      .select(json(moment).as('json'))
      .where(inJsonArray(sql`${column}`, values))
      .execute();
    for (const row of rows) {
      const item: Item = JSON.parse(row.json);
      found.set(normalizeKey(item.id), item).set(normalizeKey(item.key), item);
    }
  }
  return found;
}

/** The patch that restores the former values of the fields that a patch can set. */
function previousValues(patch: TObject, before: object, after: object): Patch {
  const previous: Patch = {};
  for (const field of Object.keys(patch.properties)) {
    const [from, to] = [(before as Patch)[field], (after as Patch)[field]];
    if (JSON.stringify(from) === JSON.stringify(to)) continue;
    previous[field] = field === 'attributes' ? previousMembers(from as Patch, to as Patch) : (from ?? null);
  }
  return previous;
}

/** A patch of attributes keeps those that it leaves out, so added ones are removed by null. */
const previousMembers = (from: Patch, to: Patch): Patch =>
  Object.fromEntries(
    Object.keys({ ...from, ...to })
      .filter((name) => from[name] !== to[name])
      .map((name) => [name, from[name] ?? null]),
  );

function refused(noun: string, failures: readonly Failure[], total: number): Problem {
  const counted = `${failures.length} of ${total} ${noun}s cannot be changed, so nothing was changed.`;
  const listed =
    failures.length > maxErrors
      ? `\`results\` lists the first ${maxErrors}.`
      : '`results` lists each with the reason.';
  return new Problem('bulk_refused', `${counted} ${listed}`, {
    extra: {
      failed: failures.length,
      results: failures.slice(0, maxErrors).map(({ id, key, problem: { code, message, errors, extra } }) => ({
        id,
        ...(key !== undefined && { key }),
        code,
        detail: message,
        ...(errors && { errors }),
        ...extra,
      })),
    },
  });
}
