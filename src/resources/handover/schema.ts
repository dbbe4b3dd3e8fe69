import { type Static, Type } from 'typebox';
import {
  Count,
  Id,
  Line,
  ManyOf,
  OneOf,
  OrNull,
  optional,
  Reason,
  Strict,
  Text,
  Time,
} from '../../core/schemas.ts';
import { Actor } from '../history/schema.ts';
import { Person } from '../personnel/schema.ts';

/** What a person can be responsible for. */
const responsibilityKinds = [
  'tasks',
  'issues',
  'risks',
  'projects',
  'groups',
  'reports',
  'agents',
  'memberships',
] as const;
export type ResponsibilityKind = (typeof responsibilityKinds)[number];

const successors = {
  handover_to_user_id: OrNull(
    Id('person', { description: 'The successor. Must be assignable. Needs `projects.manage`.' }),
  ),
  handover_to_group_id: OrNull(
    Id('group', {
      description:
        'The group that becomes the owner of the person’s risks and issues. Everything else needs `handover_to_user_id`. Needs `projects.manage`.',
    }),
  ),
};

/** The most parts of a hand-over. */
const maxParts = 50;

const HandoverPart = Strict(
  optional({
    project_ids: Type.Array(Id('project'), {
      minItems: 1,
      maxItems: 500,
      uniqueItems: true,
      description: 'Only what is in these projects. Left out: in any project, and outside of projects.',
    }),
    kinds: Type.Array(OneOf(responsibilityKinds), {
      minItems: 1,
      maxItems: responsibilityKinds.length,
      uniqueItems: true,
      description: 'Only these kinds of responsibilities. Left out: all of them.',
    }),
    ...successors,
  }),
  {
    $id: 'HandoverPart',
    examples: [{ kinds: ['tasks'], handover_to_user_id: 'usr_01jd3k9m5vqs8h2n6r4t0c7e1b' }],
  },
);
export type HandoverPart = Static<typeof HandoverPart>;

export const DeactivateInput = Strict(
  optional({
    ...successors,
    parts: Type.Array(HandoverPart, {
      maxItems: maxParts,
      description:
        'Parts of the work that have other successors, by project, by kind, or both. The first part that something ' +
        'belongs to decides; what belongs to none goes to the successors above. A part without a successor stays with ' +
        'the person.',
    }),
    dry_run: Type.Boolean({ default: false, description: 'Report the hand-over without changing anything.' }),
    reason: Reason(),
  }),
  {
    $id: 'DeactivateInput',
    examples: [{ handover_to_user_id: 'usr_01jd3k9m5vqs8h2n6r4t0c7e1b', dry_run: true }],
  },
);
export type DeactivateInput = Static<typeof DeactivateInput>;

export const ReactivateInput = Strict(optional({ reason: Reason() }), { $id: 'ReactivateInput' });

const projectCounts = { tasks: Count, issues: Count, risks: Count, projects: Count };

const Responsibilities = Strict({
  ...projectCounts,
  groups: Type.Integer({ description: 'Groups the person leads.' }),
  reports: Type.Integer({ description: 'Active people the person manages.' }),
  agents: Type.Integer({ description: 'Active people the person is accountable for.' }),
  memberships: Count,
});
export type Responsibilities = Static<typeof Responsibilities>;

/** Keys without `projects.read` do not get what a person is responsible for in projects. */
const onlyWithProjects = 'Left out for keys without `projects.read`.';
const visibleResponsibilities = { ...Responsibilities.properties, ...optional(projectCounts) };

export const Handover = Strict(
  {
    dry_run: Type.Boolean(),
    handover_id: OrNull(
      Id('handover', {
        description: 'What moved is stored under this id, which undoes it. Null if nothing moved.',
      }),
    ),
    handover_to_user_id: OrNull(Id('person')),
    handover_to_group_id: OrNull(Id('group')),
    carries: Strict(visibleResponsibilities, {
      description:
        'Responsibilities before the hand-over: open tasks, open issues, active risks, led projects, … ' +
        '`tasks`, `issues`, `risks` and `projects` are left out for keys without `projects.read`.',
    }),
    moves: Strict(visibleResponsibilities, {
      description: 'How many of them moved, or would move with `dry_run`.',
    }),
    by_project: Type.Optional(
      Type.Array(
        Strict({
          project_id: Id('project'),
          project_key: Type.String(),
          project_name: Line(),
          ...projectCounts,
        }),
        { description: `Responsibilities before the hand-over in each project. ${onlyWithProjects}` },
      ),
    ),
    archived: Type.Optional(
      Strict(projectCounts, {
        description: `Responsibilities in archived projects. They do not move, because archived projects are read-only. ${onlyWithProjects}`,
      }),
    ),
    person: Person,
  },
  { $id: 'Handover' },
);
export type Handover = Static<typeof Handover>;

const countOf = (what: string) =>
  Type.Integer({ minimum: 0, description: `${what} Without items of projects that the key cannot read.` });

/** A hand-over that has taken place. */
export const HandoverRecord = Strict(
  {
    id: Id('handover'),
    user_id: Id('person', { description: 'The person whose work was handed over.' }),
    at: Time(),
    actor: Actor,
    reason: OrNull(Text({ description: 'Why, if a reason was given.' })),
    to_user_ids: Type.Array(Id('person'), { description: 'The people who took over.' }),
    to_group_ids: Type.Array(Id('group'), { description: 'The groups that took over.' }),
    items: countOf('What moved.'),
    undone_at: OrNull(Time()),
    restored: countOf('What the undo gave back.'),
    left: countOf('What the undo left with the successors.'),
  },
  { $id: 'HandoverRecord' },
);
export type HandoverRecord = Static<typeof HandoverRecord>;

const itemTypes = ['task', 'issue', 'risk', 'project', 'group', 'person', 'membership'] as const;

/** Why an undo left something. */
const leftReasons = ['changed', 'deleted', 'archived', 'conflict'] as const;
export type LeftReason = (typeof leftReasons)[number];

/** Something that a hand-over moved. */
export const HandoverItem = Strict(
  {
    id: Id('handover_item'),
    type: OneOf(itemTypes, {
      description:
        '`group` is one that the person led, `person` one whom they managed or were accountable for, `membership` one in a group.',
    }),
    subject_id: Type.String({
      description: 'ID of the task, issue, risk, project, group or person; of a membership, of the group.',
    }),
    key: OrNull(Type.String({ examples: ['APOLLO-T12'] })),
    title: OrNull(Line({ description: 'Title or name. Null if it was deleted since.' })),
    project_id: OrNull(Id('project')),
    changes: Type.Array(Strict({ field: Line(), from: OrNull(Type.String()), to: OrNull(Type.String()) }), {
      description: 'The fields that the hand-over changed. `member` is the person in a group.',
    }),
    outcome: OrNull(OneOf(['restored', 'left'], { description: 'What an undo did with it; null before.' })),
    left_because: OrNull(
      OneOf(leftReasons, {
        description:
          '`changed`: by someone, since the hand-over. `archived`: its project is. `conflict`: going back would break a rule, such as a cycle of managers.',
      }),
    ),
  },
  { $id: 'HandoverItem' },
);
export type HandoverItem = Static<typeof HandoverItem>;

export const handoverItemFilters = {
  type: ManyOf(OneOf(itemTypes)),
  outcome: OneOf(['restored', 'left']),
};

export const UndoHandoverInput = Strict(optional({ reason: Reason() }), { $id: 'UndoHandoverInput' });

/** The most items that the report of an undo lists. */
export const maxLeftItems = 100;

export const HandoverUndo = Strict(
  {
    handover: HandoverRecord,
    left_items: Type.Array(HandoverItem, {
      description: `What was left, and why: the first ${maxLeftItems}. The items of the hand-over list all.`,
    }),
    person: Person,
  },
  { $id: 'HandoverUndo' },
);
export type HandoverUndo = Static<typeof HandoverUndo>;

/** How much work a person has. */
export const Load = Strict(
  {
    user_id: Id('person'),
    open: Type.Integer({
      minimum: 0,
      description:
        'Open tasks and issues, active risks, and led projects that are not completed or cancelled.',
    }),
    overdue: Type.Integer({ minimum: 0, description: 'Those of them whose due date has passed.' }),
  },
  { $id: 'Load' },
);
export type Load = Static<typeof Load>;

export const Loads = Type.Array(Load, { $id: 'Loads' });

export const loadFilters = {
  user_ids: ManyOf(Id('person'), { description: 'Up to 500 user IDs.' }),
};
