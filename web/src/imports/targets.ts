import type { ItemList } from '../api/items.ts';
import type {
  GroupPatch,
  ImportResult,
  IssuePatch,
  Mapping,
  PersonPatch,
  ProjectPatch,
  RiskPatch,
  TaskPatch,
} from '../api/openapi.ts';
import { humanize } from '../format.ts';
import type { Settings } from './settings.ts';

/** A resource that a file can be imported as. */
export type ImportTarget = {
  path: string;
  plural: string;
  /** The labels of the fields that a column can be mapped to. Every new item needs the first one. */
  fields: Readonly<Record<string, string>>;
  hasAttributes: boolean;
  /** The page that lists the imported items. */
  list: string;
  /** What mappings call it. */
  kind: Mapping['list'];
  /** The page of the item of a row. */
  hrefOf: (result: ImportResult) => string | undefined;
  /** Whether each row names its project. */
  isAcross?: boolean;
  /** Values for rows that have none. */
  set?: Settings['set'];
  /** The project of all rows, and the import for rows of other projects. */
  ofProject?: Project & { across: ImportTarget };
};

/** A label for every writable field. The compiler reports a field that is new in the API. */
type Labels<Patch> = Record<Exclude<keyof Patch, 'attributes' | 'reason'>, string>;

const personFields: Labels<PersonPatch> = {
  name: 'Name',
  email: 'Email',
  title: 'Title',
  department: 'Department',
  location: 'Location',
  phone: 'Phone',
  time_zone: 'Time zone',
  kind: 'Kind',
  accountable_user_id: 'Accountable person',
  manager_user_id: 'Manager',
  skills: 'Skills',
  start_on: 'First day',
  end_on: 'Last day',
  status: 'Status',
  external_id: 'External ID',
};

const groupFields: Labels<GroupPatch> & { member_user_ids: string } = {
  name: 'Name',
  description: 'Description',
  parent_id: 'Parent group',
  lead_user_id: 'Lead',
  member_user_ids: 'Members',
  external_id: 'External ID',
};

const projectFields: Labels<ProjectPatch> & { archived_at: string } = {
  name: 'Name',
  key: 'Key',
  description: 'Description',
  status: 'Status',
  lead_user_id: 'Lead',
  start_on: 'Start',
  due_on: 'Due',
  appetite: 'Risk appetite (score)',
  acceptance: 'Acceptance above appetite',
  external_id: 'External ID',
  archived_at: 'Archived since',
};

const riskFields: Labels<RiskPatch> = {
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
  acceptance_reason: 'Acceptance reason',
  accepted_by_user_id: 'Accepted by',
  closure_reason: 'Closure reason',
  lessons: 'Lessons learned',
  external_id: 'External ID',
  source_url: 'Source',
};

const issueFields: Labels<IssuePatch> = {
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
  blocked_reason: 'Blocker',
  resolution: 'Resolution',
  resolution_note: 'Resolution note',
  risk_id: 'Risk',
  external_id: 'External ID',
  source_url: 'Source',
};

const taskFields: Labels<TaskPatch> = {
  title: 'Title',
  description: 'Description',
  kind: 'Kind',
  status: 'Status',
  assignee_user_id: 'Assignee',
  start_on: 'Start',
  due_on: 'Due',
  risk_id: 'Risk',
  issue_id: 'Issue',
  external_id: 'External ID',
};

export const peopleImport: ImportTarget = {
  path: '/v1/personnel/import',
  plural: 'people',
  kind: 'personnel',
  fields: personFields,
  hasAttributes: true,
  list: '/personnel',
  hrefOf: ({ id }) => id && `/personnel/${id}`,
};

export const groupImport: ImportTarget = {
  path: '/v1/groups/import',
  plural: 'groups',
  kind: 'groups',
  fields: groupFields,
  hasAttributes: false,
  list: '/groups',
  hrefOf: ({ id }) => id && `/groups/${id}`,
};

export const projectImport: ImportTarget = {
  path: '/v1/projects/import',
  plural: 'projects',
  kind: 'projects',
  fields: projectFields,
  hasAttributes: true,
  list: '/projects',
  hrefOf: ({ key }) => key && `/projects/${key}`,
};

const itemFields: Record<ItemList, ImportTarget['fields']> = {
  risks: riskFields,
  issues: issueFields,
  tasks: taskFields,
};

/** Items of all projects: each row names its own. On the page of one project, it is the project of the other rows. */
export const itemImport = (list: ItemList, project?: string): ImportTarget => ({
  path: `/v1/imports/${list}`,
  plural: list,
  kind: list,
  fields: { ...itemFields[list], project: 'Project' },
  hasAttributes: list !== 'tasks',
  list: `/${list}?status=all`,
  hrefOf: ({ key }) => key && `/${list}/${key}`,
  isAcross: true,
  set: project ? { project } : {},
});

type Project = { key: string; name: string };

const itemLists: readonly ItemList[] = ['risks', 'issues', 'tasks'];

/** The items of one project. */
export const projectItemImports = ({ key, name }: Project) =>
  itemLists.map((list): ImportTarget => {
    const across = itemImport(list, key);
    return {
      ...across,
      path: `/v1/projects/${key}/${list}/import`,
      fields: itemFields[list],
      list: `/${list}?project=${key}&status=all`,
      isAcross: false,
      set: {},
      ofProject: { key, name, across },
    };
  }) as [ImportTarget, ...ImportTarget[]];

/** The label of a field. A file can also contain `owner_name`, the name of the owner. */
export const fieldLabel = ({ fields }: ImportTarget, field: string) =>
  fields[field] ?? humanize(field.replace(/^attributes\./, '').replace(/_name$/, ''));
