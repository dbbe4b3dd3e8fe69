import type { Moment } from '../../core/clock.ts';
import { isDay } from '../../core/time-zones.ts';
import type { Importable, ItemProject } from '../../import/importable.ts';
import { inAllLanguages } from '../../import/languages/all.ts';
import { readDate } from '../../import/languages/dates.ts';
import { importOf } from '../project-items/import.ts';
import { taskList, taskWrites } from './queries.ts';
import { type Task, TaskInput, TaskPatch } from './schema.ts';

/** Reads a percentage of progress, or the day on which a task was completed. Whether `1` is a hundredth or all is open. */
function statusOfProgress(cell: unknown): TaskInput['status'] {
  const text = String(cell).trim();
  const [, number, sign] = /^(\d{1,3}(?:\.\d+)?)\s*(%?)$/.exec(text) ?? [];
  if (number === undefined) return isDay(readDate(text, undefined, 'UTC')) ? 'done' : undefined;
  const percent = Number(number);
  if (sign === '' && percent === 1) return undefined;
  return percent >= 100 ? 'done' : percent > 0 ? 'in_progress' : 'todo';
}

const recognized = inAllLanguages('task', {
  synonyms: {
    title: 'task, task title, name, task name, summary, action, action item, subject, to do, primary column',
    description: 'task description, details, notes, comments, body',
    kind: 'type, task type',
    status: 'state, task status, progress, percent complete, percent done, completed, done',
    assignee_name:
      'assigned to, assigned, assign, owner, responsible, who, resource names, action owner, assignees',
    start_on: 'start, start date, begins, planned start, timeline start',
    due_on:
      'due, due date, date due, due by, by when, end date, target date, deadline, finish, finish date, end, planned finish, timeline end',
    risk_id: 'risk key',
    issue_id: 'issue key',
    external_id:
      'task id, action id, action no, action number, task no, task number, reference, ref, number, no, ticket, wbs',
  },
  values: {
    status: {
      todo: 'to do, open, new, not started, backlog, planned, scheduled, proposed, in specification, false, no, future task, reopened, selected for development',
      in_progress:
        'active, doing, working on it, started, ongoing, wip, work in progress, in review, in testing, in development, developed, on schedule, late, feedback, committed, code review',
      blocked: 'on hold, waiting, pending, stalled, impeded, deferred, stuck, waiting on someone else',
      done: 'complete, completed, closed, resolved, finished, true, yes, x, fixed, tested',
      cancelled: 'canceled, rejected, removed, wont do, dropped, declined, obsolete',
    },
    kind: {
      work: 'task, story, feature, user story, epic, sub task, subtask, bug, improvement, new feature, milestone, support, action, product backlog item',
    },
  },
});

export const taskImport = (
  project: ItemProject,
  moment: Moment,
): Importable<Task, typeof TaskInput, typeof TaskPatch> => ({
  ...importOf(taskWrites, project, moment),
  input: TaskInput,
  patch: TaskPatch,
  existing: taskList({ project: [project.id], status: ['all'] }, moment),
  ...recognized,
  interpret: { status: statusOfProgress },
});
