import type {
  GroupPatch,
  IssuePatch,
  PersonPatch,
  ProjectPatch,
  RiskPatch,
  TaskPatch,
} from '../api/openapi.ts';
import { words } from '../format.ts';

/** What a file can be imported as. */
export type Importable = {
  path: string;
  one: string;
  many: string;
  /** The fields that a column may be, and what the console calls them. */
  fields: Readonly<Record<string, string>>;
  hasAttributes: boolean;
  /** The page that shows what was imported. */
  list: string;
};

/** Every field that can be written has a name here: the compiler asks for those that the API gains. */
type Names<Patch> = Record<Exclude<keyof Patch, 'attributes' | 'reason'>, string>;

const personFields: Names<PersonPatch> = {
  name: 'Name',
  email: 'E-mail',
  title: 'Title',
  department: 'Department',
  location: 'Location',
  phone: 'Phone',
  time_zone: 'Time zone',
  kind: 'Kind',
  accountable_user_id: 'Who answers for it',
  manager_user_id: 'Manager',
  skills: 'Skills',
  start_on: 'First day',
  end_on: 'Last day',
  status: 'Status',
  external_id: 'Your id',
};

const groupFields: Names<GroupPatch> & { member_user_ids: string } = {
  name: 'Name',
  description: 'Description',
  parent_id: 'Part of',
  lead_user_id: 'Lead',
  member_user_ids: 'Members',
  external_id: 'Your id',
};

const projectFields: Names<ProjectPatch> = {
  name: 'Name',
  key: 'Key',
  description: 'Description',
  status: 'Status',
  lead_user_id: 'Lead',
  start_on: 'Start',
  due_on: 'Due',
  appetite: 'Appetite',
  external_id: 'Your id',
};

const riskFields: Names<RiskPatch> = {
  title: 'Title',
  description: 'Description',
  kind: 'Kind',
  category: 'Category',
  probability: 'Probability',
  impact: 'Impact',
  residual_probability: 'Residual probability',
  residual_impact: 'Residual impact',
  strategy: 'Strategy',
  response_plan: 'Response plan',
  contingency_plan: 'Contingency plan',
  trigger: 'Trigger',
  owner_user_id: 'Owner',
  owner_group_id: 'Owning group',
  raised_by_user_id: 'Raised by',
  raised_on: 'Raised',
  due_on: 'Due',
  review_on: 'Review',
  status: 'Status',
  accepted_until: 'Accepted until',
  acceptance_reason: 'Why it is accepted',
  accepted_by_user_id: 'Accepted by',
  closure_reason: 'Why it is closed',
  lessons: 'Lessons',
  external_id: 'Your id',
  source_url: 'Source',
};

const issueFields: Names<IssuePatch> = {
  title: 'Title',
  description: 'Description',
  severity: 'Severity',
  priority: 'Priority',
  owner_user_id: 'Owner',
  owner_group_id: 'Owning group',
  assignee_user_id: 'Assignee',
  raised_by_user_id: 'Raised by',
  raised_on: 'Raised',
  due_on: 'Due',
  status: 'Status',
  blocked_reason: 'What blocks it',
  resolution: 'How it was resolved',
  risk_id: 'Risk',
  external_id: 'Your id',
  source_url: 'Source',
};

const taskFields: Names<TaskPatch> = {
  title: 'Title',
  description: 'Description',
  kind: 'Kind',
  status: 'Status',
  assignee_user_id: 'Assignee',
  start_on: 'Start',
  due_on: 'Due',
  risk_id: 'Risk',
  issue_id: 'Issue',
  external_id: 'Your id',
};

export const people: Importable = {
  path: '/v1/personnel/import',
  one: 'person',
  many: 'people',
  fields: personFields,
  hasAttributes: true,
  list: '/personnel',
};

export const groups: Importable = {
  path: '/v1/groups/import',
  one: 'group',
  many: 'groups',
  fields: groupFields,
  hasAttributes: false,
  list: '/groups',
};

export const projects: Importable = {
  path: '/v1/projects/import',
  one: 'project',
  many: 'projects',
  fields: projectFields,
  hasAttributes: true,
  list: '/projects',
};

export const insideProject = (key: string): [Importable, ...Importable[]] => [
  {
    path: `/v1/projects/${key}/risks/import`,
    one: 'risk',
    many: 'risks',
    fields: riskFields,
    hasAttributes: true,
    list: `/risks?project=${key}`,
  },
  {
    path: `/v1/projects/${key}/issues/import`,
    one: 'issue',
    many: 'issues',
    fields: issueFields,
    hasAttributes: true,
    list: `/issues?project=${key}`,
  },
  {
    path: `/v1/projects/${key}/tasks/import`,
    one: 'task',
    many: 'tasks',
    fields: taskFields,
    hasAttributes: false,
    list: `/projects/${key}`,
  },
];

/** A field as the console calls it. `owner_name` is the owner by name. */
export const nameOf = ({ fields }: Importable, field: string) =>
  fields[field] ?? words(field.replace(/^attributes\./, '').replace(/_name$/, ''));
