import { fold } from '../../core/text.ts';

/** What is known of the exports of a tool, beyond the usual column names. */
type Preset = {
  /** The name for people. */
  label: string;
  /** A file with all columns of one of these lists comes from this tool. */
  signatures: readonly (readonly string[])[];
  /**
   * The fields of its columns. Fields that a resource does not have are left out; `project` is the project of a row, and
   * an empty field skips a column whose name would mean something else.
   */
  columns: Readonly<Record<string, string>>;
};

const presets = {
  jira: {
    label: 'Jira',
    signatures: [['issue key', 'issue type', 'summary']],
    columns: {
      'issue key': 'external_id',
      'issue id': '',
      'parent id': '',
      summary: 'title',
      reporter: 'raised_by_user_id',
      creator: '',
      created: 'raised_on',
      'project key': 'project',
      'project name': '',
      'project lead': '',
      'project description': '',
      'project url': '',
    },
  },
  redmine: {
    label: 'Redmine',
    signatures: [['#', 'tracker', 'subject']],
    columns: {
      '#': 'external_id',
      project: 'project',
      subject: 'title',
      author: 'raised_by_user_id',
      created: 'raised_on',
      '% done': '',
      'parent task': '',
    },
  },
  openproject: {
    label: 'OpenProject',
    signatures: [
      ['id', 'subject', 'type', 'status', 'priority'],
      ['subject', 'accountable', 'type'],
    ],
    columns: {
      id: 'external_id',
      subject: 'title',
      type: '',
      project: 'project',
      accountable: 'owner_name',
      author: 'raised_by_user_id',
      'created on': 'raised_on',
      'finish date': 'due_on',
      '% complete': '',
    },
  },
  asana: {
    label: 'Asana',
    signatures: [['task id', 'completed at', 'section/column']],
    columns: {
      'task id': 'external_id',
      name: 'title',
      notes: 'description',
      'assignee email': 'assignee_user_id',
      assignee: '',
      'created at': 'raised_on',
      'completed at': 'status',
      projects: 'project',
      'blocked by (dependencies)': '',
    },
  },
  ms_project: {
    label: 'Microsoft Project',
    signatures: [
      ['task mode', 'duration', 'start', 'finish'],
      ['% complete', 'duration', 'resource names'],
    ],
    columns: {
      id: 'external_id',
      'unique id': '',
      name: 'title',
      'task name': 'title',
      start: 'start_on',
      finish: 'due_on',
      notes: 'description',
      '% complete': 'status',
      'resource names': 'assignee_name',
    },
  },
  planner: {
    label: 'Microsoft Planner',
    signatures: [['task id', 'bucket name', 'progress']],
    columns: {
      'task id': 'external_id',
      'task name': 'title',
      progress: 'status',
      'assigned to': 'assignee_name',
      'created by': 'raised_by_user_id',
      'created date': 'raised_on',
      'completed date': '',
    },
  },
  azure_devops: {
    label: 'Azure DevOps',
    signatures: [['id', 'work item type', 'title', 'state']],
    columns: {
      id: 'external_id',
      'created by': 'raised_by_user_id',
      'created date': 'raised_on',
      'team project': 'project',
    },
  },
  servicenow: {
    label: 'ServiceNow',
    signatures: [['number', 'short description', 'state']],
    columns: {
      number: 'external_id',
      'short description': 'title',
      caller: 'raised_by_user_id',
      opened: 'raised_on',
      impact: '',
      urgency: '',
    },
  },
  github: {
    label: 'GitHub',
    signatures: [
      ['number', 'title', 'body', 'state'],
      ['number', 'title', 'state', 'createdat'],
    ],
    columns: {
      number: 'external_id',
      body: 'description',
      assignees: 'assignee_name',
      author: 'raised_by_user_id',
      createdat: 'raised_on',
      created_at: 'raised_on',
      html_url: 'source_url',
    },
  },
  gitlab: {
    label: 'GitLab',
    signatures: [['issue id', 'author username', 'assignee username']],
    columns: {
      'issue id': 'external_id',
      author: 'raised_by_user_id',
      'created at (utc)': 'raised_on',
      'closed at (utc)': '',
      'updated at (utc)': '',
    },
  },
  bamboohr: {
    label: 'BambooHR',
    signatures: [['employee #', 'hire date']],
    columns: { 'employee #': 'external_id', 'reporting to': 'manager_user_id', 'employment status': 'kind' },
  },
  personio: {
    label: 'Personio',
    signatures: [['employment type', 'hire date', 'supervisor', 'office']],
    columns: { id: 'external_id', 'employment type': 'kind', 'contract ends': 'end_on' },
  },
  workday: {
    label: 'Workday',
    signatures: [
      ['worker', 'business title'],
      ['worker', 'supervisory organization'],
    ],
    columns: {
      worker: 'name',
      'employee id': 'external_id',
      'worker type': 'kind',
      'worker status': 'status',
      'business title': 'title',
      'supervisory organization': 'department',
      'email - work': 'email',
    },
  },
  okta: {
    label: 'Okta',
    signatures: [['login', 'firstname', 'lastname']],
    columns: {
      login: '',
      displayname: '',
      employeenumber: 'external_id',
      usertype: 'kind',
      manager: 'manager_user_id',
      managerid: '',
      organization: '',
      state: '',
    },
  },
  entra: {
    label: 'Microsoft Entra ID',
    signatures: [['userprincipalname', 'displayname']],
    columns: {
      objectid: 'external_id',
      id: 'external_id',
      displayname: 'name',
      givenname: '',
      surname: '',
      mail: 'email',
      usertype: 'kind',
      accountenabled: 'status',
      state: '',
      city: '',
      officelocation: 'location',
      telephonenumber: 'phone',
      mobilephone: '',
    },
  },
} satisfies Record<string, Preset>;

export type PresetName = keyof typeof presets;

export const presetNames = Object.keys(presets) as PresetName[];

export const presetLabel = (name: PresetName) => presets[name].label;

/** The tool that a file with these columns comes from. */
export function detectPreset(names: readonly string[]): PresetName | undefined {
  const known = new Set(names.map(presetKey));
  return presetNames.find((name) =>
    (presets[name] as Preset).signatures.some((signature) => signature.every((column) => known.has(column))),
  );
}

/** The field of a column in the exports of a tool; undefined if the preset does not name the column. */
export function presetField(preset: PresetName | undefined, name: string): string | undefined {
  const columns: Preset['columns'] = preset ? presets[preset].columns : {};
  const key = presetKey(name);
  return Object.hasOwn(columns, key) ? columns[key] : undefined;
}

const presetKey = (name: string) => fold(name.slice(0, 100));
