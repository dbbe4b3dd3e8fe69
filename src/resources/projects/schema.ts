import { type Static, Type } from 'typebox';
import { idPattern } from '../../core/ids.ts';
import {
  Attributes,
  AttributesPatch,
  Count,
  Day,
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
  Text,
  Time,
  WebUrl,
  Writable,
} from '../../core/schemas.ts';
import { columnsOf, describeResource, Folded, SortKey } from '../descriptor.ts';
import { levels, maxScore } from '../risk-model/schema.ts';

const keyPattern = '[A-Z0-9]{2,10}';

const required = { name: Line({ examples: ['Apollo'] }) };

const fields = {
  key: Type.String({
    pattern: `^${keyPattern}$`,
    description: 'Prefix of the keys of its risks, issues and tasks. Default: derived from the name.',
    examples: ['APOLLO'],
  }),
  description: OrNull(Text()),
  status: OneOf(['planned', 'active', 'on_hold', 'completed', 'cancelled'], { default: 'active' }),
  lead_user_id: OrNull(Id('person')),
  start_on: OrNull(Day()),
  due_on: OrNull(Day()),
  appetite: Type.Integer({
    minimum: 1,
    maximum: maxScore,
    description:
      'Threats with a score above this need attention. Default: the `default_appetite` of the risk model, which is 12 ' +
      'unless it was changed.',
  }),
  acceptance: OneOf(['any', 'not_owner'], {
    default: 'any',
    description:
      'Who may accept a risk above the appetite: anybody who may change it, or only somebody who is not its owner.',
  }),
  external_id: OrNull(Line({ description: 'Your own id for this project. Unique.' })),
  attributes: Attributes(),
};

export const Project = Strict(
  {
    id: Id('project'),
    ...required,
    ...fields,
    archived_at: OrNull(Time()),
    health: Strict(
      {
        state: OneOf(['on_track', 'at_risk', 'off_track', 'unknown']),
        reasons: Type.Array(Type.String(), {
          examples: [['2 of 9 assessed risks above appetite 12, highest APOLLO-R7 at 20']],
        }),
        warnings: Type.Array(Type.String(), {
          description: 'Signs that are too few to change the state.',
          examples: [['1 of 9 open tasks overdue, below the threshold of a quarter']],
        }),
      },
      { description: 'Computed from the threats, issues and tasks of the project.' },
    ),
    counts: Strict({
      open_issues: Type.Integer(),
      active_risks: Type.Integer({ description: 'Active threats.' }),
      unassessed_risks: Type.Integer({ description: 'Active threats without a score.' }),
      top_score: OrNull(Type.Integer({ description: 'The highest score of an active threat.' })),
      top_level: OrNull(
        OneOf(levels, { description: 'The level of the active threat with the highest rank.' }),
      ),
      opportunities: Type.Integer({ description: 'Active opportunities.' }),
      overdue_tasks: Type.Integer(),
    }),
    web_url: WebUrl('project', '/projects/APOLLO'),
    ...stamps,
  },
  { $id: 'Project' },
);
export type Project = Static<typeof Project>;

export const ProjectInput = Writable(
  Project,
  { ...required, ...optional(fields) },
  { $id: 'ProjectInput', examples: [{ key: 'APOLLO', name: 'Apollo', appetite: 12 }] },
);
export type ProjectInput = Static<typeof ProjectInput>;

export const ProjectPatch = Writable(
  Project,
  patchable({ ...required, ...fields, attributes: AttributesPatch(), reason: Reason() }),
  { $id: 'ProjectPatch', examples: [{ status: 'on_hold', appetite: 9, reason: 'Funding is under review.' }] },
);
export type ProjectPatch = Static<typeof ProjectPatch>;

const archivedSince = optional({ archived_at: OrNull(Time()) });

/** A row of an import file, which also says whether the project is archived. */
export const ProjectRowInput = Strict({ ...ProjectInput.properties, ...archivedSince });
export const ProjectRowPatch = Strict({ ...ProjectPatch.properties, ...archivedSince });

/** A project in a path or a filter: its id or its key. */
export const ProjectRef = Type.String({
  pattern: `${idPattern('project')}|^[A-Za-z0-9]{2,10}$`,
  description: 'The id of a project, or its key in any case.',
  examples: ['APOLLO'],
});

/** A filter of every list across projects. */
const archived = OneOf(['false', 'true', 'any'], {
  default: 'false',
  description: '`any` includes archived projects; `true` returns only archived projects.',
});

export const projectFilters = {
  q: Line({ description: 'Text in the name or key.' }),
  status: ManyOf(fields.status),
  archived,
  lead_user_id: PersonRef(),
  external_id: Line(),
  updated_since: Time(),
};

/** Project filters of lists across projects. */
export const acrossProjects = {
  project: ManyOf(ProjectRef, { description: 'Ids or keys of projects.' }),
  project_status: ManyOf(fields.status),
  archived,
};

export const projectResource = describeResource({
  kind: 'project',
  table: 'projects',
  id: 'id',
  label: 'name',
  tag: ['projects', 'Projects, which contain risks, issues and tasks.'],
  columns: columnsOf(Project, ['counts', 'health', 'web_url'], {
    name_folded: Folded,
    search_folded: Folded,
    // Updated in the transaction of each change: see `counts.ts`.
    open_issues: Count,
    critical_issues: Count,
    active_risks: Count,
    unassessed_risks: Count,
    // How many of each were ever created, so that the number in a key such as `APOLLO-R12` is never reused.
    risks_created: Count,
    issues_created: Count,
    tasks_created: Count,
  }),
  generated: { name_key: SortKey },
  references: { lead_user_id: 'people' },
  visible: { project: 'id' },
  events: {
    scope: 'projects.read',
    types: {
      created: 'A project was added.',
      updated: 'A project was changed.',
      archived: 'A project was archived.',
      unarchived: 'A project was unarchived.',
      deleted: 'A project was deleted.',
    },
    data: Project,
    page: ['/projects/', 'subject_key'],
    actions: ({ archived_at }) => [archived_at && (archived_at.to === null ? 'unarchived' : 'archived')],
  },
});
