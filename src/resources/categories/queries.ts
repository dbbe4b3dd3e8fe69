import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { fieldError, invalidBody, notFound } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { fold } from '../../core/text.ts';
import { inJsonArray, jsonBoolean } from '../../database/sql/functions.ts';
import { newStamps, rowAsJson } from '../../database/sql/rows.ts';
import { allOf } from '../../lists/filters.ts';
import { type List, memoizedList } from '../../lists/list.ts';
import type { Filters } from '../../lists/query.ts';
import type { Tables } from '../../store/tables.ts';
import type { Change } from '../../store/writes/change.ts';
import { addEvent, setEventData, subjectOf } from '../../store/writes/events.ts';
import {
  differencesBetween,
  recordChanges,
  recordChangesOfMany,
  recordCreated,
  recordHistory,
} from '../../store/writes/history.ts';
import { lockAllProjects } from '../../store/writes/locks.ts';
import { rejectDuplicates } from '../../store/writes/references.ts';
import { deleteRow, insertRows, laterThan, updateRow, updateRows } from '../../store/writes/rows.ts';
import { archiveVersions, riskSubject } from '../risks/queries.ts';
import {
  Category,
  type CategoryInput,
  type CategoryPatch,
  type categoryFilters,
  categoryResource,
  type MergeInput,
  maxCategories,
  UsedCategory,
} from './schema.ts';

/** How many risks have each category. */
const usage = sql`(
  select risks.category, count(*) as risks,
    sum(case when risks.active = 1 and projects.archived_at is null then 1 else 0 end) as active_risks
  from risks join projects on projects.id = risks.project_id
  where risks.category is not null group by risks.category)`;

/** The categories of the list, and those that risks have besides. */
const usedCategories = sql<Record<string, unknown>>`(
  select categories.id, coalesce(categories.name, usage.category) as name, categories.description,
    categories.position, coalesce(usage.risks, 0) as risks, coalesce(usage.active_risks, 0) as active_risks,
    categories.version, categories.created_at, categories.updated_at
  from categories full join ${usage} as usage on usage.category = categories.name)`;

/** The categories of the list in their order, then the others by name. */
export const categoryList = (filters: Filters<typeof categoryFilters>): List =>
  memoizedList(['categories', filters], () => ({
    schema: UsedCategory,
    json: rowAsJson(UsedCategory, 'used', { listed: jsonBoolean(sql`used.id is not null`) }),
    reads: ['categories', 'risks', 'projects'],
    order: {
      key: sql`coalesce(cast(100000 + used.position as text), '9')`,
      tie: sql.ref('used.name'),
    },
    isIndexed: false,
    from: (db) => db.selectFrom(usedCategories.as('used')),
    id: sql.ref('used.name'),
    matches: allOf(filters, {
      listed: (isListed) => (isListed ? sql<boolean>`used.id is not null` : sql<boolean>`used.id is null`),
    }),
  }));

export async function getCategory(db: Kysely<Tables>, id: string): Promise<Category> {
  const category = await findCategory(db, id);
  if (!category) throw notFound('category', id);
  return category;
}

async function findCategory(db: Kysely<Tables>, id: string): Promise<Category | undefined> {
  const row = await db
    .selectFrom('categories')
    .select(categoryJson.as('json'))
    .where('id', '=', id)
    .executeTakeFirst();
  return row && JSON.parse(row.json);
}

const categoryJson = rowAsJson(Category, 'categories');

const categorySubject = subjectOf(categoryResource, () => categoryJson);

const uniqueFields = [{ field: 'name', column: sql.ref<string>('name_folded'), compared: fold }];

/**
 * Locks the list and all projects: whoever writes a risk holds the lock on its project while it looks its category up, so
 * that no risk gets a category that is being renamed.
 */
export const lockCategories = (db: Transaction<Tables>) => lockAllProjects(db, 'categories');

export async function createCategory(
  db: Transaction<Tables>,
  { name, description = null, position }: CategoryInput,
  change: Change,
): Promise<Category> {
  await lockCategories(db);
  const positions = await readPositions(db);
  if (positions.length >= maxCategories) {
    const detail = `There are ${maxCategories} categories. Merge or delete some of them first.`;
    throw invalidBody([fieldError('name', 'maxItems', detail)]);
  }
  const id = newId('category');
  await rejectDuplicates(db, categoryResource, uniqueFields, id, { name }, { name });
  const last = positions.length + 1;
  await insertRows(db, 'categories', [
    { id, name, name_folded: fold(name), description, position: last, ...newStamps(change.now) },
  ]);
  await moveTo(db, id, Math.min(position ?? last, last));
  await recordCreated(db, categorySubject, [{ id, label: name }], change);
  const spellings = await otherSpellings(db, name);
  await recategorize(db, spellings, name, change, `The category ${name} was added.`);
  return setEventData(db, id, await getCategory(db, id));
}

/** Renaming a category changes all risks that have it. */
export async function updateCategory(
  db: Transaction<Tables>,
  current: Category,
  { reason, ...patch }: CategoryPatch,
  requested: Change,
): Promise<Category> {
  const change = { ...laterThan(requested, current), reason };
  const { id } = current;
  const positions = await readPositions(db);
  const next = { ...current, ...patch };
  next.position = Math.min(next.position, positions.length);
  const differences = differencesBetween(current, next, Object.keys(patch));
  if (Object.keys(differences).length === 0) return current;
  await rejectDuplicates(db, categoryResource, uniqueFields, id, next, differences);
  const { name, description } = next;
  const folded = 'name' in differences && { name_folded: fold(name) };
  await updateRow(db, 'categories', current, { name, description, ...folded }, change.now);
  if ('position' in differences) await moveTo(db, id, next.position);
  // A category also moves when another one does, so the history has no places.
  const { position: _, ...recorded } = differences;
  await recordChanges(db, categorySubject, id, recorded, change, { differences });
  if ('name' in differences) {
    const spellings = [current.name, ...(await otherSpellings(db, name))];
    const why = reason ?? `The category ${current.name} was renamed.`;
    await recategorize(db, spellings, name, change, why);
  }
  return setEventData(db, id, await getCategory(db, id));
}

/** The risks of a category get another one, and the category leaves the list. */
export async function mergeCategory(
  db: Transaction<Tables>,
  current: Category,
  { into, reason }: MergeInput,
  change: Change,
): Promise<{ category: Category; changed_risks: number }> {
  const target = into === current.id ? undefined : await findCategory(db, into);
  if (!target) {
    const detail =
      into === current.id
        ? 'A category cannot be merged into itself. Choose another one.'
        : `There is no category ${into}. Choose one of the list.`;
    throw invalidBody([fieldError('into', 'unknown_reference', detail)]);
  }
  const why = reason ?? `The category ${current.name} was merged into ${target.name}.`;
  const changed_risks = await recategorize(db, [current.name], target.name, change, why);
  await removeCategory(db, current, { ...change, reason: why }, 'category.merged');
  const merged = { merged: { from: current.name, to: target.name } };
  const entries = (await updateRows(db, 'categories', [into], {}, change.now)).map(({ id, at }) => ({
    subject_id: id,
    at,
    differences: merged,
  }));
  await recordHistory(db, entries, { ...change, reason });
  return { category: await getCategory(db, into), changed_risks };
}

/** Removes a category from the list. Its risks keep it as a text. */
export const deleteCategory = (db: Transaction<Tables>, current: Category, change: Change) =>
  removeCategory(db, current, change);

async function removeCategory(
  db: Transaction<Tables>,
  current: Category,
  requested: Change,
  type?: 'category.merged',
): Promise<void> {
  const change = laterThan(requested, current);
  const { id, name } = current;
  await moveTo(db, id, maxCategories);
  await deleteRow(db, 'categories', current);
  const differences = { deleted: { from: name, to: null } };
  await recordHistory(db, [{ subject_id: id, at: change.now, differences }], change);
  const event = { subject: categorySubject, subject_id: id, at: change.now, change, differences };
  addEvent(db, { ...event, type, given: { data: current } });
}

type Position = { id: string; position: number };

const readPositions = (db: Kysely<Tables>): Promise<Position[]> =>
  db.selectFrom('categories').select(['id', 'position']).orderBy('position').execute();

/** Moves a category to a place, and the categories between to the next ones. Their versions stay as they are. */
async function moveTo(db: Transaction<Tables>, id: string, position: number): Promise<void> {
  const before = await readPositions(db);
  const others = before.filter((one) => one.id !== id);
  const moved = before.filter((one) => one.id === id);
  const after = [...others.slice(0, position - 1), ...moved, ...others.slice(position - 1)];
  for (const [i, one] of after.entries()) {
    if (one.position !== i + 1)
      await db
        .updateTable('categories')
        .set({ position: i + 1 })
        .where('id', '=', one.id)
        .execute();
  }
}

/** The texts of risks that differ from a name only in case, accents or spaces. */
async function otherSpellings(db: Kysely<Tables>, name: string): Promise<string[]> {
  const rows = await db.selectFrom('risks').select('category').distinct().execute();
  const folded = fold(name);
  return rows.flatMap(({ category }) =>
    category !== null && category !== name && fold(category) === folded ? [category] : [],
  );
}

const batchSize = 500;

/**
 * Gives the risks of some categories another one, in archived projects too: a category means the same everywhere. Each risk
 * gets a version, a past version, history and an event. Returns how many there were.
 */
async function recategorize(
  db: Transaction<Tables>,
  from: readonly string[],
  to: string,
  change: Change,
  reason: string,
): Promise<number> {
  const isChanged: RawBuilder<boolean> = sql`${inJsonArray(sql.ref('risks.category'), from)}`;
  let total = 0;
  for (let last = ''; ; ) {
    const rows = await db
      .selectFrom('risks')
      .select(['id', 'category'])
      .where(isChanged)
      .where('category', '<>', to)
      .where('id', '>', last)
      .orderBy('id')
      .limit(batchSize)
      .execute();
    const before = new Map(rows.map(({ id, category }) => [id, category]));
    const ids = [...before.keys()];
    if (ids.length === 0) return total;
    await archiveVersions(db, ids, change.now);
    const updated = await updateRows(db, 'risks', ids, { category: to }, change.now);
    const changes = updated.map(({ id, at }) => ({
      subject_id: id,
      at,
      differences: { category: { from: before.get(id), to } },
    }));
    await recordChangesOfMany(db, riskSubject, changes, { ...change, reason });
    total += ids.length;
    last = ids.at(-1) ?? '';
  }
}
