import { sql } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import { invalidBody } from '../../core/errors.ts';
import { lowerAscii } from '../../core/text.ts';
import { checkOf } from '../../http/request/validation.ts';
import type { Importable } from '../../import/importable.ts';
import { inAllLanguages, withOthers, wordsOfAll } from '../../import/languages/all.ts';
import type { CreatePlaceholders } from '../../import/references/people.ts';
import { createPeople, personnelList, updatePerson } from './queries.ts';
import { type Person, PersonInput, PersonPatch } from './schema.ts';

const recognized = inAllLanguages('person', {
  synonyms: {
    name: 'full name, display name, employee name, employee, person, member, worker, staff member, last name first name',
    email:
      'e-mail address, work e-mail, company e-mail, business e-mail, mail, e-mail id, primary e-mail, primary work e-mail, e-mail primary work, mail',
    title: 'job title, position, business title, role, function, designation, position',
    department: 'dept, department name, division, business unit, cost center name, organization',
    location: 'office, office location, work location, site, city, location name',
    phone:
      'work phone, telephone, telephone number, phone number, business phone, mobile, mobile phone, primary phone',
    time_zone: 'tz',
    kind: 'person type, employee type, worker type, employment type, user type, type',
    manager_user_id:
      'reports to, reporting to, line manager, supervisor, boss, manager e-mail, manager name, workers manager',
    accountable_user_id: 'accountable to, responsible human',
    skills: 'skill, competencies, tags',
    start_on: 'start date, start, hired, hire date, hired on, joined, joining date, first day',
    end_on: 'end date, end, leaving date, last day, termination date, contract end, contract end date',
    status:
      'employment status, employee status, worker status, account enabled, active, is active, enabled, state, account status, user status, overall status, lifecycle status, lifecycle state, user account control',
    external_id:
      'employee id, employee number, employee no, staff id, staff number, personnel number, worker id, payroll number, hr id',
  },
  values: {
    status: {
      active:
        'on leave, leave, leave of absence, parental leave, maternity leave, paid leave, enabled, true, yes, current, employed, onboarding, provisioned, password expired, locked out, recovery, hired, 1, y, probation, full time, part time, 512, 66048',
      inactive:
        'terminated, left, leaver, disabled, false, no, former, resigned, retired, deprovisioned, suspended, offboarded, staged, 0, n, blocked, deactivated, dismissed, archived, deleted, exited, departed, separated, offboarding completed, no longer employed, 514, 66050',
    },
    kind: {
      human:
        'employee, internal, member, full time, part time, permanent, regular, staff, person, intern, temporary, fixed term, apprentice, working student, salaried, hourly, intern, salaried,full-time, salaried,part-time, hourly,full-time, hourly,part-time',
      external:
        'contractor, contingent worker, guest, freelancer, freelance, consultant, vendor, partner, supplier, agency',
      agent: 'bot, service account, robot, ai agent, service',
      placeholder: 'vacancy, vacant, tbh, open position, generic',
      null: 'terminated',
    },
  },
});

/** Columns in which yes says that a person is inactive. */
const inactiveColumns = {
  columns: [
    'block sign in, block sign in (yes/no) [accountenabled] required, blocked, is blocked, sign in blocked, disabled, is disabled, account disabled, suspended, is suspended, terminated, is terminated, archived, is archived, deleted, is deleted, inactive, is inactive, deactivated',
    ...wordsOfAll(({ inactive }) => inactive.columns),
  ].join(', '),
  words: withOthers(
    {
      active: 'no, false, 0, n',
      inactive: 'yes, true, 1, y, x, blocked, disabled, suspended, terminated, archived, deleted',
    },
    ({ inactive: { yes, no } }) => ({ active: no, inactive: yes }),
  ),
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
    name: [
      ['first name', 'given name', 'forename', ...wordsOfAll(({ firstName }) => firstName)],
      ['last name', 'surname', 'family name', ...wordsOfAll(({ lastName }) => lastName)],
    ],
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
