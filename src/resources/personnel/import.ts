import { sql } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import { invalidBody } from '../../core/errors.ts';
import { lowerAscii } from '../../core/text.ts';
import { checkOf } from '../../http/request/validation.ts';
import type { Importable } from '../../import/importable.ts';
import { inAllLanguages, wordsOf, wordsOfAll } from '../../import/languages/all.ts';
import type { CreatePlaceholders } from '../../import/references/people.ts';
import { createPeople, personnelList, sharedFields, updatePeople, updatePerson } from './queries.ts';
import { type Person, PersonInput, PersonPatch } from './schema.ts';

const recognized = inAllLanguages('person');

/** Columns in which yes says that a person is inactive. */
const inactiveColumns = {
  columns: wordsOfAll(({ inactive }) => inactive.columns).join(', '),
  words: wordsOf(({ inactive: { yes, no } }) => ({ active: no, inactive: yes })),
};

export const peopleImport = (moment: Moment): Importable<Person, typeof PersonInput, typeof PersonPatch> => ({
  what: 'person',
  input: PersonInput,
  patch: PersonPatch,
  existing: personnelList({}, moment),
  keys: [
    { field: 'user_id', column: sql.ref('people.user_id') },
    { field: 'external_id', column: sql.ref('people.external_id') },
    { field: 'email', column: sql`lower(people.email)`, compared: lowerAscii },
  ],
  ...recognized,
  joined: {
    name: [wordsOfAll(({ firstName }) => firstName), wordsOfAll(({ lastName }) => lastName)],
  },
  personNames: ['name'],
  ownWords: { status: inactiveColumns },
  // BambooHR has both in one column.
  implied: { kind: new Map([['terminated', { status: 'inactive' }]]) },
  defaults: ({ status, end_on }) =>
    !status && end_on && end_on < moment.today ? { status: 'inactive' as const } : {},
  // Somebody whom another file named first.
  whenFound: ({ kind }) => (kind === 'placeholder' ? { kind: 'human' } : {}),
  create: createPeople,
  update: updatePerson,
  updateMany: updatePeople,
  alone: sharedFields,
});

/** Compiled when it is first needed. */
let personErrors: ReturnType<typeof checkOf> | undefined;

/** Creates people whom a file names and who are not on the roster, so that what they are responsible for can be imported. */
export const createPlaceholders: CreatePlaceholders = async (db, people, change) => {
  personErrors ??= checkOf(PersonInput);
  const inputs = people.map((person) => ({ ...person, kind: 'placeholder' as const }));
  const errors = inputs.map((input) => personErrors?.(input) ?? []);
  const valid = inputs.filter((_, i) => errors[i]?.length === 0);
  const created = await createPeople(db, valid, change);
  return inputs.map((input, i) => created[valid.indexOf(input)] ?? invalidBody(errors[i] ?? []));
};
