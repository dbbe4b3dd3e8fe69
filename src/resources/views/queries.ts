import { type Kysely, sql, type Transaction } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import { fieldError, invalidBody, notFound } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { newStamps, rowAsJson } from '../../database/sql/rows.ts';
import { type List, memoizedList } from '../../lists/list.ts';
import type { Tables } from '../../store/tables.ts';
import { lockTables } from '../../store/writes/locks.ts';
import { rejectDuplicate } from '../../store/writes/references.ts';
import { insertRows, laterThan, updateRow } from '../../store/writes/rows.ts';
import { maxViews, View, type ViewedList, type ViewInput, type ViewPatch, viewResource } from './schema.ts';

/** The views of these lists, oldest first. */
export const viewList = (lists: readonly ViewedList[]): List =>
  memoizedList(['views', lists], () => ({
    schema: View,
    json: viewJson,
    reads: ['views'],
    order: { key: sql.ref('views.id') },
    from: (db) => db.selectFrom('views'),
    id: sql.ref('views.id'),
    matches: isOf(lists),
  }));

/** A view of one of these lists. */
export async function getView(db: Kysely<Tables>, id: string, lists: readonly ViewedList[]): Promise<View> {
  const { json } = await db
    .selectFrom('views')
    .select(viewJson.as('json'))
    .where('id', '=', id)
    .where(isOf(lists))
    .executeTakeFirstOrThrow(() => notFound('view', id));
  return JSON.parse(json);
}

export async function createView(
  db: Transaction<Tables>,
  { list, name, query }: ViewInput,
  { now }: Moment,
): Promise<View> {
  // Otherwise transactions on PostgreSQL that count at the same time would all find room.
  await lockTables(db, 'views');
  await rejectTakenName(db, list, name);
  const { stored } = await db
    .selectFrom('views')
    .select((eb) => eb.fn.countAll<number>().as('stored'))
    .where('list', '=', list)
    .executeTakeFirstOrThrow();
  if (stored >= maxViews) {
    const detail = `There are ${maxViews} views of this list. Delete one of them first.`;
    throw invalidBody([fieldError('list', 'maxItems', detail)]);
  }
  const view: View = { id: newId('view'), list, name, query, ...newStamps(now) };
  await insertRows(db, 'views', [view]);
  return view;
}

export async function updateView(
  db: Transaction<Tables>,
  current: View,
  patch: ViewPatch,
  requested: Moment,
): Promise<View> {
  const { name, query } = { ...current, ...patch };
  if (name === current.name && query === current.query) return current;
  if (name !== current.name) await rejectTakenName(db, current.list, name);
  const { now } = laterThan(requested, current);
  await updateRow(db, 'views', current, { name, query }, now);
  return { ...current, name, query, version: current.version + 1, updated_at: now };
}

const rejectTakenName = (db: Kysely<Tables>, list: ViewedList, name: string) =>
  rejectDuplicate(db, viewResource, 'name', name, sql<boolean>`name = ${name} and list = ${list}`);

const viewJson = rowAsJson(View, 'views');

const isOf = (lists: readonly ViewedList[]) =>
  lists.length > 0
    ? sql<boolean>`views.list in (${sql.join(lists.map((list) => sql.lit(list)))})`
    : sql<boolean>`1 = 0`;
