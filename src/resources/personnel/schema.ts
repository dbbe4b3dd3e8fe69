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
  patchable,
  Reason,
  Strict,
  stamps,
  Time,
  Writable,
} from '../../core/schemas.ts';
import { acrossProjects } from '../projects/schema.ts';

const required = {
  name: Line({ description: 'How the person is called.', examples: ['Ada Lovelace'] }),
};

const fields = {
  email: OrNull(Email({ description: 'Unique, compared without case.', examples: ['ada@example.com'] })),
  title: OrNull(Line({ examples: ['Site Reliability Engineer'] })),
  department: OrNull(Line({ examples: ['Operations'] })),
  location: OrNull(Line({ examples: ['London'] })),
  phone: OrNull(Line({ examples: ['+44 20 7946 0000'] })),
  time_zone: OrNull(
    Type.String({
      format: 'time-zone',
      maxLength: 100,
      description: 'An IANA name.',
      examples: ['Europe/London'],
    }),
  ),
  kind: OneOf(['human', 'agent', 'placeholder', 'external'], { default: 'human' }),
  accountable_user_id: OrNull(
    Id('person', { description: 'The human who answers for an agent. Required for an agent.' }),
  ),
  manager_user_id: OrNull(Id('person')),
  skills: Type.Array(Line(), { maxItems: 100, uniqueItems: true, default: [], examples: [['kubernetes']] }),
  start_on: OrNull(Day({ description: 'First day.' })),
  end_on: OrNull(Day({ description: 'Last day.' })),
  status: OneOf(['active', 'inactive'], { default: 'active' }),
  external_id: OrNull(Line({ description: 'Your own id for this person. Unique.', examples: ['hr-1815'] })),
  attributes: Attributes(),
};

export const Person = Strict(
  {
    user_id: Id('person', { description: 'The user id: what tasks are assigned to.' }),
    ...required,
    ...fields,
    assignable: Type.Boolean({ description: 'Active, and today is inside `start_on` and `end_on`.' }),
    groups: Type.Array(Strict({ id: Id('group'), name: Line() }), {
      description: 'The groups this person is directly a member of, by name.',
    }),
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
  q: Line({ description: 'Part of the name, e-mail or title; case and accents do not matter.' }),
  status: ManyOf(fields.status),
  kind: ManyOf(fields.kind),
  group_id: Id('group', { description: 'Members of this group.' }),
  transitive: Type.Boolean({ description: 'With `group_id`: members of the groups below it, too.' }),
  manager_user_id: Id('person'),
  department: Line(),
  skill: Line(),
  assignable: Type.Boolean(),
  user_ids: ManyOf(Id('person'), { description: 'These people, 500 at most.' }),
  external_id: Line(),
  updated_since: Time(),
};

export const Assignment = Strict(
  {
    type: OneOf(['task', 'issue', 'risk', 'project']),
    role: OneOf(['assignee', 'owner', 'lead']),
    id: Type.String({ description: 'Of the task, issue, risk or project.' }),
    key: Type.String({ examples: ['APOLLO-T12'] }),
    title: Line({ description: 'The name, of a project.' }),
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

export const DeactivateInput = Strict(
  optional({
    handover_to_user_id: OrNull(Id('person', { description: 'Who takes over; must be assignable.' })),
    handover_to_group_id: OrNull(
      Id('group', {
        description:
          'Takes over the risks and issues the person owns. What only a person can carry goes to `handover_to_user_id`.',
      }),
    ),
    dry_run: Type.Boolean({ default: false, description: 'Only tell what would move; change nothing.' }),
    reason: Reason(),
  }),
  {
    $id: 'DeactivateInput',
    examples: [{ handover_to_user_id: 'usr_01jd3k9m5vqs8h2n6r4t0c7e1b', dry_run: true }],
  },
);
export type DeactivateInput = Static<typeof DeactivateInput>;

export const ReactivateInput = Strict(optional({ reason: Reason() }), { $id: 'ReactivateInput' });

const Count = Type.Integer({ minimum: 0 });

const inProjects = { tasks: Count, issues: Count, risks: Count, projects: Count };

const Carried = Strict({
  ...inProjects,
  groups: Type.Integer({ description: 'That the person leads.' }),
  reports: Type.Integer({ description: 'Active people they manage.' }),
  agents: Type.Integer({ description: 'Active people they answer for.' }),
  memberships: Count,
});
export type Carried = Static<typeof Carried>;

export const Handover = Strict(
  {
    dry_run: Type.Boolean(),
    handover_to_user_id: OrNull(Id('person')),
    handover_to_group_id: OrNull(Id('group')),
    carries: Strict(Carried.properties, {
      description: 'What the person carried: open tasks, open issues, active risks, projects they lead …',
    }),
    moves: Strict(Carried.properties, {
      description: 'How much of that has moved, or, with `dry_run`, would move.',
    }),
    by_project: Type.Array(
      Strict({ project_id: Id('project'), project_key: Type.String(), project_name: Line(), ...inProjects }),
      { description: 'What the person carried in each project.' },
    ),
    archived: Strict(inProjects, {
      description: 'What the person carries in archived projects. It stays: they take no changes.',
    }),
    person: Person,
  },
  { $id: 'Handover' },
);
export type Handover = Static<typeof Handover>;
