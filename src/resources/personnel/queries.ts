import { type Kysely, sql, type Transaction } from 'kysely';
import { daily, dayKey, type Moment } from '../../core/clock.ts';
import { type FieldError, fieldError, invalidBody, notFound, Problem } from '../../core/errors.ts';
import { grants } from '../../core/scopes.ts';
import { fold, foldAll, joinWords, lowerAscii } from '../../core/text.ts';
import { consoleUrl, foldedValues, inJsonArray, jsonBoolean } from '../../database/sql/functions.ts';
import { merged, newStamps, rowAsJson, storedChanges, storedFields } from '../../database/sql/rows.ts';
import { param, statement } from '../../database/sql/statement.ts';
import { type List, memoizedList, type Order, type RowsQuery } from '../../lists/list.ts';
import { byText, namesByRelevance } from '../../lists/orders.ts';
import { adjustAccess, rejectWithAccess } from '../../store/access/person-changes.ts';
import type { Tables } from '../../store/tables.ts';
import { cycleErrors } from '../../store/trees.ts';
import type { Change } from '../../store/writes/change.ts';
import { type Created, createMany, unwrapSingle } from '../../store/writes/create-many.ts';
import { setEventData, subjectOf } from '../../store/writes/events.ts';
import { differencesBetween, recordChangesOfMany, recordDeleted } from '../../store/writes/history.ts';
import { lockPerson, lockTables } from '../../store/writes/locks.ts';
import {
  findReferrers,
  type Reference,
  referenceErrors,
  rejectDuplicates,
  type Unique,
} from '../../store/writes/references.ts';
import { deleteRow, laterThan, updateReadRows } from '../../store/writes/rows.ts';
import { groupsOfPerson, joinedGroupsOfPerson, joinGroupsOfPeople } from '../groups/membership.ts';
import { rejectReferenced } from '../in-use.ts';
import { isAssignable, type PersonnelFilters, peopleKeys, personnelConditions } from './filters.ts';
import { Person, PersonInput, type PersonPatch, personResource } from './schema.ts';

const id = sql.ref<string>('people.user_id');

const indexedOrders: Record<string, Order> = Object.fromEntries(
  Object.entries(peopleKeys).flatMap(([name, key]) => [
    [name, { key }],
    [`-${name}`, { key, descending: true }],
  ]),
);

const joinTitles = (rows: RowsQuery) =>
  rows.leftJoin(foldedValues('people', 'title').as('titles'), (join) =>
    join.on(sql<boolean>`titles.value = people.title`),
  );

const otherOrders: Record<string, Order> = {
  ...byText('title', id, sql.ref('titles.folded'), () => ({ joins: joinTitles })),
  ...byText('department', id, sql.ref('people.department_folded')),
  ...byText('email', id, sql`lower(people.email)`),
  ...byText('status', id, sql.ref('people.status')),
};

const fieldOrders = { ...indexedOrders, ...otherOrders };

export const personnelSorts = [...Object.keys(fieldOrders), 'relevance'];

/** All people, by one of their fields or by how well the name matches `q`. */
export const personnelList = (filters: PersonnelFilters, moment: Moment, sort = 'name'): List =>
  memoizedList(['personnel', filters, dayKey(moment), sort], () => ({
    schema: Person,
    json: personJson(moment),
    grouped: { json: personJson(moment, joinedGroupsOfPerson), joins: joinGroupsOfPeople },
    reads: ['people', 'memberships', 'groups'],
    isIndexed:
      sort in indexedOrders &&
      Object.keys(filters).every((name) => ['user_ids', 'email', 'external_id'].includes(name)),
    order:
      sort === 'relevance'
        ? namesByRelevance(filters.q, sql.ref('people.name_folded'), peopleKeys.name)
        : (fieldOrders[sort] as Order),
    from: (db) => db.selectFrom('people'),
    id,
    matches: personnelConditions(filters, moment),
  }));

export async function getPerson(db: Kysely<Tables>, user_id: string, moment: Moment): Promise<Person> {
  const [row] = (await personById(moment)(db, { user_id })).rows;
  if (!row) throw notFound('person', user_id);
  return JSON.parse(row.json);
}

const personById = daily((moment) =>
  statement((db) =>
    db
      .selectFrom('people')
      .select(personJson(moment).as('json'))
      .where('user_id', '=', param<string>('user_id')),
  ),
);

export async function createPerson(
  db: Transaction<Tables>,
  input: PersonInput,
  change: Change,
): Promise<Person> {
  const { id } = unwrapSingle(await createPeople(db, [input], change));
  return setEventData(db, id, await getPerson(db, id, change));
}

/** Creates the valid people and returns a problem for each invalid one. */
export async function createPeople(
  db: Transaction<Tables>,
  inputs: readonly PersonInput[],
  change: Change,
): Promise<(Created | Problem)[]> {
  if (inputs.some(({ accountable_user_id }) => accountable_user_id)) await lockTables(db, 'people');
  const creation = {
    subject: personSubject,
    target: personResource,
    errors: await validate(db, inputs),
    uniques: uniqueFields,
    label: ({ name }: PersonInput) => name,
    row: ({ id }: Created, input: PersonInput) => personRow(id, input, change),
  } as const;
  return createMany(db, inputs, creation, change);
}

export async function updatePerson(
  db: Transaction<Tables>,
  current: Person,
  patch: PersonPatch,
  change: Change,
): Promise<Person> {
  const [result] = await updatePeople(db, [{ current, patch }], change);
  if (!result || result instanceof Problem) throw result;
  return result;
}

/** The fields that decide whether a person can sign in, and as whom. */
const accessFields = ['status', 'kind', 'email', 'name', 'end_on'];
const relationFields = ['manager_user_id', 'accountable_user_id'];

/** The rules for these fields involve several people, so that they are changed one by one. */
export const sharedFields = [...accessFields, ...relationFields, 'external_id'];

type PersonUpdate = { current: Person; patch: PersonPatch };

/** Updates people; returns the person or a problem for each. Several have no changes of `sharedFields`. */
export async function updatePeople(
  db: Transaction<Tables>,
  updates: readonly PersonUpdate[],
  requested: Change,
): Promise<(Person | Problem)[]> {
  const results = new Map<string, Person | Problem>();
  const drafts = updates.flatMap((update) => draftOf(update, requested, results));
  const isChanged = (fields: readonly string[]) =>
    drafts.some(({ differences }) => fields.some((field) => field in differences));
  // Concurrent changes must wait.
  if (isChanged(accessFields)) await lockTables(db, 'access', 'people');
  else if (isChanged(relationFields)) await lockTables(db, 'people');
  const errors =
    drafts.length === 0
      ? []
      : await validate(
          db,
          drafts.map(({ next }) => next),
        );
  const valid: typeof drafts = [];
  for (const [i, draft] of drafts.entries()) {
    try {
      await assertValid(db, draft, errors[i] ?? []);
      valid.push(draft);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      results.set(draft.id, error);
    }
  }
  const columnsOf = ({ columns, change }: Draft) => `${change.now} ${Object.keys(columns).sort()}`;
  for (const group of Map.groupBy(valid, columnsOf).values())
    await updateReadRows(db, 'people', group, group[0]?.change.now ?? requested.now);
  for (const { id, differences } of valid) {
    // A sync activates only those again whom nobody has activated or deactivated since.
    if ('status' in differences)
      await db
        .updateTable('synced_people')
        .set({ deactivated: 0 })
        .where('user_id', '=', id)
        .where('deactivated', '=', 1)
        .execute();
  }
  for (const group of Map.groupBy(valid, ({ change }) => `${change.now} ${change.reason}`).values()) {
    const changes = group.map(({ id, differences, change }) => ({
      subject_id: id,
      at: change.now,
      differences,
    }));
    await recordChangesOfMany(db, personSubject, changes, group[0]?.change ?? requested);
  }
  for (const person of await readPeople(
    db,
    valid.map(({ id }) => id),
    requested,
  ))
    results.set(person.user_id, setEventData(db, person.user_id, person));
  return updates.map(({ current }) => results.get(current.user_id) ?? current);
}

type Draft = Exclude<ReturnType<typeof draftOf>[0], undefined>;

/** The new state of a person; nothing if it is that of before, or not possible, which `results` then has. */
function draftOf(
  { current, patch: { reason, ...patch } }: PersonUpdate,
  requested: Change,
  results: Map<string, Person | Problem>,
) {
  try {
    const next = merged(current, patch);
    const differences = differencesBetween(current, next, Object.keys(patch));
    if (Object.keys(differences).length === 0) return [];
    const change = { ...laterThan(requested, current), reason };
    const columns = { ...storedChanges(Person, differences), ...foldedColumns(next) };
    return [{ id: current.user_id, version: current.version, current, next, differences, change, columns }];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    results.set(current.user_id, error);
    return [];
  }
}

/** Throws what the database has against a change. Ends access that does not fit it. */
async function assertValid(
  db: Transaction<Tables>,
  { id, current, next, differences, change }: Draft,
  errors: readonly FieldError[],
): Promise<void> {
  // Concurrent assignments check that the person is active.
  if ('status' in differences) await lockPerson(db, id);
  const all = [...errors, ...(await relationErrors(db, next, current))];
  if (all.length > 0) throw invalidBody(all);
  await rejectDuplicates(db, personResource, uniqueFields, id, next, differences);
  if (accessFields.some((field) => field in differences)) await adjustAccess(db, current, next, change);
}

/** One person is read by the id, which PostgreSQL plans better than a list. */
async function readPeople(db: Kysely<Tables>, ids: readonly string[], moment: Moment): Promise<Person[]> {
  const [first] = ids;
  if (first === undefined) return [];
  if (ids.length === 1) return [await getPerson(db, first, moment)];
  const { rows } = await peopleByIds(moment)(db, { ids: JSON.stringify(ids) });
  return rows.map(({ json }) => JSON.parse(json));
}

const peopleByIds = daily((moment) =>
  statement((db) =>
    db
      .selectFrom('people')
      .select(personJson(moment).as('json'))
      .where(inJsonArray(sql.ref('user_id'), param<string>('ids'))),
  ),
);

/** Rejects a person that other rows refer to: such a person can only be deactivated. */
export async function deletePerson(db: Transaction<Tables>, current: Person, change: Change): Promise<void> {
  const { user_id: id, name, version } = current;
  const references: Reference[] = [
    ['tasks', sql`assignee_user_id = ${id}`],
    ['issues', sql`owner_user_id = ${id} or assignee_user_id = ${id} or raised_by_user_id = ${id}`],
    ['risks', sql`owner_user_id = ${id} or raised_by_user_id = ${id} or accepted_by_user_id = ${id}`],
    ['projects', sql`lead_user_id = ${id}`],
    ['groups', sql`lead_user_id = ${id} or id in (select group_id from memberships where user_id = ${id})`],
    ['people', sql`manager_user_id = ${id} or accountable_user_id = ${id}`],
  ];
  const advice = 'Deactivate the person instead, or reassign those first.';
  await rejectWithAccess(db, current);
  await rejectReferenced(db, `${name} (${id})`, references, change, advice);
  await deleteRow(db, 'people', { id, version });
  await recordDeleted(db, personSubject, id, current, change);
}

const findNotAssignable = daily((moment) =>
  statement((db) =>
    db
      .selectFrom('people')
      .select(['user_id', 'name', 'status'])
      .where(inJsonArray(sql.ref('user_id'), param<string>('ids')))
      .where(sql<boolean>`not ${isAssignable(moment)}`),
  ),
);

/** Returns, for each item, an error if its assignee is not assignable, with the reason if the key may read people. */
export async function assigneeErrors(
  db: Kysely<Tables>,
  items: readonly { assignee_user_id?: string | null }[],
  change: Change,
  field = 'assignee_user_id',
): Promise<FieldError[][]> {
  const ids = items.map(({ assignee_user_id }) => assignee_user_id).filter((id) => id != null);
  if (ids.length === 0) return items.map(() => []);
  const { rows: notAssignable } = await findNotAssignable(change)(db, { ids: JSON.stringify(ids) });
  return items.map(({ assignee_user_id }) =>
    notAssignable
      .filter(({ user_id }) => user_id === assignee_user_id)
      .map(({ name, status }) => {
        const why = grants(change.scopes, 'personnel.read') ? `${whyNotAssignable[status]} and ` : '';
        const detail = `${name} ${why}cannot be assigned${why ? '' : ' today'}. Choose another person.`;
        return fieldError(field, 'not_assignable', detail);
      }),
  );
}

const whyNotAssignable: Record<Person['status'], string> = {
  inactive: 'is inactive',
  active: 'is not available today (see `start_on` and `end_on`)',
};

export function personRow(user_id: string, input: PersonInput, { now }: Moment) {
  return { user_id, ...storedFields(PersonInput, input), ...foldedColumns(input), ...newStamps(now) };
}

/** Folded columns for search, filters and sorting. */
const foldedColumns = ({ name, email, title, department, skills = [] }: PersonInput) => ({
  name_folded: fold(name),
  department_folded: department ? fold(department) : null,
  skills_folded: `\n${skills.map(fold).join('\n')}\n`,
  search_folded: foldAll([name, email, title]),
});

const personJson = (moment: Moment, groups = groupsOfPerson) =>
  rowAsJson(Person, 'people', {
    assignable: jsonBoolean(isAssignable(moment)),
    groups,
    web_url: consoleUrl('/personnel/', sql.ref('people.user_id')),
  });

export const personSubject = subjectOf(personResource, (moment) => personJson(moment));

const uniqueFields: Unique[] = [
  { field: 'email', column: sql`lower(email)`, compared: lowerAscii },
  { field: 'external_id' },
];

async function validate(db: Kysely<Tables>, inputs: readonly PersonInput[]): Promise<FieldError[][]> {
  const errors = await referenceErrors(db, inputs, personResource.references);
  const accountable = inputs.map(({ accountable_user_id }) => accountable_user_id).filter((id) => id != null);
  const nonHumans =
    accountable.length === 0 ? [] : (await findNonHumans(db, { ids: JSON.stringify(accountable) })).rows;
  for (const [i, { kind, start_on, end_on, accountable_user_id }] of inputs.entries()) {
    if (start_on && end_on && end_on < start_on) {
      errors[i]?.push(fieldError('end_on', 'date_order', '`end_on` is before `start_on`.'));
    }
    if (kind === 'agent' && !accountable_user_id) {
      const detail = 'An agent needs an accountable human. Set `accountable_user_id`.';
      errors[i]?.push(fieldError('accountable_user_id', 'required', detail));
    }
    const nonHuman = nonHumans.find(({ user_id }) => user_id === accountable_user_id);
    if (nonHuman) {
      const detail = `${nonHuman.name} (${nonHuman.kind}) cannot be accountable for an agent. Choose a human.`;
      errors[i]?.push(fieldError('accountable_user_id', 'not_human', detail));
    }
  }
  return errors;
}

const findNonHumans = statement((db) =>
  db
    .selectFrom('people')
    .select(['user_id', 'name', 'kind'])
    .where(inJsonArray(sql.ref('user_id'), param<string>('ids')))
    .where('kind', '!=', 'human'),
);

/** Checks rules that involve other people: cycles, and agents that would lose their accountable human. */
async function relationErrors(db: Kysely<Tables>, next: PersonInput, current: Person): Promise<FieldError[]> {
  const self = { id: current.user_id, label: next.name };
  const errors: FieldError[] = [];
  for (const field of ['manager_user_id', 'accountable_user_id'] as const) {
    if (next[field] !== current[field])
      errors.push(...(await cycleErrors(db, personResource, field, self, next[field])));
  }
  if (current.kind === 'human' && next.kind !== 'human') {
    const referrers = await findReferrers(db, [['people', sql`accountable_user_id = ${self.id}`]]);
    if (referrers?.people) {
      const { count, samples } = referrers.people;
      const detail = `${next.name} is accountable for ${count} people (such as ${joinWords(samples)}) and must stay human. Give them another \`accountable_user_id\` first.`;
      errors.push(fieldError('kind', 'answers_for_others', detail));
    }
  }
  return errors;
}
