import { type Kysely, sql, type Transaction } from 'kysely';
import type { Moment } from '../clock.ts';
import { jsonArrayOf, jsonBoolean, jsonObject } from '../database/functions.ts';
import { missingReferences, refuseDuplicate, toPerson } from '../database/references.ts';
import { newStamps, rowAsJson, storedFields } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { type Fault, fieldFault, invalidBody, invalidParameter, notFound } from '../errors.ts';
import { isMember } from '../groups/membership.ts';
import { newId } from '../ids.ts';
import { allOf, always, contains, equals, hasText, holds, isIn, since } from '../lists/filters.ts';
import type { List } from '../lists/list.ts';
import type { Filters } from '../lists/query.ts';
import { fold, foldAll } from '../text.ts';
import { Person, PersonInput, type personnelFilters } from './schema.ts';

type PersonnelFilters = Filters<typeof personnelFilters>;

/** Everyone on the roster, by name. */
export function personnelList(filters: PersonnelFilters, moment: Moment): List {
  return {
    schema: Person,
    json: personJson(moment),
    reads: ['people', 'memberships', 'groups'],
    isQuick: Object.keys(filters).every((name) => ['user_ids', 'external_id'].includes(name)),
    order: { key: sql.ref('people.roster_key') },
    from: (db) => db.selectFrom('people'),
    id: sql.ref('people.user_id'),
    matches: conditions(filters, moment),
  };
}

export async function getPerson(db: Kysely<Tables>, user_id: string, moment: Moment): Promise<Person> {
  const { json } = await db
    .selectFrom('people')
    .select(personJson(moment).as('json'))
    .where('user_id', '=', user_id)
    .executeTakeFirstOrThrow(() => notFound('person', user_id));
  return JSON.parse(json);
}

export async function createPerson(
  db: Transaction<Tables>,
  input: PersonInput,
  moment: Moment,
): Promise<Person> {
  await refuseBrokenRules(db, input);
  await refuseDuplicate(db, toPerson, 'email', input.email, sql`lower(email) = lower(${input.email})`);
  await refuseDuplicate(db, toPerson, 'external_id', input.external_id);
  const user_id = newId('person');
  await db
    .insertInto('people')
    .values(personRow(user_id, input, moment))
    .execute();
  return getPerson(db, user_id, moment);
}

/** Refuses an assignee who is not there to be assigned, and says why. */
export async function refuseUnassignable(
  db: Kysely<Tables>,
  user_id: string | null | undefined,
  moment: Moment,
): Promise<void> {
  if (user_id == null) return;
  const { assignable, name, status } = await getPerson(db, user_id, moment);
  if (assignable) return;
  const why = status === 'inactive' ? 'is inactive' : 'is not here today: see `start_on` and `end_on`';
  throw invalidBody([
    fieldFault('assignee_user_id', 'not_assignable', `${name} cannot be assigned: ${name} ${why}.`),
  ]);
}

/** A new person as it is stored. */
export function personRow(user_id: string, input: PersonInput, { now }: Moment) {
  const { name, email, title, department, skills = [] } = input;
  return {
    user_id,
    ...storedFields(PersonInput, input),
    name_folded: fold(name),
    department_folded: department ? fold(department) : null,
    skills_folded: `\n${skills.map(fold).join('\n')}\n`,
    search_folded: foldAll([name, email, title]),
    ...newStamps(now),
  };
}

const personJson = (moment: Moment) =>
  rowAsJson(Person, 'people', { assignable: jsonBoolean(isAssignable(moment)), groups: groupsOfPerson });

const isAssignable = ({ today }: Moment) =>
  sql<boolean>`(people.status = 'active' and (people.start_on is null or people.start_on <= ${today})
    and (people.end_on is null or people.end_on >= ${today}))`;

const groupsOfPerson = sql`(
  select ${jsonArrayOf(jsonObject({ id: sql.ref('groups.id'), name: sql.ref('groups.name') }), sql.ref('groups.name_key'))}
  from memberships join ${sql.table('groups')} on groups.id = memberships.group_id
  where memberships.user_id = people.user_id)`;

function conditions(filters: PersonnelFilters, moment: Moment) {
  const { group_id, transitive } = filters;
  if (transitive !== undefined && group_id === undefined) {
    throw invalidParameter(
      'transitive',
      '`transitive` says which members of `group_id` are meant: give that, too.',
    );
  }
  return allOf(filters, {
    q: hasText('people.search_folded'),
    status: isIn('people.status'),
    kind: isIn('people.kind'),
    group_id: (id) => isMember('people.user_id', id, transitive ?? false),
    transitive: always,
    manager_user_id: equals('people.manager_user_id'),
    department: (text) => equals('people.department_folded')(fold(text)),
    skill: (text) => contains('people.skills_folded', `\n${fold(text)}\n`),
    assignable: holds(isAssignable(moment)),
    user_ids: isIn('people.user_id'),
    external_id: equals('people.external_id'),
    updated_since: since('people.updated_at'),
  });
}

async function refuseBrokenRules(db: Transaction<Tables>, input: PersonInput): Promise<void> {
  const faults: Fault[] = await missingReferences(db, input, {
    manager_user_id: toPerson,
    accountable_user_id: toPerson,
  });
  if (input.start_on && input.end_on && input.end_on < input.start_on) {
    faults.push(fieldFault('end_on', 'date_order', '`end_on` is before `start_on`.'));
  }
  if (input.kind === 'agent' && !input.accountable_user_id) {
    const detail = 'An agent needs `accountable_user_id`: the human who answers for it.';
    faults.push(fieldFault('accountable_user_id', 'required', detail));
  }
  if (input.accountable_user_id) {
    const accountable = await db
      .selectFrom('people')
      .select(['name', 'kind'])
      .where('user_id', '=', input.accountable_user_id)
      .where('kind', '!=', 'human')
      .executeTakeFirst();
    if (accountable) {
      const detail = `${accountable.name} is ${accountable.kind}, not human; only a human can answer for an agent.`;
      faults.push(fieldFault('accountable_user_id', 'not_human', detail));
    }
  }
  if (faults.length > 0) throw invalidBody(faults);
}
