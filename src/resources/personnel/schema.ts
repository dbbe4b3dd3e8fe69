import { type Static, Type } from 'typebox';
import {
  Attributes,
  AttributesPatch,
  Day,
  Email,
  Id,
  Line,
  ManyOf,
  OneOf,
  OrNull,
  optional,
  PersonRef,
  patchable,
  Reason,
  Strict,
  stamps,
  Time,
  WebUrl,
  Writable,
} from '../../core/schemas.ts';
import { columnsOf, describeResource, Folded, SortKey } from '../descriptor.ts';
import { acrossProjects } from '../projects/schema.ts';

const required = {
  name: Line({ description: 'Full name.', examples: ['Ada Lovelace'] }),
};

const fields = {
  email: OrNull(Email({ description: 'Unique; case is ignored.', examples: ['ada@example.com'] })),
  title: OrNull(Line({ examples: ['Site Reliability Engineer'] })),
  department: OrNull(Line({ examples: ['Operations'] })),
  location: OrNull(Line({ examples: ['London'] })),
  phone: OrNull(Line({ examples: ['+44 20 7946 0000'] })),
  time_zone: OrNull(
    Type.String({
      format: 'time-zone',
      maxLength: 100,
      description: 'IANA time zone name.',
      examples: ['Europe/London'],
    }),
  ),
  kind: OneOf(['human', 'agent', 'placeholder', 'external'], { default: 'human' }),
  accountable_user_id: OrNull(
    Id('person', { description: 'The human accountable for this person. Required for agents.' }),
  ),
  manager_user_id: OrNull(Id('person')),
  skills: Type.Array(Line(), { maxItems: 100, uniqueItems: true, default: [], examples: [['kubernetes']] }),
  start_on: OrNull(Day({ description: 'First day.' })),
  end_on: OrNull(Day({ description: 'Last day.' })),
  status: OneOf(['active', 'inactive'], { default: 'active' }),
  external_id: OrNull(Line({ description: 'Your own ID for this person. Unique.', examples: ['hr-1815'] })),
  attributes: Attributes(),
};

export const Person = Strict(
  {
    user_id: Id('person', { description: 'The user ID, used to assign tasks, issues, and risks.' }),
    ...required,
    ...fields,
    assignable: Type.Boolean({
      description: 'Whether the person is active and today is between `start_on` and `end_on`.',
    }),
    groups: Type.Array(Strict({ id: Id('group'), name: Line() }), {
      description: 'Groups that the person is a direct member of, by name.',
    }),
    web_url: WebUrl('person', '/personnel/usr_01jd3k9m5vqs8h2n6r4t0c7e1b'),
    ...stamps,
  },
  { $id: 'Person' },
);
export type Person = Static<typeof Person>;

export const PersonInput = Writable(
  Person,
  { ...required, ...optional(fields) },
  { $id: 'PersonInput', examples: [{ name: 'Ada Lovelace', email: 'ada@example.com', title: 'Engineer' }] },
);
export type PersonInput = Static<typeof PersonInput>;

export const PersonPatch = Writable(
  Person,
  patchable({ ...required, ...fields, attributes: AttributesPatch(), reason: Reason() }),
  { $id: 'PersonPatch', examples: [{ title: 'Head of Operations', reason: 'Promoted.' }] },
);
export type PersonPatch = Static<typeof PersonPatch>;

export const personnelFilters = {
  q: Line({ description: 'Part of the name, email, or title; case and accents are ignored.' }),
  status: ManyOf(fields.status),
  kind: ManyOf(fields.kind),
  group_id: Id('group', { description: 'Members of this group.' }),
  transitive: Type.Boolean({ description: 'With `group_id`: include members of subgroups.' }),
  manager_user_id: PersonRef(),
  department: Line({ description: 'Case and accents are ignored.' }),
  location: Line({ description: 'Case is ignored.' }),
  skill: Line({ description: 'Case and accents are ignored.' }),
  search: OneOf(['names', 'all'], {
    description: 'With `q`: `all` also searches departments, skills and locations.',
  }),
  assignable: Type.Boolean(),
  user_ids: ManyOf(Id('person'), { description: 'Up to 500 user IDs.' }),
  email: Email({ description: 'Case is ignored.' }),
  external_id: Line(),
  updated_since: Time(),
};

export const Assignment = Strict(
  {
    type: OneOf(['task', 'issue', 'risk', 'project']),
    role: OneOf(['assignee', 'owner', 'lead']),
    id: Type.String({ description: 'ID of the task, issue, risk, or project.' }),
    key: Type.String({ examples: ['APOLLO-T12'] }),
    title: Line({ description: 'Title of the item, or name of the project.' }),
    project_id: Id('project'),
    project_key: Type.String({ examples: ['APOLLO'] }),
    project_name: Line(),
    status: Type.String(),
    due_on: OrNull(Day()),
  },
  { $id: 'Assignment' },
);
export type Assignment = Static<typeof Assignment>;

export const assignmentFilters = {
  ...acrossProjects,
  type: ManyOf(Assignment.properties.type),
  role: ManyOf(Assignment.properties.role),
};

export const personResource = describeResource({
  kind: 'person',
  table: 'people',
  id: 'user_id',
  label: 'name',
  tag: ['personnel', 'People. Assign tasks to a person by `user_id`.'],
  columns: columnsOf(Person, ['assignable', 'groups', 'web_url'], {
    name_folded: Folded,
    department_folded: OrNull(Folded),
    skills_folded: Folded,
    search_folded: Folded,
  }),
  generated: { roster_key: SortKey },
  references: { manager_user_id: 'people', accountable_user_id: 'people' },
  visible: 'all',
  events: {
    scope: 'personnel.read',
    types: {
      created: 'A person was added.',
      updated: 'A person was changed.',
      deactivated: 'A person was deactivated, with or without a hand-over.',
      reactivated: 'An inactive person became active again.',
      ended: 'The day in `end_on` of an active person has passed.',
      deleted: 'A person was deleted.',
    },
    data: Person,
    page: ['/personnel/', 'subject_id'],
    actions: ({ status }) => [status && (status.to === 'inactive' ? 'deactivated' : 'reactivated')],
  },
});
