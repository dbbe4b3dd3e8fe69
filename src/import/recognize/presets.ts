import { fold } from '../../core/text.ts';

/** What is known of the exports of a tool, beyond the usual column names. Names of columns are separated by commas. */
type Preset = {
  /** The name for people. */
  label: string;
  /** A file with all columns of one of these lists comes from this tool. */
  signatures: readonly string[];
  /** The columns of each field. Fields that a resource does not have are left out; `project` is the project of a row. */
  columns: Readonly<Record<string, string>>;
  /** Columns that are left out, because their names would mean something else. */
  skipped?: string;
  /** Words that do not say what they say elsewhere, by field. */
  unclear?: Readonly<Record<string, readonly string[]>>;
};

const presets = {
  jira: {
    label: 'Jira',
    signatures: ['issue key, issue type, summary'],
    columns: {
      external_id: 'issue key',
      title: 'summary',
      raised_by_user_id: 'reporter',
      raised_on: 'created',
      project: 'project key',
    },
    skipped: 'issue id, parent id, creator, project name, project lead, project description, project url',
  },
  redmine: {
    label: 'Redmine',
    signatures: ['#, tracker, subject', '#, tracker, thema'],
    columns: {
      external_id: '#',
      project: 'project, projekt',
      title: 'subject, thema',
      raised_by_user_id: 'author, autor',
      raised_on: 'created, angelegt',
    },
    skipped: '% done, parent task, % erledigt, ubergeordnetes ticket',
  },
  openproject: {
    label: 'OpenProject',
    signatures: ['id, subject, type, status, priority', 'subject, accountable, type'],
    columns: {
      external_id: 'id',
      title: 'subject',
      project: 'project',
      owner_name: 'accountable',
      raised_by_user_id: 'author',
      raised_on: 'created on',
      due_on: 'finish date',
    },
    skipped: 'type, % complete',
  },
  asana: {
    label: 'Asana',
    signatures: ['task id, completed at, section/column'],
    columns: {
      external_id: 'task id',
      title: 'name',
      description: 'notes',
      assignee_user_id: 'assignee email',
      raised_on: 'created at',
      status: 'completed at',
      project: 'projects',
    },
    skipped: 'assignee, blocked by (dependencies)',
  },
  ms_project: {
    label: 'Microsoft Project',
    signatures: ['task mode, duration, start, finish', '% complete, duration, resource names'],
    columns: {
      external_id: 'id',
      title: 'name, task name',
      start_on: 'start',
      due_on: 'finish',
      description: 'notes',
      status: '% complete',
      current: 'active',
      assignee_name: 'resource names',
    },
    skipped: 'unique id',
  },
  planner: {
    label: 'Microsoft Planner',
    signatures: ['task id, bucket name, progress'],
    columns: {
      external_id: 'task id',
      title: 'task name',
      status: 'progress',
      assignee_name: 'assigned to',
      raised_by_user_id: 'created by',
      raised_on: 'created date',
    },
    skipped: 'completed date',
  },
  azure_devops: {
    label: 'Azure DevOps',
    signatures: ['id, work item type, title, state', 'id, work item type, title 1, state'],
    columns: {
      external_id: 'id',
      raised_by_user_id: 'created by',
      raised_on: 'created date',
      resolution: 'reason',
      project: 'team project',
    },
  },
  servicenow: {
    label: 'ServiceNow',
    signatures: ['number, short description, state', 'nummer, kurzbeschreibung, status'],
    columns: {
      external_id: 'number, nummer',
      title: 'short description, kurzbeschreibung',
      raised_by_user_id: 'caller, anrufer',
      raised_on: 'opened, geoffnet',
    },
    skipped: 'impact, urgency, auswirkung, dringlichkeit',
  },
  github: {
    label: 'GitHub',
    signatures: ['number, title, body, state', 'number, title, state, createdat'],
    columns: {
      external_id: 'number',
      description: 'body',
      assignee_name: 'assignees',
      raised_by_user_id: 'author',
      raised_on: 'createdat, created_at',
      source_url: 'html_url',
    },
  },
  gitlab: {
    label: 'GitLab',
    signatures: ['issue id, author username, assignee username'],
    columns: {
      external_id: 'issue id',
      raised_by_user_id: 'author',
      raised_on: 'created at (utc)',
    },
    skipped: 'closed at (utc), updated at (utc)',
  },
  linear: {
    label: 'Linear',
    signatures: ['id, team, title, status, creator, assignee'],
    columns: {
      external_id: 'id',
      raised_by_user_id: 'creator',
      raised_on: 'created',
      project: 'project',
    },
    skipped: 'team, project id, started, completed, canceled, archived, updated, triaged, estimate',
  },
  trello: {
    label: 'Trello',
    signatures: ['card id, card name, list name'],
    columns: {
      external_id: 'card id',
      title: 'card name',
      description: 'card description',
      source_url: 'card url',
      status: 'list name',
      assignee_name: 'members',
      start_on: 'start date',
      archived: 'archived',
    },
    skipped: 'board id, list id, due complete, due reminder',
  },
  monday: {
    label: 'monday.com',
    signatures: ['name, subitems, status', 'name, person, status, item id (auto generated)'],
    columns: {
      title: 'name',
      assignee_name: 'person, people, owner',
      due_on: 'date, due date',
      external_id: 'item id (auto generated)',
    },
    skipped: 'subitems',
  },
  logicgate: {
    label: 'LogicGate',
    signatures: ['current step, current assignee, record id'],
    columns: {},
    // A record whose step is done, such as that of an open risk.
    unclear: { status: ['complete', 'completed'] },
  },
  bamboohr: {
    label: 'BambooHR',
    signatures: ['employee #, hire date'],
    columns: {
      external_id: 'employee #',
      manager_user_id: 'reporting to',
      kind: 'employment status',
      status: 'status',
    },
  },
  personio: {
    label: 'Personio',
    signatures: [
      'employment type, hire date, supervisor, office',
      'beschaftigungsart, einstellungsdatum, vorgesetzter',
      'beschaftigungsart, einstellungsdatum, vorgesetzte/r',
    ],
    columns: { external_id: 'id', kind: 'employment type', end_on: 'contract ends' },
  },
  workday: {
    label: 'Workday',
    signatures: ['worker, business title', 'worker, supervisory organization'],
    columns: {
      name: 'worker',
      external_id: 'employee id',
      kind: 'worker type',
      status: 'worker status',
      title: 'business title',
      department: 'supervisory organization',
      email: 'email - work',
    },
  },
  okta: {
    label: 'Okta',
    signatures: ['login, firstname, lastname'],
    columns: {
      external_id: 'employeenumber',
      kind: 'usertype',
      manager_user_id: 'manager',
    },
    skipped: 'login, displayname, managerid, organization, state',
  },
  google: {
    label: 'Google Workspace',
    signatures: ['first name [required], last name [required], email address [required]'],
    columns: {
      external_id: 'employee id',
      email: 'email address [required]',
      title: 'employee title',
      kind: 'employee type',
      manager_user_id: 'manager email',
      status: 'status [read only]',
      phone: 'work phone',
    },
    skipped:
      'password [required], password hash function [upload only], recovery email, home phone, mobile phone',
  },
  active_directory: {
    label: 'Active Directory',
    signatures: ['samaccountname, distinguishedname'],
    columns: {
      external_id: 'objectguid',
      name: 'displayname, name',
      email: 'mail, emailaddress',
      status: 'enabled',
      phone: 'telephonenumber, officephone',
      location: 'office, physicaldeliveryofficename',
    },
    skipped: 'givenname, surname, sid, objectclass, distinguishedname, samaccountname, userprincipalname',
  },
  successfactors: {
    label: 'SAP SuccessFactors',
    signatures: ['userid, username, manager, hr'],
    columns: {
      external_id: 'userid',
      start_on: 'hiredate',
      time_zone: 'timezone',
      phone: 'biz_phone',
    },
    skipped: 'username, empid, hr, jobcode, gender',
  },
  entra: {
    label: 'Microsoft Entra ID',
    // The second one is the file that creates users in bulk.
    signatures: [
      'userprincipalname, displayname',
      'name [displayname] required, user name [userprincipalname] required',
    ],
    columns: {
      external_id: 'objectid, id',
      name: 'displayname, name [displayname] required',
      email: 'mail, user name [userprincipalname] required',
      kind: 'usertype',
      status: 'accountenabled, block sign in (yes/no) [accountenabled] required',
      location: 'officelocation, office [physicaldeliveryofficename]',
      phone: 'telephonenumber, office phone [telephonenumber]',
    },
    skipped:
      'givenname, surname, state, city, mobilephone, first name [givenname], last name [surname], city [city], ' +
      'initial password [passwordprofile] required, state or province [state], mobile phone [mobile]',
  },
} satisfies Record<string, Preset>;

export type PresetName = keyof typeof presets;

export const presetNames = Object.keys(presets) as PresetName[];

export const presetLabel = (name: PresetName) => presets[name].label;

/** The tool that a file with these columns comes from. */
export function detectPreset(names: readonly string[]): PresetName | undefined {
  const known = new Set(names.map(presetKey));
  return presetNames.find((name) =>
    presets[name].signatures.some((signature) => signature.split(', ').every((column) => known.has(column))),
  );
}

/** The field of a column in the exports of a tool: empty for a skipped column, undefined for one it does not name. */
export function presetField(preset: PresetName | undefined, name: string): string | undefined {
  if (!preset) return undefined;
  const { columns, skipped }: Preset = presets[preset];
  const isNamed = (list?: string) => list?.split(', ').includes(presetKey(name));
  return Object.keys(columns).find((field) => isNamed(columns[field])) ?? (isNamed(skipped) ? '' : undefined);
}

/** Words for a field that mean something else in the exports of a tool. */
export function unclearWords(preset: PresetName | undefined, field: string): readonly string[] {
  const { unclear = {} }: Partial<Preset> = preset ? presets[preset] : {};
  return unclear[field] ?? [];
}

const presetKey = (name: string) => fold(name.slice(0, 100));
