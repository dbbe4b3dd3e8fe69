import { sql } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import type { Importable } from '../../transfer/importable.ts';
import { createPeople, personnelList, updatePerson } from './queries.ts';
import { type Person, PersonInput, PersonPatch } from './schema.ts';

export const peopleImport = (moment: Moment): Importable<Person, typeof PersonInput, typeof PersonPatch> => ({
  what: 'person',
  input: PersonInput,
  patch: PersonPatch,
  existing: personnelList({}, moment),
  keys: [
    { field: 'user_id', column: sql.ref('people.user_id') },
    { field: 'external_id', column: sql.ref('people.external_id') },
    { field: 'email', column: sql`lower(people.email)`, compared: (email) => email.toLowerCase() },
  ],
  synonyms: {
    name: ['full name', 'display name', 'employee name', 'employee', 'person', 'member'],
    email: ['e-mail address', 'work e-mail', 'mail', 'e-mail id'],
    title: ['job title', 'position', 'role', 'function'],
    department: ['dept', 'division', 'business unit', 'organisation', 'organization'],
    location: ['office', 'site', 'city', 'work location'],
    phone: ['telephone', 'phone number', 'mobile', 'mobile phone', 'tel', 'work phone'],
    time_zone: ['tz'],
    kind: ['type', 'person type', 'employee type'],
    manager_user_id: ['reports to', 'line manager', 'supervisor', 'boss', 'manager e-mail', 'manager name'],
    accountable_user_id: ['accountable to', 'responsible human'],
    skills: ['skill', 'competencies', 'tags'],
    start_on: [
      'start date',
      'start',
      'hired',
      'hire date',
      'hired on',
      'joined',
      'joining date',
      'first day',
    ],
    end_on: ['end date', 'end', 'leaving date', 'last day', 'termination date'],
    status: ['state', 'employment status'],
    external_id: ['employee id', 'employee number', 'employee no', 'staff id', 'personnel number', 'hr id'],
  },
  joined: {
    name: [
      ['first name', 'given name', 'forename'],
      ['last name', 'surname', 'family name'],
    ],
  },
  create: createPeople,
  update: updatePerson,
});
