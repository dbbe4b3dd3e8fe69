import { issueRow } from '../src/resources/issues/queries.ts';
import { type Issue, openStatuses } from '../src/resources/issues/schema.ts';
import type { Dataset, Row } from './dataset.ts';
import {
  addHistory,
  type CreationTime,
  compareTimes,
  createIdentity,
  createTimeline,
  getPhase,
  type Phase,
  pickCreationTimes,
  pickExternalSource,
  pickOpenAssignee,
  pickOpenDueDay,
  pickOwner,
  pickPersonOn,
} from './items.ts';
import type { ProjectContext } from './projects.ts';
import type { CreatedRisk } from './risks.ts';
import { createTemplatePicker, type FillTemplate } from './templates.ts';
import * as words from './words.ts';

export type CreatedIssue = {
  row: Row<'issues'>;
  history: Row<'history'>[];
  template: words.IssueTemplate;
  fill: FillTemplate;
  offset: number;
};
type IssueDraft = CreationTime & { risk?: CreatedRisk };

const isOpen = ({ status }: Pick<Issue, 'status'>) => openStatuses.some((open) => open === status);

const issueStatuses: Record<Phase, Partial<Record<Issue['status'], number>>> = {
  planned: { open: 60, in_progress: 25, blocked: 5, resolved: 10 },
  young: { open: 46, in_progress: 32, blocked: 7, resolved: 10, closed: 5 },
  old: { open: 13, in_progress: 14, blocked: 6, resolved: 14, closed: 53 },
  held: { open: 25, in_progress: 5, blocked: 20, resolved: 15, closed: 35 },
  ended: { open: 2, resolved: 8, closed: 90 },
};

const severities: Record<words.IssueTemplate['gravity'], Partial<Record<Issue['severity'], number>>> = {
  grave: { critical: 22, high: 50, medium: 28 },
  normal: { critical: 1, high: 21, medium: 54, low: 24 },
  slight: { medium: 28, low: 72 },
};

const priorities: Record<Issue['severity'], Partial<Record<Issue['priority'], number>>> = {
  critical: { urgent: 70, high: 28, normal: 2 },
  high: { urgent: 14, high: 58, normal: 28 },
  medium: { high: 18, normal: 66, low: 16 },
  low: { high: 3, normal: 42, low: 55 },
};

/** Status sequences that end in each status. */
const issuePaths: Record<Issue['status'], Issue['status'][][]> = {
  open: [['open'], ['open'], ['open', 'in_progress', 'open']],
  in_progress: [
    ['open', 'in_progress'],
    ['open', 'in_progress'],
    ['open', 'in_progress', 'blocked', 'in_progress'],
  ],
  blocked: [
    ['open', 'blocked'],
    ['open', 'in_progress', 'blocked'],
  ],
  resolved: [
    ['open', 'resolved'],
    ['open', 'in_progress', 'resolved'],
    ['open', 'in_progress', 'blocked', 'resolved'],
  ],
  closed: [
    ['open', 'resolved', 'closed'],
    ['open', 'in_progress', 'resolved', 'closed'],
    ['open', 'in_progress', 'resolved', 'in_progress', 'resolved', 'closed'],
  ],
};

const maxDaysBySeverity: Record<Issue['severity'], number> = { critical: 14, high: 35, medium: 80, low: 150 };

export function createIssues(
  dataset: Dataset,
  context: ProjectContext,
  risks: CreatedRisk[],
  count: number,
): CreatedIssue[] {
  const pickTemplate = createTemplatePicker(dataset, context, words.issueTemplates);
  const materialized: IssueDraft[] = risks
    .filter(({ row }) => row.status === 'materialized')
    .map((risk) => ({
      offset: dataset.offsetOf(risk.row.updated_at),
      created_at: risk.row.updated_at,
      risk,
    }));
  const drafts = [...materialized, ...pickCreationTimes(dataset, context, count - materialized.length)];
  return drafts
    .sort(compareTimes)
    .map((draft: IssueDraft, i) =>
      createIssue(
        dataset,
        context,
        draft,
        i + 1,
        draft.risk ? createFollowUpTemplate(draft.risk) : pickTemplate(),
      ),
    );
}

/** Creates the issue that follows from a materialized risk. */
function createFollowUpTemplate({ row, template, fill }: CreatedRisk): {
  template: words.IssueTemplate;
  fill: FillTemplate;
} {
  const { key, contingency_plan } = row;
  const plan = contingency_plan ? `The plan for this: ${contingency_plan}` : 'There was no plan for this.';
  return {
    template: {
      gravity: 'grave',
      title: template.becomes ?? template.title,
      description: `${key} has happened. ${plan}`,
      steps: [
        contingency_plan ? `Carry out the contingency plan of ${key}` : `Decide what to do about ${key}`,
        `Review why ${key} was not prevented`,
      ],
    },
    fill,
  };
}

function createIssue(
  dataset: Dataset,
  context: ProjectContext,
  draft: IssueDraft,
  n: number,
  { template, fill }: { template: words.IssueTemplate; fill: FillTemplate },
): CreatedIssue {
  const { random, moment } = dataset;
  const { risk, offset, created_at } = draft;
  const severity = random.pickWeighted(severities[template.gravity]);
  const targetStatus = random.pickWeighted(issueStatuses[getPhase(context, offset)]);
  const maxDays = isOpen({ status: targetStatus }) ? null : maxDaysBySeverity[severity];
  const timeline = createTimeline(dataset, context, draft, random.pick(issuePaths[targetStatus]), maxDays);
  const status = timeline.at(-1)?.status ?? 'open';
  const raised_on = created_at.slice(0, 10);
  const input = {
    title: fill(template.title),
    description: fill(template.description),
    severity,
    priority: random.pickWeighted(priorities[severity]),
    ...pickOwner(dataset, context),
    assignee_user_id: isOpen({ status })
      ? pickOpenAssignee(dataset, context)
      : pickPersonOn(dataset, context, raised_on),
    raised_by_user_id: random.chance(0.92) ? pickPersonOn(dataset, context, raised_on) : null,
    raised_on,
    due_on: isOpen({ status })
      ? pickOpenDueDay(dataset, offset, maxDaysBySeverity[severity])
      : dataset.day(offset + random.between(2, maxDaysBySeverity[severity])),
    risk_id: risk?.row.id ?? null,
    ...pickExternalSource(
      dataset,
      context.profile.domain === 'digital' ? 0.4 : 0.12,
      'INC',
      'https://tickets.example.com',
    ),
    attributes: pickReportChannel(dataset),
  };
  const resolution = random.pickWeighted(resolutions);
  const blocked_reason = fill(random.pick(words.blockedReasons));
  const createState = (status: Issue['status']) => ({
    status,
    resolution: isOpen({ status }) ? null : resolution,
    blocked_reason: status === 'blocked' ? blocked_reason : null,
  });
  const row = {
    ...issueRow(createIdentity(dataset, 'issue', context, draft, n), input, moment),
    ...createState(status),
    created_at,
  };
  const states = timeline.map(({ at, status }) => ({ at, state: createState(status) }));
  return { ...addHistory(dataset, context, row, states), template, fill, offset };
}

const resolutions: Record<NonNullable<Issue['resolution']>, number> = {
  fixed: 60,
  workaround: 16,
  wont_fix: 9,
  duplicate: 8,
  not_an_issue: 7,
};

function pickReportChannel({ random }: Dataset): Record<string, string> {
  const channels = ['control room', 'site inspection', 'service desk', 'driver report', 'audit'];
  return random.chance(0.25) ? { reported_via: random.pick(channels) } : {};
}
