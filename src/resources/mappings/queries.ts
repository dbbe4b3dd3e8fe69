import { type Kysely, sql, type Transaction } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import { fieldError, invalidBody, notFound } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { newStamps, rowAsJson } from '../../database/sql/rows.ts';
import { readMapping } from '../../import/mapping.ts';
import { type List, memoizedList } from '../../lists/list.ts';
import type { Tables } from '../../store/tables.ts';
import { lockTables } from '../../store/writes/locks.ts';
import { rejectDuplicate } from '../../store/writes/references.ts';
import { insertRows, laterThan, updateRow } from '../../store/writes/rows.ts';
import {
  type MappedList,
  Mapping,
  type MappingInput,
  type MappingPatch,
  mappingResource,
  maxMappings,
} from './schema.ts';

/** The mappings of these lists, by name. */
export const mappingList = (lists: readonly MappedList[]): List =>
  memoizedList(['mappings', lists], () => ({
    schema: Mapping,
    json: mappingJson,
    reads: ['mappings'],
    order: { key: sql.ref('mappings.name') },
    from: (db) => db.selectFrom('mappings'),
    id: sql.ref('mappings.id'),
    matches: isOf(lists),
  }));

export async function getMapping(
  db: Kysely<Tables>,
  id: string,
  lists: readonly MappedList[],
): Promise<Mapping> {
  const { json } = await db
    .selectFrom('mappings')
    .select(mappingJson.as('json'))
    .where('id', '=', id)
    .where(isOf(lists))
    .executeTakeFirstOrThrow(() => notFound('mapping', id));
  return JSON.parse(json);
}

export async function createMapping(
  db: Transaction<Tables>,
  { list, name, query }: MappingInput,
  { now }: Moment,
): Promise<Mapping> {
  rejectInvalidQuery(query);
  // Otherwise transactions on PostgreSQL that count at the same time would all find room.
  await lockTables(db, 'mappings');
  await rejectTakenName(db, name);
  const { stored } = await db
    .selectFrom('mappings')
    .select((eb) => eb.fn.countAll<number>().as('stored'))
    .executeTakeFirstOrThrow();
  if (stored >= maxMappings) {
    const detail = `There are ${maxMappings} mappings. Delete one of them first.`;
    throw invalidBody([fieldError('name', 'maxItems', detail)]);
  }
  const mapping: Mapping = { id: newId('mapping'), list, name, query, ...newStamps(now) };
  await insertRows(db, 'mappings', [mapping]);
  return mapping;
}

export async function updateMapping(
  db: Transaction<Tables>,
  current: Mapping,
  patch: MappingPatch,
  requested: Moment,
): Promise<Mapping> {
  const { name, query } = { ...current, ...patch };
  if (name === current.name && query === current.query) return current;
  rejectInvalidQuery(query);
  if (name !== current.name) await rejectTakenName(db, name);
  const { now } = laterThan(requested, current);
  await updateRow(db, 'mappings', current, { name, query }, now);
  return { ...current, name, query, version: current.version + 1, updated_at: now };
}

/** The parameters of a mapping are checked when it is stored, not when it is first used. */
function rejectInvalidQuery(query: string): void {
  const { errors } = readMapping(query);
  if (errors.length > 0)
    throw invalidBody(errors.map(({ code, detail }) => fieldError('query', code, detail)));
}

const rejectTakenName = (db: Kysely<Tables>, name: string) =>
  rejectDuplicate(db, mappingResource, 'name', name, sql<boolean>`name = ${name}`);

const mappingJson = rowAsJson(Mapping, 'mappings');

const isOf = (lists: readonly MappedList[]) =>
  lists.length > 0
    ? sql<boolean>`mappings.list in (${sql.join(lists.map((list) => sql.lit(list)))})`
    : sql<boolean>`1 = 0`;
