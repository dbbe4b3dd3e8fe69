import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import {
  Count,
  Day,
  Id,
  Line,
  ManyOf,
  OneOf,
  OrNull,
  optional,
  Strict,
  stamps,
  WebUrl,
  Writable,
} from '../../core/schemas.ts';
import { columnsOf, describeResource, Flag } from '../descriptor.ts';
import { Issue } from '../issues/schema.ts';
import { Project, ProjectRef } from '../projects/schema.ts';
import { levels, maxScore } from '../risk-model/schema.ts';
import { checks, RankedRisk, Risk } from '../risks/schema.ts';
import { Task } from '../tasks/schema.ts';

/** The parts of a report, in their order. */
export const reportSections = [
  'top_risks',
  'opportunities',
  'decisions',
  'dates',
  'register',
  'changes',
  'overdue_issues',
  'projects',
  'project_pages',
] as const;

export const maxReports = 500;
/** A key that is limited to projects sees a report if it sees all of its projects. */
export const maxReportProjects = 5000;
/** The most characters of the JSON of a report. */
export const maxContentLength = 2_000_000;

/** How many rows a report has. `pages` are projects with a page of their own. */
export const maxRows = {
  projects: 500,
  pages: 50,
  top: 10,
  opportunities: 5,
  decisions: 5,
  changes: 50,
  dates: 8,
  issues: 10,
  ofProject: 5,
  /** The risks that a later report can be compared with. */
  register: 1000,
} as const;

const Commentary = Type.String({
  minLength: 1,
  maxLength: 2000,
  description: 'Markdown, as in comments.',
  examples: ['The second supplier delivers in **March**.'],
});

const pick = <P extends TProperties, const Name extends keyof P>(
  { properties }: { properties: P },
  names: readonly Name[],
) => Object.fromEntries(names.map((name) => [name, properties[name]])) as Pick<P, Name>;

const item = ['id', 'key', 'title', 'project_id', 'project_key', 'project_name', 'status'] as const;

export const ReportRisk = Strict(
  {
    ...pick(Risk, [
      ...item,
      'kind',
      'score',
      'level',
      'owner_name',
      'due_on',
      'review_on',
      'accepted_until',
      'checks',
      'created_at',
    ]),
    movement: RankedRisk.properties.movement,
  },
  { $id: 'ReportRisk', description: 'A risk as it was when the report was created.' },
);

export const ReportTopRisk = Strict(
  {
    ...ReportRisk.properties,
    ...pick(Risk, ['strategy', 'response_plan']),
    next_task: OrNull(
      Strict(pick(Task, ['key', 'title', 'due_on', 'assignee_name']), {
        description: 'The open task of the risk that is due first.',
      }),
    ),
  },
  { $id: 'ReportTopRisk' },
);

export const ReportIssue = Strict(
  { ...pick(Issue, [...item, 'severity', 'assignee_name', 'due_on', 'overdue', 'blocked_reason']) },
  { $id: 'ReportIssue', description: 'An issue as it was when the report was created.' },
);

const firstOf = <T extends TSchema>(row: T, maxItems: number) =>
  Strict({ total: Count, items: Type.Array(row, { maxItems }) });

export const ReportProject = Strict(
  {
    ...pick(Project, ['id', 'key', 'name', 'status', 'due_on', 'health', 'counts']),
    page: OrNull(
      Strict(
        {
          top_risks: Type.Array(ReportRisk, { maxItems: maxRows.ofProject }),
          overdue_issues: firstOf(ReportIssue, maxRows.ofProject),
        },
        { description: `Of the first ${maxRows.pages} projects.` },
      ),
    ),
  },
  { $id: 'ReportProject', description: 'A project as it was when the report was created.' },
);

export const ReportRanking = Strict(pick(Risk, ['id', 'key', 'title', 'project_key', 'score', 'level']));

const RegisterState = Strict({
  total: Count,
  unassessed: Count,
  by_level: Type.Array(Strict({ level: OneOf(levels), count: Count })),
  cells: Type.Array(
    Strict({
      probability: Type.Integer({ minimum: 1 }),
      impact: Type.Integer({ minimum: 1 }),
      level: Risk.properties.level,
      count: Count,
    }),
    { maxItems: maxScore },
  ),
});

export const dateKinds = ['risk', 'review', 'issue', 'task'] as const;

const DueDate = Strict({
  day: Day(),
  kind: OneOf(dateKinds),
  key: Line(),
  title: Line(),
  person: OrNull(Line({ description: 'The owner of a risk, or the assignee.' })),
});

const KindCount = { kind: OneOf(dateKinds), count: Count };

const changedRisks = firstOf(ReportRisk, maxRows.changes);

export const ReportContent = Strict(
  {
    register: Strict(
      { before: RegisterState, after: RegisterState },
      { description: 'The active threats at the end of `since`, and when the report was created.' },
    ),
    issues: Strict({ open: Count, overdue: Count }),
    top_risks: Type.Array(ReportTopRisk, { maxItems: maxRows.top }),
    opportunities: Type.Array(ReportTopRisk, { maxItems: maxRows.opportunities }),
    decisions: Type.Array(
      Strict({ check: OneOf(checks), ...firstOf(ReportRisk, maxRows.decisions).properties }),
    ),
    blocked_issues: firstOf(ReportIssue, maxRows.decisions),
    dates: Strict({
      overdue: Type.Array(Strict(KindCount)),
      next: Type.Array(Strict({ day: Day(), ...KindCount }), { description: 'Of the next 90 days.' }),
      first_overdue: Type.Array(DueDate, { maxItems: maxRows.dates }),
      first_next: Type.Array(DueDate, { maxItems: maxRows.dates }),
    }),
    changes: Strict({
      added: changedRisks,
      reopened: changedRisks,
      up: changedRisks,
      down: changedRisks,
      occurred: changedRisks,
      closed: changedRisks,
      raised_issues: firstOf(ReportIssue, maxRows.dates),
      resolved_issues: firstOf(ReportIssue, maxRows.dates),
    }),
    overdue_issues: firstOf(ReportIssue, maxRows.issues),
    projects: firstOf(ReportProject, maxRows.projects),
    ranking: Type.Array(ReportRanking, {
      maxItems: maxRows.register,
      description: 'The active threats by rank, for the comparison with a later report.',
    }),
  },
  { $id: 'ReportContent' },
);
export type ReportContent = Static<typeof ReportContent>;

const since = Day({ description: 'The day that the report compares with: its period begins after it.' });

const optionalFields = {
  audience: OrNull(Line({ description: 'Whom the report is for.', examples: ['Steering committee'] })),
  commentary: OrNull(Commentary),
};

const length = OneOf(['one_page', 'five_pages', 'full'], {
  default: 'five_pages',
  description: 'How long the report is on paper.',
});

const sections = Type.Array(OneOf(reportSections), {
  maxItems: reportSections.length,
  uniqueItems: true,
  default: [...reportSections],
  description: 'The parts that are shown, as far as the length has room for them.',
});

const title = Line({ examples: ['Portfolio report, November'] });

const project_commentary = Type.Array(Strict({ project_id: Id('project'), text: Commentary }), {
  maxItems: maxRows.projects,
  default: [],
  description: 'Comments on projects of the report.',
});

const risk_commentary = Type.Array(Strict({ risk_id: Id('risk'), text: Commentary }), {
  maxItems: maxRows.projects,
  default: [],
  description: 'Comments on risks that the report shows.',
});

export const Report = Strict(
  {
    id: Id('report'),
    title,
    day: Day({ description: 'The day when the report was created.' }),
    since,
    ...optionalFields,
    length,
    sections,
    project_commentary,
    risk_commentary,
    project_ids: Type.Array(Id('project'), {
      maxItems: maxReportProjects,
      description: 'All projects of the report. Only those who see all of them see the report.',
    }),
    all_projects: Type.Boolean({
      description: 'Whether these were all projects that the creator could see.',
    }),
    author_name: Line({ description: 'The name of the person or key that created it.' }),
    web_url: WebUrl('report', '/reports/rpt_01jd3k9m5vqs8h2n6r4t0c7e1b'),
    ...stamps,
  },
  { $id: 'Report' },
);
export type Report = Static<typeof Report>;

/** A report with what it reports, which lists leave out. */
export const FullReport = Strict({ ...Report.properties, content: ReportContent }, { $id: 'FullReport' });

const project = Type.Array(ProjectRef, {
  minItems: 1,
  maxItems: 500,
  description: 'Ids or keys of projects. Default: all that are not archived.',
});

export const ReportInput = Writable(
  Report,
  {
    title,
    since,
    ...optional({ project, ...optionalFields, length, sections, project_commentary, risk_commentary }),
  },
  {
    $id: 'ReportInput',
    examples: [{ title: 'Portfolio report, November', since: '2026-10-15', audience: 'Steering committee' }],
  },
);
export type ReportInput = Static<typeof ReportInput>;

/** What a report shows before it is created. */
export const previewParameters = {
  since,
  project: ManyOf(ProjectRef, {
    description: 'Ids or keys of projects. Default: all that are not archived.',
  }),
};

export const reportResource = describeResource({
  kind: 'report',
  table: 'reports',
  id: 'id',
  tag: ['reports', 'Steering reports: dated snapshots of the portfolio that never change.'],
  columns: columnsOf(Report, ['web_url'], {
    all_projects: Flag,
    content: ReportContent,
  }),
  visible: { projects: 'project_ids' },
  events: {
    scope: 'projects.read',
    types: { created: 'A report was saved.', deleted: 'A report was deleted.' },
    data: Report,
    page: ['/reports/', 'subject_id'],
  },
});
