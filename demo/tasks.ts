import type { Issue } from '../src/resources/issues/schema.ts';
import type { Risk } from '../src/resources/risks/schema.ts';
import { taskRow } from '../src/resources/tasks/queries.ts';
import { openStatuses, type Task } from '../src/resources/tasks/schema.ts';
import type { Dataset, Row } from './dataset.ts';
import type { CreatedIssue } from './issues.ts';
import {
  addHistory,
  type CreationTime,
  compareTimes,
  createIdentity,
  createTimeline,
  getPhase,
  type Phase,
  pickCreationTimes,
  pickFollowUpTime,
  pickOpenAssignee,
  pickOpenDueDay,
  pickPersonOn,
} from './items.ts';
import type { ProjectContext } from './projects.ts';
import type { CreatedRisk } from './risks.ts';
import { createTemplatePicker } from './templates.ts';
import * as words from './words.ts';

type TaskDraft = CreationTime &
  Pick<Task, 'title' | 'description' | 'kind' | 'status' | 'risk_id' | 'issue_id'>;

type CreatedTask = { row: Row<'tasks'>; history: Row<'history'>[] };

type TaskWeights = Partial<Record<Task['status'], number>>;

const mitigationStatuses: Record<Risk['status'], TaskWeights> = {
  open: { todo: 70, in_progress: 30 },
  mitigating: { todo: 24, in_progress: 34, blocked: 6, done: 34, cancelled: 2 },
  monitoring: { done: 86, in_progress: 10, cancelled: 4 },
  accepted: { done: 60, cancelled: 40 },
  materialized: { done: 48, in_progress: 20, cancelled: 32 },
  closed: { done: 84, cancelled: 16 },
};

const resolutionStatuses: Record<Issue['status'], TaskWeights> = {
  open: { todo: 85, in_progress: 15 },
  in_progress: { todo: 20, in_progress: 52, done: 28 },
  blocked: { blocked: 75, todo: 15, done: 10 },
  resolved: { done: 92, cancelled: 8 },
  closed: { done: 90, cancelled: 10 },
};

const workStatuses: Record<Phase, TaskWeights> = {
  planned: { todo: 86, in_progress: 14 },
  young: { todo: 46, in_progress: 34, blocked: 7, done: 11, cancelled: 2 },
  old: { todo: 10, in_progress: 11, blocked: 4, done: 69, cancelled: 6 },
  held: { todo: 30, blocked: 15, done: 48, cancelled: 7 },
  ended: { done: 90, cancelled: 10 },
};

const taskPaths: Record<Task['status'], Task['status'][][]> = {
  todo: [['todo'], ['todo'], ['todo'], ['todo', 'in_progress', 'todo']],
  in_progress: [['todo', 'in_progress']],
  blocked: [
    ['todo', 'blocked'],
    ['todo', 'in_progress', 'blocked'],
  ],
  done: [
    ['todo', 'done'],
    ['todo', 'in_progress', 'done'],
    ['todo', 'in_progress', 'done'],
  ],
  cancelled: [
    ['todo', 'cancelled'],
    ['todo', 'in_progress', 'cancelled'],
  ],
};

const maxTaskDays = 75;

/** Ratios of a project's tasks that belong to risks and to issues. The other tasks are project work. */
const mitigationRatio = 0.25;
const resolutionRatio = 0.27;

export function createTasks(
  dataset: Dataset,
  context: ProjectContext,
  risks: CreatedRisk[],
  issues: CreatedIssue[],
  count: number,
): CreatedTask[] {
  const { random } = dataset;
  const mitigations = risks
    .filter(({ row }) => row.response_plan)
    .flatMap((risk) => createMitigationTasks(dataset, context, risk));
  const resolutions = issues.flatMap((issue) => createResolutionTasks(dataset, context, issue));
  const linkedTasks = [
    ...random.sample(mitigations, Math.round(count * mitigationRatio)),
    ...random.sample(resolutions, Math.round(count * resolutionRatio)),
  ];
  return [...linkedTasks, ...createWorkTasks(dataset, context, count - linkedTasks.length)]
    .sort(compareTimes)
    .map((draft, i) => createTask(dataset, context, draft, i + 1));
}

const createMitigationTasks = (
  dataset: Dataset,
  context: ProjectContext,
  { row, template, fill, planned }: CreatedRisk,
): TaskDraft[] =>
  template.steps.map((step) => ({
    ...pickFollowUpTime(dataset, context, planned, 40),
    title: fill(step),
    description: `Part of the response to ${row.key}.`,
    kind: 'mitigation',
    status: dataset.random.pickWeighted(mitigationStatuses[row.status]),
    risk_id: row.id,
    issue_id: null,
  }));

const createResolutionTasks = (
  dataset: Dataset,
  context: ProjectContext,
  { row, template, fill, offset }: CreatedIssue,
): TaskDraft[] =>
  template.steps.map((step) => ({
    ...pickFollowUpTime(dataset, context, { offset, created_at: row.created_at }, 15),
    title: fill(step),
    description: `To resolve ${row.key}.`,
    kind: 'resolution',
    status: dataset.random.pickWeighted(resolutionStatuses[row.status]),
    risk_id: null,
    issue_id: row.id,
  }));

function createWorkTasks(dataset: Dataset, context: ProjectContext, count: number): TaskDraft[] {
  const templates = words.workTasks.flatMap(({ titles, ...scope }) =>
    titles.map((title) => ({ ...scope, title })),
  );
  const pickTemplate = createTemplatePicker(dataset, context, templates);
  return pickCreationTimes(dataset, context, count).map((creation) => {
    const { template, fill } = pickTemplate();
    return {
      ...creation,
      title: fill(template.title),
      description: dataset.random.chance(0.5) ? fill(dataset.random.pick(words.taskNotes)) : null,
      kind: 'work',
      status: dataset.random.pickWeighted(workStatuses[getPhase(context, creation.offset)]),
      risk_id: null,
      issue_id: null,
    };
  });
}

function createTask(dataset: Dataset, context: ProjectContext, draft: TaskDraft, n: number): CreatedTask {
  const { random } = dataset;
  const { offset, created_at, status: targetStatus, ...task } = draft;
  const maxDays = isOpenTask(targetStatus) ? null : maxTaskDays;
  const timeline = createTimeline(dataset, context, draft, random.pick(taskPaths[targetStatus]), maxDays);
  const status = timeline.at(-1)?.status ?? 'todo';
  const start = Math.min(offset + random.between(0, 12), 0);
  const isStarted = status !== 'todo' && random.chance(0.85);
  const input = {
    ...task,
    status,
    assignee_user_id: isOpenTask(status)
      ? pickOpenAssignee(dataset, context)
      : pickPersonOn(dataset, context, created_at.slice(0, 10)),
    start_on: isStarted ? dataset.day(start) : null,
    due_on: isOpenTask(status)
      ? pickOpenDueDay(dataset, start, 120)
      : dataset.day(start + random.between(3, 60)),
    external_id: random.chance(0.12) ? `WO-${dataset.nextSerial()}` : null,
  };
  const row = {
    ...taskRow(createIdentity(dataset, 'task', context, draft, n), input, dataset.moment),
    created_at,
  };
  const states = timeline.map(({ at, status }) => ({ at, state: { status } }));
  return addHistory(dataset, context, row, states);
}

const isOpenTask = (status: Task['status']) => openStatuses.some((open) => open === status);
